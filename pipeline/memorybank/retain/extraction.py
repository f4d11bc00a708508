"""Extraction by a model: from one chunk to facts.

What the model cannot answer in one piece is asked in halves; what it answers badly is repaired within one budget of
attempts; what it refuses is refused.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memorybank.errors import ModelError, ModelMalformed, ModelRefused, ModelTruncated
from memorybank.llm.client import LanguageModel
from memorybank.llm.retry import Budget, Patience
from memorybank.llm.structured import structured
from memorybank.retain import facts, prompting, schema
from memorybank.retain.chunking import ChunkSize, chunk
from memorybank.retain.work import ChunkWork, Extraction

#: A piece of this many characters that is still cut at the output limit is not cut again: the fault is not its length.
SMALLEST_PIECE = 500
#: What a piece at that floor is asked with, once: a model that lost itself in its answer seldom does so twice.
SHORTER = "Your answer was cut at the output limit. Answer again, shorter: each fact once, in few words."
#: Above this share of unreadable facts the whole answer is asked for again.
BEARABLE_SHARE = 0.2


@dataclass(frozen=True)
class Asking:
    """How a model is asked: attempts for one piece, how long it is waited for, tokens of an answer."""

    attempts: int
    patience: Patience
    max_output_tokens: int | None = None


@dataclass(frozen=True)
class ModelExtractor:
    """Modes concise, verbose and custom: a model picks and words the facts."""

    model: LanguageModel
    asking: Asking

    async def extract(self, works: Sequence[ChunkWork]) -> Sequence[Extraction]:
        """Return the facts of each chunk."""
        return [await self._settled(work) for work in works]

    async def _settled(self, work: ChunkWork) -> Extraction:
        try:
            return await self._whole(work)
        except ModelError as error:
            return Extraction(error=error)

    async def _whole(self, chunk: ChunkWork) -> Extraction:
        """Return the facts of a chunk; raises the ModelError of the last attempt."""
        try:
            return await self._ask(chunk)
        except ModelTruncated:
            halves = _halves(chunk.text)
        if len(halves) < 2:
            return await self._ask(chunk, SHORTER)
        return await self._in_pieces(chunk, halves)

    async def _in_pieces(self, chunk: ChunkWork, pieces: Sequence[str]) -> Extraction:
        """Return the facts of all pieces; a lost one is counted, and raised when no other gave anything."""
        found, lost = Extraction(), None
        for piece in pieces:
            try:
                found = found.followed_by(await self._whole(replace(chunk, text=piece)))
            except (ModelTruncated, ModelMalformed, ModelRefused) as error:
                found, lost = found.followed_by(Extraction(dropped={error.code: 1})), error
        if lost and not found.facts:
            raise lost
        return found

    async def _ask(self, chunk: ChunkWork, wish: str = "") -> Extraction:
        request = prompting.request((chunk,), self.asking.max_output_tokens)
        if wish:
            request = request.following({"role": "user", "content": wish})
        reading = _Reading(prompting.reader(chunk.config))
        budget = Budget(self.asking.attempts, self.asking.patience)
        try:
            answer = await structured(self.model, request, reading.take, budget, chunk.ledger)
        except ModelMalformed:
            if not reading.best.drafts:
                raise
            answer = reading.best
        return Extraction(*facts.build(answer, prompting.sources((chunk,))).parts[0])


@dataclass
class _Reading:
    """Reads answers, and keeps the best of those that are partly unreadable."""

    read: Callable[[Any], schema.Answer]
    best: schema.Answer = field(default_factory=schema.Answer)

    def take(self, value: Any) -> schema.Answer:
        """Return an answer that is good enough; raises ModelMalformed to have it asked for again."""
        answer = self.read(value)
        if len(answer.drafts) > len(self.best.drafts):
            self.best = answer
        if answer.malformed_share > BEARABLE_SHARE:
            raise ModelMalformed(f"{answer.malformed_share:.0%} of its facts are no objects with a `what`")
        return answer


def _halves(text: str) -> list[str]:
    """Return a text in pieces of at most half its length; in one where it is too short for that."""
    half = -(-len(text) // 2)
    if half < SMALLEST_PIECE:
        return [text]
    return chunk(text, ChunkSize(half, half))
