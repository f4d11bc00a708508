"""Writes `llm/minilm.onnx`: the graph of all-MiniLM-L6-v2 without its weights.

The graph names every weight as the published `model.safetensors` does and leaves all of them external, so the
file is a few kB and belongs in the repository, while the 91 MB stay in the weights package. Fused operators
(Attention, SkipLayerNormalization, BiasGelu) are written directly: no graph optimizer has to find them.

    python eval/memorybank_eval/onnx_graph.py OUT.onnx            with onnx
    python eval/memorybank_eval/onnx_graph.py OUT.onnx --verify   with both and memorybank

onnx and sentence-transformers do not belong to the project's environment: use one of its own.
"""

import argparse
import importlib
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Shape of the network, from the model's published config.json.
LAYERS, HIDDEN, INTERMEDIATE, HEADS = 6, 384, 1536, 12
VOCABULARY, POSITIONS, TOKEN_TYPES = 30522, 512, 2
#: `layer_norm_eps` of config.json.
EPSILON = 1e-12
#: ONNX operator set: the first with LayerNormalization is 17; ReduceSum and ReduceL2 take their axes as
#: inputs in 18.
OPSET = 18
#: Domain of the runtime's fused operators.
FUSED = "com.microsoft"
#: The largest difference from the reference that counts as equal (fp32 rounding in another order).
TOLERANCE = 1e-5

VERIFY_TEXTS = (
    "",
    "Hello",
    "Melanie ran a charity race for mental health on 20 May 2023.",
    "上周我们把库存系统迁移到了东京机房",
    "Der Schlüssel liegt beim Floristen, 40 €.",
    "one two three " * 200,
    "x" * 5000,
)


