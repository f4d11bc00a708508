"""Writes `llm/minilm_int8.onnx`: all-MiniLM-L6-v2 with its matrix products in eight bits.

The graph reads the same `model.safetensors`: it rounds the weights itself, once, when the runtime folds constants at
load. Activations are rounded in fixed steps that are found here, on texts of ours, so that a text has the same vector
in any company. Some channels are ten times as wide as the others and would leave these but a few steps; so each channel
is divided by a share of its width, and the weights that meet it are multiplied by that share (as SmoothQuant does,
arXiv:2211.10438). Steps and shares are all that the file holds.

    python -m memorybank_eval.onnx_int8 OUT.onnx

Needs onnx, which does not belong to the project's environment, beside memorybank.
"""

import argparse
import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from memorybank.llm import embedding, weights
from memorybank_eval.machine import CHECKOUT
from memorybank_eval.onnx_graph import FUSED, HEADS, LAYERS, Graph, build
from memorybank_eval.workload import made_up

#: How much of a channel's width its weights take: 1 all, 0 none.
MIGRATION = 0.85
#: Steps of an activation (uint8), and of a weight on either side of zero (int8).
STEPS, WEIGHT_STEPS = 255, 127


@dataclass(frozen=True)
class Site:
    """A matrix product: the name of its output, the tensor that goes in, the torch weights (out, in) it meets."""

    name: str
    tensor: str
    weights: tuple[str, ...]


@dataclass(frozen=True)
class Rounding:
    """How a tensor becomes uint8: each channel divided by its share, then by `step`, then `zero` added."""

    shares: np.ndarray
    step: np.float32
    zero: np.uint8


#: Least and greatest value of each channel.
Span = tuple[np.ndarray, np.ndarray]


def sites() -> Iterator[Site]:
    """Yield all matrix products with weights, in order."""
    hidden = "encoder_input"
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        middle, out = f"{layer}.attention.output.normed", f"{layer}.output.normed"
        own = tuple(f"{layer}.attention.self.{part}.weight" for part in ("query", "key", "value"))
        yield Site(f"{layer}.attended", hidden, own)
        yield Site(
            f"{layer}.attention.output.product",
            f"{layer}.attended",
            (f"{layer}.attention.output.dense.weight",),
        )
        yield Site(f"{layer}.widened", middle, (f"{layer}.intermediate.dense.weight",))
        yield Site(f"{layer}.output.product", f"{layer}.active", (f"{layer}.output.dense.weight",))
        hidden = out


def texts() -> list[str]:
    """Return what activations are looked at on: a dialogue with its questions, sentences in several languages."""
    dialogue = made_up()
    lines = [turn.text for turn in dialogue.turns] + [question.text for question in dialogue.questions]
    for file in sorted((CHECKOUT / "eval" / "datasets" / "extractive").glob("*.[tj]s*")):
        lines += file.read_text().splitlines()
    return list(dict.fromkeys(lines))


def spans(onnx: Any, tensors: Mapping[str, np.ndarray], lines: Sequence[str]) -> dict[str, Span]:
    """Return the span of each tensor that goes into a product, as the fp32 graph computes them."""
    model, wanted = build(Graph(onnx)), list(dict.fromkeys(site.tensor for site in sites()))
    number = onnx.TensorProto.FLOAT
    shown = [onnx.helper.make_tensor_value_info(name, number, ["batch", "tokens", None]) for name in wanted]
    model.graph.output.extend(shown)
    minilm = embedding.OnnxMiniLM()
    _kept, session = embedding.session(model.SerializeToString(), tensors, threads=1)
    found: dict[str, Span] = {}
    for tokens in minilm.tokens(lines):
        outputs = session.run(wanted, embedding.inputs([tokens]))
        for name, (values,) in zip(wanted, outputs, strict=True):
            low, high = found.get(name, (values[0], values[0]))
            found[name] = np.minimum(low, values.min(0)), np.maximum(high, values.max(0))
    return found


