"""The network's graph, as it is run."""

from __future__ import annotations

from typing import Any

import numpy as np

from vision.learned.network import (
    TRUNK_LAYERS,
)

# fine (h/2, w/2, FINE_CHANNELS), quarter (h/4, w/4, WIDE_CHANNELS), heat features (h/2, w/2,
# FINE_CHANNELS)
TrunkMaps = tuple[np.ndarray, np.ndarray, np.ndarray]


class Trunk:
    """The network's graph, run in one thread"""

    def __init__(self, graph: bytes) -> None:
        """Raises ValueError for a graph that cannot be run"""
        # here: commands that read nothing start sooner without. It takes half as long as OpenCV does
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(
                graph, options, providers=["CPUExecutionProvider"]
            )
        except Exception as e:  # its errors have no common class
            raise ValueError(f"the network cannot be run: {e}") from None
        self._last = onnxruntime.RunOptions()
        self._last.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        self._used = False

    def __call__(self, x: np.ndarray) -> TrunkMaps:
        """Of a picture as `stack_input` gives it"""
        out = self._run(np.ascontiguousarray(x.transpose(2, 0, 1)), None)
        self._used = True
        return tuple(v[0].transpose(1, 2, 0) for v in out)

    def give_back(self) -> None:
        """Frees the room, some 40 MB, that ONNX Runtime keeps for the next picture; that one takes
        12 ms longer. It does so only at the end of a run, so that there is one over nothing"""
        if self._used:
            self._run(np.zeros((TRUNK_LAYERS["half"][1], 8, 8), np.float32), self._last)
            self._used = False

    def _run(self, x: np.ndarray, options: Any) -> list[np.ndarray]:
        return self._session.run(["fine", "quarter_out", "heat_out"], {"x": x[None]}, options)
