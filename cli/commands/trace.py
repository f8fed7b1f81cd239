"""nilometer trace GAME|PLAN PHOTO: a copy's own plan, drawn or corrected on a photo of the empty
board."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

import click

import engine
from companion.fault import Fault
from companion_web import serve_app
from companion_web.tracing import Desk, create_trace_app
from vision.plan import parse_plan
from vision.storage.photo_file import load_photo


def base_plan(name: str) -> dict:
    """The data of a game's plan, or of a plan.toml. Raises Fault, BadPlan."""
    path = Path(name)
    try:
        if name in engine.games():
            text = (
                resources.files(f"engine.{name}").joinpath("plan.toml").read_text(encoding="utf-8")
            )
        elif path.suffix == ".toml" or path.exists():
            text = path.read_text(encoding="utf-8")
        else:
            raise Fault(
                f"{name}: neither a game ({', '.join(sorted(engine.games()))}) nor a plan.toml"
            )
        data = tomllib.loads(text)
    except OSError as e:
        raise Fault(f"{name}: {e.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise Fault(f"{name}: {e}") from None
    parse_plan(data, name)
    return data


@click.command()
@click.argument("name", metavar="GAME|PLAN")
@click.argument("photo", type=click.Path())
@click.option(
    "-o",
    "--out",
    default="plan.toml",
    show_default=True,
    type=click.Path(),
    help="the plan to write",
)
@click.option("--port", default=8001, show_default=True, help="the page's port; 0: any free one")
@click.option("--host", default="127.0.0.1", show_default=True, help="0.0.0.0 lets a phone draw")
def command(name: str, photo: str, out: str, port: int, host: str) -> int:
    """Draw or correct a plan on a photo of the empty board."""
    path = Path(out)
    if not path.parent.is_dir():
        raise Fault(f"{path.parent}: no such folder")
    desk = Desk(base_plan(name), load_photo(photo), path)
    server = serve_app(create_trace_app(desk), host, port)
    server.stop_on_signals()
    click.echo(
        f"Draw at {server.url if host == '127.0.0.1' else server.address}?key={desk.key} "
        f"  (Ctrl-C ends it; writes {path})"
    )
    server.wait()
    return 0
