"""Each kernel does what numpy does beside it, and without a compiler numpy does it."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hatch_build
from vision import kernels
from vision.cluster_canvas import sample
from vision.kernels import Kernel, numpy_only

compiled = pytest.mark.skipif(not Kernel("built_from", ""), reason=f"kernels: {kernels.how()}")


@compiled
@pytest.mark.parametrize("shape, dtype", [((60, 80, 4), np.uint8), ((60, 80), np.float32), ((60, 80, 3), np.float32)])
def test_sampled_as_opencv_does(shape, dtype):
    rng = np.random.default_rng(1)
    canvas = (rng.random(shape) * 255).astype(dtype)
    px = rng.uniform((-9, -9), (89, 69), (7, 31, 2)).astype(np.float32)
    with numpy_only():
        wanted = sample(canvas, px)
    got = sample(canvas, px)
    assert got.shape == wanted.shape == (7, 31, min(canvas[0, 0].size, 3))
    off = np.abs(got - wanted)
    assert (off.max() <= 1 and (off > 0).mean() < 0.001) if dtype == np.uint8 else off.max() < 1e-3


@compiled
def test_a_kernel_takes_no_array_of_another_type_or_layout():
    of_floats = Kernel("sample_floats", "fnnnfnf")
    canvas, px, out = np.zeros((9, 9), np.float32), np.zeros((4, 2), np.float32), np.zeros((4, 1), np.float32)
    of_floats(canvas, 9, 9, 1, px, 4, out)
    for wrong in (canvas.astype(np.uint8), canvas.T[:, ::2]):
        with pytest.raises(TypeError):
            of_floats(wrong, 9, 9, 1, px, 4, out)


def test_numpy_does_it_where_that_is_asked_for():
    program = "import json; from vision import kernels; print(json.dumps([kernels.how(), bool(kernels.Kernel('built_from', ''))]))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2],
                          env={"NILOMETER_KERNELS": "numpy", "PATH": ""})
    assert json.loads(done.stdout) == ["numpy (NILOMETER_KERNELS is set to numpy)", False]


def test_without_a_compiler_nothing_is_built_and_what_was_is_gone(tmp_path, monkeypatch):
    old = tmp_path / "built.so"
    old.write_bytes(b"of another version")
    assert kernels.loaded(old)[0] is None and "cannot be loaded" in kernels.loaded(old)[1]
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "cc")
    assert hatch_build.build(old) == "no C compiler"
    assert list(tmp_path.iterdir()) == [] and kernels.loaded(tmp_path / "none.so")[1].startswith("not compiled")


@compiled
def test_one_built_from_other_sources_is_not_used(tmp_path, monkeypatch):
    library = tmp_path / "built.so"
    assert hatch_build.build(library) == "" and kernels.loaded(library)[0] is not None
    (tmp_path / "one.c").write_text("int changed;\n")
    monkeypatch.setattr(kernels, "FOLDER", tmp_path)
    again = tmp_path / "again.so"
    again.write_bytes(library.read_bytes())
    assert kernels.loaded(again)[0] is None and "another version" in kernels.loaded(again)[1]