@dataclass
class Graph:
    """Nodes and external weights, collected in order."""

    onnx: Any
    nodes: list[Any] = field(default_factory=list)
    weights: list[Any] = field(default_factory=list)

    def weight(self, name: str, *shape: int) -> str:
        """Declare an external float32 initializer under its safetensors name."""
        tensor = self.onnx.TensorProto(name=name, dims=shape, data_type=self.onnx.TensorProto.FLOAT)
        tensor.data_location = self.onnx.TensorProto.EXTERNAL
        entry = tensor.external_data.add()
        entry.key, entry.value = "location", "model.safetensors"
        self.weights.append(tensor)
        return name

    def constant(self, name: str, values: list[int]) -> str:
        """Declare a small int64 constant that is kept in the file."""
        kind = self.onnx.TensorProto.INT64
        self.weights.append(self.onnx.helper.make_tensor(name, kind, [len(values)], values))
        return name

    def op(self, kind: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        """Add one node with one output and return the output's name."""
        node = self.onnx.helper.make_node(kind, inputs, [output], name=output, domain=domain, **attributes)
        self.nodes.append(node)
        return output

    def product(self, output: str, value: str, weight: str, bias: str = "") -> str:
        """Add `value @ weight.T + bias`, the weight as torch has it: (out, in)."""
        if not bias:
            return self.op("MatMul", [value, self.turned(weight)], output)
        return self.op("Add", [self.product(f"{output}.bare", value, weight), bias], output)

    def turned(self, weight: str) -> str:
        """Add the transpose of a weight, which the runtime folds."""
        return self.op("Transpose", [weight], f"{weight}.t", perm=[1, 0])

    def gelu(self, output: str, value: str, bias: str) -> str:
        """Add `GELU(value + bias)`."""
        return self.op("BiasGelu", [value, bias], output, FUSED)

    def attend(self, output: str, hidden: str, weight: str, bias: str) -> str:
        """Add self-attention with query, key and value in one product: weight (3 in, in), bias (3 in)."""
        inputs = [hidden, self.turned(weight), bias, "mask32"]
        return self.op("Attention", inputs, output, FUSED, num_heads=HEADS)


def embeddings(graph: Graph) -> str:
    """Word + position + token type, normalised: (batch, tokens) -> (batch, tokens, hidden)."""
    prefix = "embeddings"
    words = graph.weight(f"{prefix}.word_embeddings.weight", VOCABULARY, HIDDEN)
    positions = graph.weight(f"{prefix}.position_embeddings.weight", POSITIONS, HIDDEN)
    kinds = graph.weight(f"{prefix}.token_type_embeddings.weight", TOKEN_TYPES, HIDDEN)
    first, axis = graph.constant("first", [0]), graph.constant("token_axis", [1])
    looked_up = graph.op("Gather", [words, "input_ids"], "words")
    length = graph.op("Gather", [graph.op("Shape", ["input_ids"], "shape"), axis], "length")
    placed = graph.op("Slice", [positions, first, length, first], "positions")
    kind = graph.op("Gather", [kinds, first], "kind")
    total = graph.op("Add", [looked_up, graph.op("Add", [placed, kind], "placed")], "embedded")
    return normed(graph, f"{prefix}.LayerNorm", total, "encoder_input")


def attention(graph: Graph, layer: str, hidden: str) -> str:
    """Self-attention with query, key and value in one product."""
    parts = [f"{layer}.attention.self.{name}" for name in ("query", "key", "value")]
    weights = [graph.weight(f"{part}.weight", HIDDEN, HIDDEN) for part in parts]
    biases = [graph.weight(f"{part}.bias", HIDDEN) for part in parts]
    weight = graph.op("Concat", weights, f"{layer}.qkv", axis=0)
    bias = graph.op("Concat", biases, f"{layer}.qkv.bias", axis=0)
    return graph.attend(f"{layer}.attended", hidden, weight, bias)


def residual(graph: Graph, name: str, branch: str, weight: str, skip: str) -> str:
    """`LayerNorm(branch @ weight + bias + skip)`; the runtime's one operator for the sum and the norm is slower."""
    output = graph.product(f"{name}.product", branch, weight, graph.weight(f"{name}.dense.bias", HIDDEN))
    return normed(
        graph, f"{name}.LayerNorm", graph.op("Add", [output, skip], f"{name}.sum"), f"{name}.normed"
    )


def normed(graph: Graph, name: str, value: str, output: str) -> str:
    """`LayerNorm(value)` with the weights of this name."""
    scale, shift = (graph.weight(f"{name}.{part}", HIDDEN) for part in ("weight", "bias"))
    return graph.op("LayerNormalization", [value, scale, shift], output, axis=-1, epsilon=EPSILON)


def encoder_layer(graph: Graph, number: int, hidden: str) -> str:
    """One transformer block."""
    layer = f"encoder.layer.{number}"
    out = graph.weight(f"{layer}.attention.output.dense.weight", HIDDEN, HIDDEN)
    hidden = residual(graph, f"{layer}.attention.output", attention(graph, layer, hidden), out, hidden)
    up = graph.weight(f"{layer}.intermediate.dense.weight", INTERMEDIATE, HIDDEN)
    bias = graph.weight(f"{layer}.intermediate.dense.bias", INTERMEDIATE)
    active = graph.gelu(f"{layer}.active", graph.product(f"{layer}.widened", hidden, up), bias)
    down = graph.weight(f"{layer}.output.dense.weight", HIDDEN, INTERMEDIATE)
    return residual(graph, f"{layer}.output", active, down, hidden)


def pooled(graph: Graph, hidden: str) -> str:
    """Mean over real tokens, then L2 norm 1: (batch, tokens, hidden) -> (batch, hidden)."""
    axis, last = graph.constant("mean_axis", [1]), graph.constant("last_axis", [-1])
    mask = graph.op("Cast", ["attention_mask"], "mask", to=graph.onnx.TensorProto.FLOAT)
    column = graph.op("Unsqueeze", [mask, last], "mask_column")
    real = graph.op("Mul", [hidden, column], "real")
    total = graph.op("ReduceSum", [real, axis], "total", keepdims=0)
    count = graph.op("ReduceSum", [mask, axis], "count", keepdims=1)
    mean = graph.op("Div", [total, count], "mean")
    norm = graph.op("ReduceL2", [mean, last], "norm", keepdims=1)
    return graph.op("Div", [mean, norm], "embedding")


def build(graph: Graph) -> Any:
    """Fill an empty graph; return the ModelProto: `input_ids` and `attention_mask` in, `embedding` out."""
    onnx = graph.onnx
    graph.op("Cast", ["attention_mask"], "mask32", to=onnx.TensorProto.INT32)
    hidden = embeddings(graph)
    for number in range(LAYERS):
        hidden = encoder_layer(graph, number, hidden)
    pooled(graph, hidden)
    helper, kinds = onnx.helper, onnx.TensorProto
    inputs = [
        helper.make_tensor_value_info(name, kinds.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    outputs = [helper.make_tensor_value_info("embedding", kinds.FLOAT, ["batch", HIDDEN])]
    body = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", inputs, outputs, graph.weights)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(FUSED, 1)]
    return helper.make_model(body, opset_imports=opsets, ir_version=9, producer_name="memorybank")


def verify() -> float:
    """Return the largest difference between our vectors and those of sentence-transformers."""
    embedding = importlib.import_module("memorybank.llm.embedding")
    weights = importlib.import_module("memorybank.llm.weights")
    reference = importlib.import_module("sentence_transformers").SentenceTransformer(str(weights.find()))
    theirs = reference.encode(list(VERIFY_TEXTS), normalize_embeddings=True, convert_to_numpy=True)
    ours = embedding.OnnxMiniLM().encode(VERIFY_TEXTS)
    return float(abs(ours - theirs).max())


def main() -> int:
    """Write the graph; with --verify compare it with the reference implementation."""
    kept_as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=kept_as_written)
    parser.add_argument("out", type=Path)
    parser.add_argument("--verify", action="store_true")
    arguments = parser.parse_args()
    data = build(Graph(importlib.import_module("onnx"))).SerializeToString(deterministic=True)
    arguments.out.write_bytes(data)
    print(f"{arguments.out}: {len(data):,} bytes")
    if not arguments.verify:
        return 0
    difference = verify()
    print(f"largest difference from sentence-transformers: {difference:.2e}")
    return int(difference > TOLERANCE)


if __name__ == "__main__":
    sys.exit(main())
