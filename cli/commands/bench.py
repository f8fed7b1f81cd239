"""nilometer bench: the figures of docs/contracts.md on this machine, as a table and as JSON."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from pathlib import Path

import click
import cv2
import msgspec

import engine
from companion.fault import Fault
from companion.runtime.copies import open_copy
from companion.simulate.demo_copy import default_game, demo_copy, state_dir
from devtools import bench
from devtools.bench_rest import resting_figures
from vision import kernels


@click.command()
@click.option(
    "--copy",
    type=click.Path(),
    help="a calibrated copy with test photos; else the demo's simulated one",
)
@click.option("--runs", default=15, show_default=True, help="runs of each")
@click.option(
    "--phones",
    "count",
    default=100,
    show_default=True,
    help="phones that follow at once; 0 leaves this out",
)
@click.option("--json", "as_json", is_flag=True)
def command(copy: str | None, runs: int, count: int, as_json: bool) -> int:
    """How fast everything is on this machine, one thread; and, reckoned, what a Raspberry Pi takes
    (docs/bench.md)."""
    cv2.setNumThreads(1)
    name = default_game()
    specimen = open_copy(copy) if copy else demo_copy(name, state_dir() / "demo" / name)
    plays = specimen.game in engine.games()
    scenes = (
        bench.photographed_scenes(Path(copy), specimen.reader.plan)
        if copy
        else bench.filmed_scenes(specimen, 5)
    )
    if not scenes:
        raise Fault(f"{copy}: no photos in test/ to read")
    parts: list[Iterator[bench.Figure]] = [
        bench.reading_figures(specimen, scenes, runs),
        resting_figures(specimen, scenes),
        bench.accuracy_figures(specimen, scenes),
    ]
    if plays:
        parts.append(bench.reconcile_figures(specimen, scenes))
    parts += [
        bench.rules_figures(name, runs),
        bench.journal_figures(name, runs),
        bench.memory_figures(specimen),
    ] + ([bench.phone_figures(count)] if count else [])
    height, width = scenes[0].picture.shape[:2]
    machine = {
        "machine": platform.node(),
        "processor": _processor_name(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "kernels": kernels.kernel_mode(),
        "python": platform.python_version(),
        "opencv": cv2.__version__,
        "picture": f"{width} x {height}",
        "copy": specimen.name,
    }
    here = platform.machine() == "x86_64"  # on a Pi itself, estimates for a Pi are pointless
    if not as_json:
        click.echo(", ".join(f"{k} {v}" for k, v in machine.items()))
    figures: list[bench.Figure] = []
    for part in parts:
        for f in part:
            figures.append(f)
            if not as_json:
                wanted = f"  (target {f.wanted:g})" if f.wanted is not None else ""
                pis = (
                    "".join(
                        f"; {pi} {a:.3g} to {b:.3g}"
                        for pi, (a, b) in bench.estimated_on_pi(f).items()
                    )
                    if here
                    else ""
                )
                spent = f"; {f.cpu:.2f} ms of CPU time" if f.cpu is not None else ""
                click.echo(
                    f"{f.value:10.2f} {f.unit:10s} "
                    f"{f.what}{wanted}{spent}{pis}{'; ' + f.note if f.note else ''}"
                )
    if as_json:
        click.echo(
            json.dumps(
                {
                    **machine,
                    "figures": [
                        {
                            **msgspec.to_builtins(f),
                            "reckoned": bench.estimated_on_pi(f) if here else {},
                        }
                        for f in figures
                    ],
                },
                ensure_ascii=False,
            )
        )
    return 0


def _processor_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
