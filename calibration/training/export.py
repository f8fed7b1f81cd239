"""The trunk as an ONNX graph, which any runtime reads; in whole numbers, which are quicker."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, ValueInfoProto, helper, numpy_helper

from vision.learned.network import FINE_CHANNELS, TRUNK_LAYERS, WIDE_CHANNELS, Weights


def export_trunk(weights: Weights) -> bytes:
    """(1, 24, h, w) "x" -> "fine" (1, FINE, h, w), "quarter" (1, WIDE, h/2, w/2), "heat" (1, FINE,
    h, w)"""
    nodes, kept = [], []

    def make(kind: str, sources: list[str], name: str, **more: object) -> str:
        nodes.append(helper.make_node(kind, sources, [name], **more))
        return name

    def keep(array: np.ndarray, name: str) -> str:
        kept.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def convolve(name: str, source: str) -> str:
        size, _, _, stride, dilation = TRUNK_LAYERS[name]
        filters = keep(weights[f"trunk/{name}"].transpose(3, 2, 0, 1), f"{name}.w")
        bias = keep(weights[f"trunk/{name}.bias"], f"{name}.b")
        # as "SAME" pads: of an odd rest more below and to the right
        rest = dilation * (size - 1) - (stride - 1)
        low, high = rest // 2, rest - rest // 2
        return make(
            "Conv",
            [source, filters, bias],
            name,
            kernel_shape=[size, size],
            strides=[stride] * 2,
            dilations=[dilation] * 2,
            pads=[low, low, high, high],
        )

    def relu(source: str, name: str = "") -> str:
        return make("Relu", [source], name or f"{source}.on")

    def add_residual(source: str, name: str) -> str:
        return make("Add", [source, relu(convolve(name, source))], f"{name}.sum")

    def double_size(source: str) -> str:
        return make(
            "Resize",
            [source, "", "twice"],
            f"{source}.twice",
            mode="nearest",
            nearest_mode="floor",
            coordinate_transformation_mode="asymmetric",
        )

    keep(np.array([1, 1, 2, 2], np.float32), "twice")
    half = relu(convolve("half", "x"))
    quarter = add_residual(relu(convolve("quarter", half)), "quarter_res")
    eighth = relu(convolve("eighth", quarter))
    for name in ("eighth_a_res", "eighth_b_res", "eighth_c_res"):
        eighth = add_residual(eighth, name)
    joined = relu(make("Add", [quarter, double_size(convolve("eighth_up", eighth))], "joined"))
    joined = add_residual(joined, "join_res")
    nodes[-1].output[0] = "quarter_out"
    joined = "quarter_out"
    relu(make("Add", [half, double_size(convolve("quarter_up", joined))], "fined"), "fine")
    relu(convolve("heat", "fine"), "heat_out")

    def describe(name: str, channels: int) -> ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, channels, None, None])

    channels = {"fine": FINE_CHANNELS, "quarter_out": WIDE_CHANNELS, "heat_out": FINE_CHANNELS}
    outs = [describe(*one) for one in channels.items()]
    graph = helper.make_graph(nodes, "trunk", [describe("x", 24)], outs, kept)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model.SerializeToString()


def quantize_trunk(graph: bytes, inputs: Iterable[np.ndarray]) -> bytes:
    """The same graph with its convolutions in 8-bit whole numbers, a scale for each of their outputs:
    a third of the time, and its features within some percent.

    inputs: (h/2, w/2, 24) what it is to be shown, which tells how large its numbers grow"""
    from onnxruntime import quantization

    class Shown(quantization.CalibrationDataReader):
        def __init__(self) -> None:
            self.left = iter(inputs)

        def get_next(self) -> dict[str, np.ndarray] | None:
            x = next(self.left, None)
            if x is None:
                return None
            return {"x": np.ascontiguousarray(x.astype(np.float32).transpose(2, 0, 1))[None]}

    before = logging.root.manager.disable
    logging.disable(logging.WARNING)  # it advises to prepare graphs that need no preparing
    try:
        with tempfile.TemporaryDirectory() as folder:
            whole, small = Path(folder) / "whole.onnx", Path(folder) / "small.onnx"
            whole.write_bytes(graph)
            quantization.quantize_static(
                str(whole),
                str(small),
                Shown(),
                quant_format=quantization.QuantFormat.QDQ,
                per_channel=True,
                activation_type=quantization.QuantType.QUInt8,
                weight_type=quantization.QuantType.QInt8,
                reduce_range=True,  # processors without dot products of bytes overflow otherwise
                op_types_to_quantize=["Conv", "Add", "Resize", "Relu"],
            )
            return small.read_bytes()
    finally:
        logging.disable(before)
