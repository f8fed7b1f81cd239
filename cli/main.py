"""The command line. Exit codes: 0 fine, 1 an expectation or check failed, 2 usage or unreadable
input (one line on stderr)."""

from __future__ import annotations

import importlib
import os
import sys

import click

from cli.faults import input_faults

# For matrices as small as these, more threads are slower, much slower on a busy machine, and what
# is learnt would depend on their number. Must be set before numpy is loaded; processes started by
# calibration inherit it.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

# name -> (module in cli.commands, one line for the help)
COMMANDS = {
    "demo": "a simulated table plays; opens a local page",
    "run": "the real table",
    "calibrate": "photos and layouts in, COPY/model.npz out, and a report",
    "learn": "the model learns from what was seen at the table; --undo takes it back",
    "trace": "draw or correct a copy's own plan on a photo of the empty board, in the browser",
    "read": "what lies on the board in photos",
    "watch": "verdicts on a game photographed frame by frame",
    "play": "run rule scripts",
    "rules": "the rules' text, and which numbers tests name",
    "journal": "list, export or replay a game",
    "print": "marker cards, board and pieces as PDF",
    "doctor": "what is wrong and what to do",
    "bench": "how fast everything is here",
    "samplers": "what to lay where for a calibration, as pictures",
    "accuracy": "how accurate the reader is on every copy under a folder",
    "selftest": "a list to go through at the real table",
    "hall": "all tables of a club on one page",
    "install": "the table as a service that starts with this machine",
    "uninstall": "takes that service away again",
}


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        return importlib.import_module(f"cli.commands.{name}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="nilometer")
def cli() -> None:
    """A camera above a real board game that reads the pieces, knows the rules and keeps the
    score."""


def main(argv: list[str] | None = None) -> None:
    """Runs a command and ends the process with its exit code."""
    try:
        code = cli.main(args=argv, prog_name="nilometer", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.NoArgsIsHelpError as e:
        click.echo(e.format_message())
        sys.exit(2)
    except click.ClickException as e:
        asked = (
            e.ctx.command_path
            if isinstance(e, click.UsageError) and e.ctx is not None
            else "nilometer"
        )
        _stop_with(f"{e.format_message()} (see {asked} --help)")
    except click.Abort:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as e:
        _stop_with(f"{e.filename or 'file'}: {e.strerror or e}")
    except Exception as e:
        if not isinstance(e, input_faults()):
            if os.environ.get("NILOMETER_DEBUG"):
                raise
            _stop_with(
                f"this should not have happened ({type(e).__name__}: {e}); "
                f"NILOMETER_DEBUG=1 shows where"
            )
        _stop_with(str(e))


def _stop_with(text: str) -> None:
    print("nilometer: " + " ".join(text.split()), file=sys.stderr)
    sys.exit(2)
