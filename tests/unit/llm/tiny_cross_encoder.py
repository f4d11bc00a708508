"""A cross-encoder of a few bytes: it counts pairs of equal tokens, one in the question and one in the text.

ONNX is protobuf, and so small a graph is written in a few lines: no library for it belongs to the project.
"""

import struct
from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers, processors

#: Element types and attribute kinds of ONNX.
FLOAT, INT64 = 1, 7
ATTRIBUTE_INT = 2
#: Wire types of protobuf.
VARINT, BYTES = 0, 2


def write(
    folder: Path, vocabulary: Sequence[str], *, bias: float = -1.0, columns: bool = True, width: int = 1
) -> Path:
    """Write the model into a folder and return it; logit = equal pairs + bias, (n, width) or without columns (n,)."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(_model(bias, columns, width))
    words = {word: number for number, word in enumerate(["[PAD]", "[UNK]", "[SEP]", *vocabulary])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A [SEP]", pair="$A:0 [SEP]:0 $B:1", special_tokens=[("[SEP]", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def _model(bias: float, columns: bool, width: int) -> bytes:
    """Known words have ids above 2, so Relu(id - 2) > 0 tells them from padding, unknown words and marks."""
    nodes = [
        _node("Cast", ["input_ids"], ["ids"], to=FLOAT),
        _node("Sub", ["ids", "two"], ["above"]),
        _node("Relu", ["above"], ["positive"]),
        _node("Sign", ["positive"], ["known"]),
        _node("Cast", ["token_type_ids"], ["second"], to=FLOAT),
        _node("Sub", ["one", "second"], ["first"]),
        _node("Mul", ["first", "known"], ["asked"]),
        _node("Mul", ["second", "known"], ["told"]),
        _node("Unsqueeze", ["ids", "axis2"], ["rows"]),
        _node("Unsqueeze", ["ids", "axis1"], ["across"]),
        _node("Equal", ["rows", "across"], ["same"]),
        _node("Cast", ["same"], ["equal"], to=FLOAT),
        _node("Unsqueeze", ["asked", "axis2"], ["asked_rows"]),
        _node("Unsqueeze", ["told", "axis1"], ["told_across"]),
        _node("Mul", ["equal", "asked_rows"], ["half"]),
        _node("Mul", ["half", "told_across"], ["pairs"]),
        _node("ReduceSum", ["pairs", "axis2"], ["by_row"], keepdims=0),
        _node("ReduceSum", ["by_row", "axis1"], ["count"], keepdims=1 if columns else 0),
        _node("Add", ["count", "bias"], ["logits"]),
    ]
    constants = [
        _floats("one", 1.0),
        _floats("two", 2.0),
        _floats("bias", *[bias] * width),
        _integers("axis1", 1),
        _integers("axis2", 2),
    ]
    graph = b"".join(_bytes(1, node) for node in nodes) + _bytes(2, b"tiny")
    graph += b"".join(_bytes(5, constant) for constant in constants)
    for name in ("input_ids", "attention_mask", "token_type_ids"):
        graph += _bytes(11, _value(name, INT64, ("n", "length")))
    graph += _bytes(12, _value("logits", FLOAT, ("n", "width") if columns else ("n",)))
    opset = _bytes(1, b"") + _number(2, 17)
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, opset)


def _node(kind: str, takes: Sequence[str], gives: Sequence[str], **attributes: int) -> bytes:
    made = b"".join(_bytes(1, name.encode()) for name in takes)
    made += b"".join(_bytes(2, name.encode()) for name in gives) + _bytes(4, kind.encode())
    for name, value in attributes.items():
        made += _bytes(5, _bytes(1, name.encode()) + _number(3, value) + _number(20, ATTRIBUTE_INT))
    return made


def _floats(name: str, *values: float) -> bytes:
    made = _number(1, len(values)) + _number(2, FLOAT) + _bytes(8, name.encode())
    return made + _bytes(9, struct.pack(f"<{len(values)}f", *values))


def _integers(name: str, value: int) -> bytes:
    return (
        _number(1, 1) + _number(2, INT64) + _bytes(8, name.encode()) + _bytes(9, value.to_bytes(8, "little"))
    )


def _value(name: str, kind: int, dimensions: Sequence[str]) -> bytes:
    shape = b"".join(_bytes(1, _bytes(2, dimension.encode())) for dimension in dimensions)
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, shape)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | VARINT) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | BYTES) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    made = b""
    while value > 0x7F:
        made, value = made + bytes([value & 0x7F | 0x80]), value >> 7
    return made + bytes([value])
