"""What follows the loop: the answer from what was shown, within its length, and in the shape asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memorybank import templates
from memorybank.errors import BadRequest, ModelError
from memorybank.llm.client import ChatRequest, LanguageModel, Message
from memorybank.llm.conforming import conforming
from memorybank.llm.retry import OverLong
from memorybank.llm.structured import structured, written
from memorybank.reflect import prompting
from memorybank.reflect.citations import Answer
from memorybank.reflect.notebook import Page
from memorybank.reflect.run import Run, size
from memorybank.text import count_tokens

#: Times that the evidence is halved for a model which takes less than the settings say.
HALVED = 3
#: Said of a structured answer that failed under directives.
NOT_SHAPED = "the answer could not be put into the schema"


@dataclass(frozen=True)
class Answering:
    """The calls of one question that use no tools."""

    run: Run
    model: LanguageModel

    async def final(self, scope: str = "final", turns: tuple[Message, ...] = ()) -> Answer:
        """Answer from what was shown, as much of it as the model takes.

        Raises BadRequest where the question leaves no room, and the ModelError of the last attempt.
        """
        bare = size(prompting.final(self.run, Page(), turns))
        room = self.run.settings.reflect.max_context_tokens - bare
        if room < 0:
            raise BadRequest("question and context are longer than a prompt may be", loc=("body", "query"))
        for _ in range(HALVED):
            request = prompting.final(self.run, self.run.notebook.within(room), turns)
            try:
                return Answer(await self._write(scope, request))
            except OverLong:
                room = min(room, size(request) - bare) // 2
        return Answer(
            await self._write(scope, prompting.final(self.run, self.run.notebook.within(room), turns))
        )

    async def fitted(self, answer: Answer) -> Answer:
        """Return an answer within its tokens: one that is too long is written anew once, else cut."""
        if count_tokens(answer.plain) <= self.run.query.max_tokens:
            return answer
        request = prompting.shorter(self.run, answer.text)
        try:
            shorter = Answer(await self._write("final_rewrite", request), answer.listed)
        except ModelError:
            shorter = answer
        best = shorter if set(answer.numbers).issuperset(shorter.numbers) else answer
        return best.within(self.run.query.max_tokens)

    async def structure(self, answer: Answer) -> tuple[Mapping[str, Any] | None, str | None]:
        """Return an answer in the shape asked for, or why it could not be put into it: the text stands anyway."""
        schema = self.run.query.response_schema
        if schema is None:
            return None, None
        facts = "\n".join(note.line for note in self.run.notes(answer.numbers))
        request = prompting.structure(self.run, facts, answer.plain)
        spending = self.run.spending
        spending.about("structured", size(request))
        try:
            made = await structured(self.model, request, conforming(schema), spending.budget(), spending)
        except ModelError as error:
            # The reason may name keys that a model made up, and nobody checks those.
            return None, NOT_SHAPED if self.run.directives else error.message
        return made, None

    async def _write(self, scope: str, request: ChatRequest) -> str:
        spending = self.run.spending
        spending.about(scope, size(request))
        reply = await written(self.model, request, spending.budget(), spending)
        return templates.unescaped(reply.content)