def rounding(span: Span, met: Sequence[np.ndarray]) -> Rounding:
    """Return how a tensor of this span is rounded before it meets these weights (out, in)."""
    low, high = span
    widest = np.abs(np.concatenate(met)).max(0)
    shares = np.maximum(-low, high) ** MIGRATION / widest ** (1 - MIGRATION)
    low, high = low / shares, high / shares
    step = (high.max() - low.min()) / STEPS
    return Rounding(shares.astype(np.float32), np.float32(step), np.uint8(np.rint(-low.min() / step)))


@dataclass
class Int8Graph(Graph):
    """A graph that rounds what goes into its products, by the product's name."""

    roundings: Mapping[str, Rounding] = field(default_factory=dict)

    def array(self, name: str, values: Any) -> str:
        """Keep an array in the file."""
        self.weights.append(self.onnx.numpy_helper.from_array(np.asarray(values), name))
        return name

    def product(self, output: str, value: str, weight: str, bias: str = "") -> str:
        """Add `value @ weight.T + bias` in eight bits."""
        rounded, step, zero = self._rounded(output, value)
        columns, steps = self._rounded_weight(output, weight)
        return self.op("MatMulIntegerToFloat", [rounded, columns, step, steps, zero, "", bias], output, FUSED)

    def gelu(self, output: str, value: str, bias: str) -> str:
        """Add `GELU(value + bias)` by tanh: the difference is below a step."""
        return self.op("FastGelu", [value, bias], output, FUSED)

    def attend(self, output: str, hidden: str, weight: str, bias: str) -> str:
        """Add self-attention whose product with the weights is in eight bits."""
        rounded, step, zero = self._rounded(output, hidden)
        columns, steps = self._rounded_weight(output, weight)
        inputs = [rounded, columns, bias, step, steps, "mask32", zero]
        return self.op("QAttention", inputs, output, FUSED, num_heads=HEADS)

    def _rounded(self, site: str, value: str) -> tuple[str, str, str]:
        """Return a tensor as uint8, its step and its zero."""
        how = self.roundings[site]
        step, zero = self.array(f"{site}.step", how.step), self.array(f"{site}.zero", how.zero)
        inverse = self.op("Reciprocal", [self.array(f"{site}.shares", how.shares)], f"{site}.inverse")
        even = self.op("Mul", [value, inverse], f"{site}.even")
        return self.op("QuantizeLinear", [even, step, zero], f"{site}.uint8"), step, zero

    def _rounded_weight(self, site: str, weight: str) -> tuple[str, str]:
        """Return a weight (out, in) as int8 (in, out) and the step of each column: constants, once all is loaded."""
        axis = self.constant(f"{site}.axis", [1])
        weight = self.op("Mul", [weight, f"{site}.shares"], f"{site}.weight")
        wide = self.op("Abs", [weight], f"{site}.abs")
        widest = self.op("ReduceMax", [wide, axis], f"{site}.widest", keepdims=0)
        count = self.array(f"{site}.count", np.float32(WEIGHT_STEPS))
        steps = self.op("Div", [widest, count], f"{site}.steps")
        none = self.op("Sub", [steps, steps], f"{site}.none")
        zero = self.op("Cast", [none], f"{site}.zeros", to=self.onnx.TensorProto.INT8)
        return self.turned(self.op("QuantizeLinear", [weight, steps, zero], f"{site}.int8", axis=0)), steps


def main() -> int:
    """Write the graph."""
    kept_as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=kept_as_written)
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    onnx = importlib.import_module("onnx")
    tensors = weights.read_safetensors(weights.find() / "model.safetensors")
    span = spans(onnx, tensors, texts())
    roundings = {
        site.name: rounding(span[site.tensor], [tensors[name] for name in site.weights]) for site in sites()
    }
    data = build(Int8Graph(onnx, roundings=roundings)).SerializeToString(deterministic=True)
    out.write_bytes(data)
    print(f"{out}: {len(data):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
