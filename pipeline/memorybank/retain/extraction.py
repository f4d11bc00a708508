"""Extraction by a model: from chunks to facts.

Small chunks share a call. Where its answer is no good for some of them they are asked about again in halves, at last
each by itself, so that a bad one spoils no other. A chunk by itself is one unit of work with one budget of attempts,
in however many pieces it is asked for:

cut at the limit   its halves; following chunks come in pieces that fit at once
malformed          a repair turn, then its halves, then plain JSON
refused            lost; of a chunk in pieces, that piece
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memorybank.errors import ModelError, ModelMalformed, ModelTruncated
from memorybank.llm.client import AnswerFormat, LanguageModel, ModelProfile
from memorybank.llm.retry import Budget, OutOfRoom, Patience, Tried, Unclosed
from memorybank.llm.structured import structured
from memorybank.retain import facts, prompting, schema
from memorybank.retain.chunking import ChunkSize, chunk
from memorybank.retain.work import LOST, ChunkWork, Extraction

#: No piece is cut below so many characters: what fails then, fails for another reason than its length.
SMALLEST_PIECE = 500
#: Pieces may be longer than an equal part by this factor: lines do not end where parts do, and a crumb costs a call.
SLACK = 1.1
#: Above this share of unreadable facts the whole answer is asked for again.
BEARABLE_SHARE = 0.2


@dataclass(frozen=True)
class Asking:
    """How a model is asked: attempts for one chunk, how long it is waited for, tokens of an answer."""

    attempts: int
    patience: Patience
    max_output_tokens: int | None = None


@dataclass(frozen=True)
class ModelExtractor:
    """Modes concise, verbose, custom, and for verbatim names and dates: a model picks and words the facts."""

    model: LanguageModel
    asking: Asking

    async def extract(self, works: Sequence[ChunkWork]) -> Sequence[Extraction]:
        """Return what became of each chunk."""
        if len(works) == 1:
            return [await self._alone(works[0], self.asking.attempts)]
        return await self._divided(works, await self._together(works))

    async def _divided(
        self, works: Sequence[ChunkWork], found: Sequence[Extraction | None]
    ) -> Sequence[Extraction]:
        """Return `found` with what is missing in it, asked for in smaller parts."""
        left = [work for work, one in zip(works, found, strict=True) if one is None]
        half = (len(left) + 1) // 2 if len(left) == len(works) else len(left)
        again: list[Extraction] = []
        for part in filter(None, (left[:half], left[half:])):
            if len(part) > 1:
                again += await self.extract(part)
            else:
                # The call that it shared was its first attempt.
                again.append(await self._alone(part[0], max(1, self.asking.attempts - 1)))
        more = iter(again)
        return [one or next(more) for one in found]

    async def _together(self, works: Sequence[ChunkWork]) -> Sequence[Extraction | None]:
        """Ask about several chunks in one call; None for each that must be asked about apart."""
        profile = self.model.profile("retain")
        size = sum(len(work.text) for work in works)
        if size > profile.longest:
            return [None] * len(works)
        request = prompting.request(works, self.asking.max_output_tokens)
        reading = _Reading(prompting.reader(works[0].config), bearable=0.0)
        budget = Budget(self.asking.attempts, self.asking.patience)
        # To divide it comes before any repair: the next calls differ enough.
        tried = Tried(malformed=1, divisible=True)
        try:
            answer = await structured(self.model, request, reading.take, budget, works[0].ledger, tried)
        except LOST as error:
            _learn(profile, size, error)
            return [None] * len(works)
        except ModelError as error:
            return [Extraction(error=error)] * len(works)
        profile.fitted(size)
        built = facts.build(answer, prompting.sources(works))
        return [
            None if place in built.unclear else _judged(Extraction(*part))
            for place, part in enumerate(built.parts)
        ]

    async def _alone(self, work: ChunkWork, attempts: int) -> Extraction:
        """Return what became of one chunk."""
        budget = Budget(attempts, self.asking.patience)
        return await _Unit(self, work, budget, self.model.profile("retain")).run()


@dataclass
class _Reading:
    """Reads answers about one text; one with more than `bearable` unreadable facts is asked for again, once."""

    read: Callable[[Any], schema.Answer]
    bearable: float = BEARABLE_SHARE
    best: schema.Answer | None = None

    def take(self, value: Any) -> schema.Answer:
        """Return an answer that is good enough; raises ModelMalformed to have it asked for again."""
        answer = self.read(value)
        if answer.malformed_share <= self.bearable:
            return answer
        first = self.best is None
        if self.best is None or len(answer.drafts) > len(self.best.drafts):
            self.best = answer
        if first or not self.best.drafts:
            raise ModelMalformed(f"{answer.malformed_share:.0%} of its facts are no objects with a `what`")
        return self.best


@dataclass
class _Piece:
    """A part of a chunk, and what became of it.

    `failures` counts its own and those of the larger pieces that it was part of; `error` is its own last one.
    """

    text: str
    reading: _Reading
    failures: int = 0
    found: Extraction | None = None
    error: ModelError | None = None


@dataclass
class _Unit:
    """A chunk that is asked about by itself, within one budget: whole, or in the pieces that it took.

    What has failed least comes next, so that a bad piece does not eat the attempts of the others.
    """

    extractor: ModelExtractor
    work: ChunkWork
    budget: Budget
    profile: ModelProfile
    pieces: list[_Piece] = field(default_factory=list)
    repaired: bool = False
    divided: bool = False
    plain: bool = False
    last: ModelError | None = None

    async def run(self) -> Extraction:
        """Ask until every piece is done or lost."""
        self.pieces = [self._piece(self.work.text)]
        while waiting := [piece for piece in self.pieces if piece.found is None]:
            piece = min(waiting, key=lambda one: one.failures)
            if self._divide(piece, self.profile.longest):
                continue
            more = any(one.error is None for one in waiting if one is not piece)
            try:
                piece.found = await self._ask(piece, more)
            except LOST as error:
                self._failed(piece, error)
            except ModelError as error:
                return Extraction(error=error)
            else:
                self._answered(piece)
            if not self.budget.left:
                self._give_up()
        return self._joined()

    async def _ask(self, piece: _Piece, more: bool) -> Extraction:
        request = prompting.request(
            [replace(self.work, text=piece.text)], self.extractor.asking.max_output_tokens
        )
        if self.plain:
            request = replace(request, answer_format=AnswerFormat.PROMPT)
        divisible = piece.error is None and len(piece.text) >= 2 * SMALLEST_PIECE
        tried = Tried(malformed=int(self.repaired), divisible=divisible, more=more)
        take, model = piece.reading.take, self.extractor.model
        try:
            answer = await structured(model, request, take, self.budget, self.work.ledger, tried)
        except LOST:
            best = piece.reading.best
            if best is None or not best.drafts:
                raise
            answer = best
        work = replace(self.work, text=piece.text)
        return Extraction(*facts.build(answer, prompting.sources([work])).parts[0])

    def _answered(self, piece: _Piece) -> None:
        self.budget.regain()
        self.profile.fitted(len(piece.text))
        if self.plain and piece.error:
            self.profile.answered(AnswerFormat.PROMPT, self.profile.answer_format)
        piece.error = None

    def _failed(self, piece: _Piece, error: ModelError) -> None:
        """Divide a piece, leave it for another try, or give it up."""
        _learn(self.profile, len(piece.text), error)
        piece.failures, piece.error, self.last = piece.failures + 1, error, error
        is_malformed = isinstance(error, ModelMalformed)
        may_divide = isinstance(error, ModelTruncated) or (is_malformed and not self.divided)
        divided = may_divide and self._divide(piece, len(piece.text) / 2)
        if not divided and not is_malformed:
            piece.found = _lost(piece)
        # What neither a repair turn nor a smaller piece has mended is from now on asked for in plain JSON.
        self.plain = self.plain or (is_malformed and not divided)
        self.repaired = self.repaired or is_malformed
        self.divided = self.divided or is_malformed

    def _give_up(self) -> None:
        """The budget is spent: what failed is lost. Where anything was answered, what was never asked for still is."""
        answered = any(piece.found and not piece.error for piece in self.pieces)
        for piece in [piece for piece in self.pieces if piece.found is None]:
            if piece.error or not answered:
                piece.error = piece.error or self.last
                piece.found = _lost(piece)
            elif not self.budget.left:
                self.budget.regain()

    def _divide(self, piece: _Piece, longest: float) -> bool:
        """Put pieces of about equal size, at most about `longest`, in the place of one; False: it is too short."""
        count = min(-int(-len(piece.text) // longest), len(piece.text) // SMALLEST_PIECE)
        if count < 2:
            return False
        size = int(SLACK * len(piece.text) / count)
        texts = chunk(piece.text, ChunkSize(size, size))
        at = self.pieces.index(piece)
        self.pieces[at : at + 1] = [self._piece(text, piece.failures) for text in texts]
        return len(texts) > 1

    def _piece(self, text: str, failures: int = 0) -> _Piece:
        return _Piece(text, _Reading(prompting.reader(self.work.config)), failures)

    def _joined(self) -> Extraction:
        """Return what all pieces gave; an error where they gave nothing but losses."""
        whole = Extraction()
        for piece in self.pieces:
            whole = whole.followed_by(piece.found or Extraction())
        lost = next((piece.error for piece in self.pieces if piece.error), None)
        return replace(whole, error=lost) if lost and not whole.facts else _judged(whole)


def _lost(piece: _Piece) -> Extraction:
    """Return what is left of a lost piece: how many facts of its best answer were unreadable, else that it is lost."""
    best, code = piece.reading.best, piece.error.code if piece.error else ModelError.code
    return Extraction(dropped=best.dropped if best and best.dropped else {code: 1})


def _judged(found: Extraction) -> Extraction:
    """Return an extraction; one whose every fact was unreadable is a failure, not a chunk without facts."""
    if found.dropped.get("malformed") and not found.facts:
        return replace(found, error=ModelMalformed("none of its facts could be read"))
    return found


def _learn(profile: ModelProfile, characters: int, error: ModelError) -> None:
    """Remember a length about which the answer was cut; one that only thought, or stopped by itself, says nothing."""
    if isinstance(error, ModelTruncated) and not isinstance(error, OutOfRoom | Unclosed):
        profile.cut(characters, SMALLEST_PIECE)
