"""Builds the C kernels of vision/kernels where there is a C compiler: at install, or by `python
hatch_build.py` in the tree."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "vision" / "kernels"
LIBRARY = FOLDER / "built.so"
# Sums are vectorised only where a loop asks for it (-fopenmp-simd), so that they add up alike
# everywhere.
FLAGS = [
    "-O3",
    "-std=gnu11",
    "-shared",
    "-fPIC",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fopenmp-simd",
    "-Wall",
    "-Wno-psabi",
]


def build(library: Path = LIBRARY) -> str:
    """Compiles the kernels -> why there are none, or "" if there are. The library says which
    sources it was built from, and is not used with others (vision/kernels/__init__.py)"""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    found = next((c for c in (compiler, ["cc"], ["gcc"], ["clang"]) if shutil.which(c[0])), None)
    if found is None:
        library.unlink(missing_ok=True)
        return "no C compiler"
    sources = sorted(p for p in FOLDER.iterdir() if p.suffix in (".c", ".h"))
    digest = hashlib.sha256(b"".join(p.read_bytes() for p in sources)).hexdigest()[:16]
    files = [str(p) for p in sources if p.suffix == ".c"]
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        out = str(Path(folder) / "built.so")
        for plainer in (
            [],
            ["-DONE_FOR_ALL"],
        ):  # no choice between processors at run time where the C library offers none
            line = [*found, *FLAGS, *plainer, f'-DBUILT_FROM="{digest}"', "-o", out, *files, "-lm"]
            done = subprocess.run(line, capture_output=True, text=True)
            if done.returncode == 0:
                os.replace(out, library)  # not written over: a program that runs keeps the old one
                return ""
    library.unlink(missing_ok=True)
    return f"{shlex.join(found)}: {(done.stderr.strip().splitlines() or ['failed'])[0]}"


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run by itself
    pass
else:

    class KernelsHook(BuildHookInterface):
        """Called by pip. Without a compiler the install goes on: reading is slower, and `nilometer
        bench` says so."""

        def initialize(self, version: str, build_data: dict) -> None:
            if self.target_name != "wheel":
                return
            if why := build():
                self.app.display_warning(f"vision/kernels not compiled: {why}")
            else:
                build_data["artifacts"].append(
                    f"/{LIBRARY.relative_to(FOLDER.parent.parent).as_posix()}"
                )
                build_data["pure_python"] = False
                build_data["tag"] = (
                    f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
                )


if __name__ == "__main__":
    if sys.argv[1:] != ["--said"]:
        sys.exit(build() or None)
    # After an install, whose own words nobody sees: said once, and no fault.
    if not LIBRARY.exists():
        print(
            "No C compiler here, or none that works: finding the board takes three times as long. "
            "To have one: sudo apt-get install gcc, then "
            "make install again."
        )
