"""A bank whose facts are put in, changed, taken out and consolidated at will, and what must hold of it at any time."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Self
from uuid import UUID

import numpy as np

from memorybank.audience import Viewer
from memorybank.ids import new_id
from memorybank.indexing import form_of, index_terms, text_hash
from memorybank.storage import banks, chunks, documents, mentions, models, observations, observing, units
from memorybank.storage.chunks import About, NewChunk
from memorybank.storage.documents import NewDocument
from memorybank.storage.observations import Pending, Scope, Shelf, Wait
from memorybank.storage.observing import Applied, Batch, Change, Create, Decided
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection
from memorybank.storage.units import NewUnit

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
OPERATOR = Viewer.operator()
DIMENSIONS = 8
#: Scopes of a fact that the tests give, in all.
PASSES = {"per_tag": lambda tags: max(len(tags), 1), "shared": lambda tags: 1, None: lambda tags: 1}


def vector(text: str) -> np.ndarray:
    """A direction that a text always has."""
    made = np.random.default_rng(int.from_bytes(text_hash(text)[:4])).normal(size=DIMENSIONS)
    return (made / np.linalg.norm(made)).astype(np.float32)


@dataclass
class World:
    """A bank, the operation that its consolidation runs as, and one connection in a transaction at a time."""

    database: Database
    bank: int
    audience: int
    model: int
    operation: UUID = field(default_factory=new_id)
    said: int = 0

    @classmethod
    async def made(cls, database: Database, name: str = "b") -> Self:
        async with database.transaction() as connection:
            bank = await banks.ensure(connection, name, AT)
            audience = await banks.default_audience(connection, bank.id)
            return cls(
                database,
                bank.id,
                audience,
                await models.embedding_model(connection, f"tiny-{DIMENSIONS}", DIMENSIONS),
            )

    async def rows(self, sql: str, *given: Any) -> list[dict[str, Any]]:
        async with self.database.connection() as connection:
            return await (await connection.execute(sql.encode(), given)).fetchall()

    async def run(self, sql: str, *given: Any) -> None:
        async with self.database.transaction() as connection:
            await connection.execute(sql.encode(), given)

    async def keep(
        self,
        document: str,
        *texts: str,
        tags: Sequence[str] = (),
        scopes: Any = None,
        audience: int | None = None,
    ) -> list[UUID]:
        """Keep facts, each in a chunk of its own, as a new document."""
        about = About(tags=tuple(sorted(tags)), mentioned_at=AT, observation_scopes=scopes)
        audience = audience or self.audience
        async with self.database.transaction() as connection:
            new = NewDocument(document, "", 0, "", AT, tags=about.tags)
            number = await documents.put(connection, self.bank, audience, new, AT)
            await connection.execute(
                "INSERT INTO operation (id, bank, audience_id, kind, status, created_at, updated_at)"
                " VALUES (%s, %s, %s, 'retain', 'completed', now(), now()) ON CONFLICT DO NOTHING",
                [self.operation, self.bank, self.audience],
            )
            made = [
                NewChunk(new_id(), number, at, text, text_hash(text), about) for at, text in enumerate(texts)
            ]
            await chunks.add(connection, self.bank, audience, self.operation, made, AT)
            facts = [self._fact(number, chunk) for chunk in made]
            await units.add(connection, self.bank, audience, facts, AT)
            vectors = np.stack([vector(fact.text) for fact in facts])
            await units.add_vectors(connection, self.bank, audience, self.model, facts, vectors)
        return [fact.id for fact in facts]

    def _fact(self, document: int, chunk: NewChunk) -> NewUnit:
        self.said += 1
        at = AT + timedelta(days=self.said)
        return NewUnit(
            id=new_id(),
            document=document,
            chunk=chunk.id,
            position=chunk.ordinal * units.POSITIONS,
            fact_type="world",
            text=chunk.text,
            text_hash=chunk.content_hash,
            statement=text_hash(f"statement {chunk.text}"),
            terms=index_terms(chunk.text),
            form=form_of(chunk.text, at),
            occurred_start=at,
            occurred_end=at,
            mentioned_at=at,
            tags=chunk.about.tags,
            observation_scopes=chunk.about.observation_scopes,
        )

    async def pending(self, limit: int = 100, wait: Wait | None = None, **asked: Any) -> list[Pending]:
        async with self.database.connection() as connection:
            return await observations.pending(connection, self.bank, limit, wait or Wait(), **asked)

    def shelf(self, *scope: str, audience: int | None = None) -> Shelf:
        return Shelf(self.bank, audience or self.audience, scope, self.model)

    async def consolidate(
        self, facts: Sequence[Pending], decided: Decided, scope: Scope | None = None
    ) -> Applied:
        """Apply what was decided on facts of one audience."""
        texts = [one.text for one in (*decided.creates, *decided.changes) if one.text]
        decided = replace(decided, vectors={text: vector(text) for text in texts})
        shelf = self.shelf(*(facts[0].tags if scope is None else scope), audience=facts[0].audience)
        passes = {fact.id: PASSES[fact.scopes](fact.tags) for fact in facts}
        async with self.database.transaction() as connection:
            return await observing.apply(
                connection, self.operation, Batch(shelf, tuple(facts), passes), decided, AT
            )

    async def observe(self, text: str, facts: Sequence[UUID], scope: Scope | None = None) -> UUID:
        """Let facts, which wait, be consolidated into a new observation of this text."""
        waiting = [fact for fact in await self.pending() if fact.id in facts]
        applied = await self.consolidate(waiting, Decided(creates=(creating(text, *facts),)), scope)
        assert applied.created == 1, applied
        [row] = await self.rows(
            "SELECT id FROM memory_unit WHERE bank = %s AND text = %s AND fact_type = 'observation'",
            self.bank,
            text,
        )
        return row["id"]

    async def change(self, sql: str, fact: UUID) -> None:
        """Change a fact as curation does: alone, in one statement."""
        async with self.database.transaction() as connection:
            await mentions.alone(connection, self.bank)
            await connection.execute(f"UPDATE memory_unit SET {sql} WHERE id = %s".encode(), [fact])  # noqa: S608

    async def delete_chunk(self, fact: UUID) -> None:
        """Delete the chunk of a fact, as delta does."""
        async with self.database.transaction() as connection:
            await mentions.alone(connection, self.bank)
            cursor = await connection.execute("SELECT chunk FROM memory_unit WHERE id = %s", [fact])
            await chunks.delete(connection, self.bank, [row["chunk"] for row in await cursor.fetchall()])

    async def delete_document(self, name: str) -> None:
        async with self.database.transaction() as connection:
            await documents.delete(connection, self.bank, name, OPERATOR)


def creating(text: str, *facts: UUID) -> Create:
    return Create(text, facts)


def changing(observation: UUID, *facts: UUID, text: str | None = None, gone: Sequence[UUID] = ()) -> Change:
    return Change(observation, text, facts, "newer" if text else "", tuple(gone))


async def broken(connection: Connection, bank: int) -> list[str]:
    """What does not hold of a bank that always must."""
    found = await (await connection.execute(RULES.encode(), {"bank": bank})).fetchall()
    return [row["rule"] for row in found]


#: Each line names a rule and finds what breaks it.
RULES = """
WITH unit AS (SELECT * FROM memory_unit WHERE bank = %(bank)s),
cited AS (SELECT s.*, o.tags AS scope, f.status, f.audience_id AS whose, f.tags, f.observation_scopes, f.fact_type
          FROM observation_source s JOIN unit o ON o.id = s.observation JOIN unit f ON f.id = s.source)
SELECT 'an observation stands on something' AS rule FROM unit o
WHERE o.fact_type = 'observation' AND NOT EXISTS (SELECT 1 FROM cited c WHERE c.observation = o.id)
UNION ALL SELECT 'sources are active facts of its audience' FROM cited c
WHERE c.status <> 'active' OR c.fact_type = 'observation' OR c.whose <> c.audience_id
UNION ALL SELECT 'sources have its scope' FROM cited c WHERE NOT has_scope(c.tags, c.observation_scopes, c.scope)
UNION ALL SELECT 'proof_count counts distinct sources' FROM unit o
WHERE o.fact_type = 'observation'
  AND o.proof_count <> (SELECT count(DISTINCT c.source) FROM cited c WHERE c.observation = o.id)
UNION ALL SELECT 'times are those of the sources' FROM unit o
WHERE o.fact_type = 'observation'
  AND (o.occurred_start, o.occurred_end, o.mentioned_at) IS DISTINCT FROM (
      SELECT (min(f.occurred_start), max(f.occurred_end), max(f.mentioned_at))
      FROM cited c JOIN unit f ON f.id = c.source WHERE c.observation = o.id)
UNION ALL SELECT 'it names what its sources name' FROM unit o
WHERE o.fact_type = 'observation'
  AND array(SELECT DISTINCT entity FROM unit_entity WHERE unit = o.id ORDER BY entity) <> array(
      SELECT DISTINCT n.entity FROM cited c JOIN unit_entity n ON n.unit = c.source
      WHERE c.observation = o.id ORDER BY entity)
UNION ALL SELECT 'search rows stand for exactly the active units' FROM unit u
WHERE (u.status = 'active') <> EXISTS (
          SELECT 1 FROM posting p WHERE p.bank = u.bank AND p.document = u.document_number AND p.position = u.position
                                    AND p.audience_id = u.audience_id AND p.term = 0)
   OR (u.status = 'active') <> EXISTS (
          SELECT 1 FROM embedding e WHERE e.bank = u.bank AND e.document = u.document_number AND e.position = u.position
                                      AND e.audience_id = u.audience_id)
UNION ALL SELECT 'no search row stands alone' FROM posting p
WHERE p.bank = %(bank)s
  AND NOT EXISTS (SELECT 1 FROM unit u WHERE (u.document_number, u.position) = (p.document, p.position))
"""
