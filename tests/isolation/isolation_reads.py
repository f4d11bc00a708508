"""What reading calls must tell: all of one's own, nothing else."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from isolation_look import Leak, Look, same
from isolation_oracle import Circle

#: Rows on a page: more than any world holds.
ALL = {"limit": 200}
RECALL = {
    "trace": True,
    "max_tokens": 20_000,
    "budget": "high",
    "include": {
        "entities": {"max_tokens": 2000},
        "chunks": {"max_tokens": 8000},
        "source_facts": {"max_tokens": 4000},
    },
}
REFLECT = {"include": {"facts": {}, "tool_calls": {}}, "budget": "low"}
Read = Callable[[Look, int], Awaitable[None]]


async def _banks(look: Look, bank: int) -> None:
    answer = await look.get("/v1/default/banks", q=look.world.banks[bank])
    listed = {item["bank_id"] for item in answer["banks"]}
    same(listed, {look.world.banks[bank]} if look.knows(bank) else set(), "banks", look.asker)
    if look.knows(bank):
        units = [row for row in look.rows("memory_unit", bank) if row.about["status"] == "active"]
        counted = answer["banks"][0]["fact_count"]
        if counted != len(units):
            raise Leak(
                f"{look.asker}: {counted} memories counted in a bank, of which {len(units)} are theirs"
            )


async def _memories(look: Look, bank: int) -> None:
    answer = await look.get(look.world.path(bank, "/memories/list"), **ALL)
    listed = {item["id"] for item in answer["items"]}
    expected = {row.id for row in look.rows("memory_unit", bank) if row.about["status"] == "active"}
    same(listed, expected, "memories", look.asker)
    _count(look, answer["total"], len(expected), "memories")


async def _documents(look: Look, bank: int) -> None:
    answer = await look.get(look.world.path(bank, "/documents"), **ALL)
    own = look.rows("document", bank)
    same({item["id"] for item in answer["items"]}, {row.id for row in own}, "documents", look.asker)
    _count(look, answer["total"], len(own), "documents")


async def _entities(look: Look, bank: int) -> None:
    answer = await look.get(look.world.path(bank, "/entities"), **ALL)
    own = look.entities(bank)
    told = {item["id"]: item["mention_count"] for item in answer["items"]}
    if told != own:
        raise Leak(f"{look.asker}: entities and their mentions are {told}, theirs are {own}")
    texts = " ".join(row.about["text"] for row in look.rows("memory_unit", bank))
    for item in answer["items"]:
        if item["canonical_name"] not in texts:
            raise Leak(f"{look.asker}: nothing of theirs says {item['canonical_name']}")


async def _tags(look: Look, bank: int) -> None:
    answer = await look.get(look.world.path(bank, "/tags"), **ALL)
    tags = Counter(
        tag
        for row in look.rows("memory_unit", bank)
        if row.about["status"] == "active"
        for tag in row.about["tags"]
    )
    told = {item["tag"]: item["count"] for item in answer["items"]}
    if told != tags:
        raise Leak(f"{look.asker}: tags are {told}, theirs are {dict(tags)}")
    await look.get(look.world.path(bank, "/tags"), source="mental_models")


async def _stats(look: Look, bank: int) -> None:
    told = await look.get(look.world.path(bank, "/stats"))
    units = [row for row in look.rows("memory_unit", bank) if row.about["status"] == "active"]
    facts = [row for row in units if row.about["fact_type"] != "observation"]
    _count(look, told["total_documents"], len(look.rows("document", bank)), "documents")
    _count(look, told["total_nodes"], len(units), "memories")
    _count(look, told["total_observations"], len(units) - len(facts), "observations")


async def _operations(look: Look, bank: int) -> None:
    answer = await look.get(look.world.path(bank, "/operations"), limit=100)
    # How often a bank was consolidated tells how often somebody, in whatever circle, was remembered.
    kinds = {"consolidation", "vector_index"} if look.asker.kind != "operator" else set()
    own = {row.id for row in look.rows("operation", bank) if row.about["kind"] not in kinds}
    same({item["id"] for item in answer["operations"]}, own, "operations", look.asker)
    _count(look, answer["total"], len(own), "operations")


async def _models(look: Look, bank: int) -> None:
    answer = await look.get(look.world.path(bank, "/mental-models"), **ALL)
    own = {row.id for row in look.rows("mental_model", bank)}
    same({item["id"] for item in answer["items"]}, own, "mental models", look.asker)


async def _knowledge(look: Look, bank: int) -> None:
    tree = str(await look.get(look.world.path(bank, "/knowledge-base/tree")))
    pages = [row for row in look.rows("mental_model", bank) if row.about["is_managed"]]
    for row in [*pages, *look.rows("knowledge_folder", bank)]:
        if row.about["name"] not in tree:
            raise Leak(f"{look.asker}: {row.about['name']} is theirs, and not in their tree")
    await look.ask("GET", look.world.path(bank, "/knowledge-base/export"))
    await look.get(look.world.path(bank, "/knowledge-base/search"), q="what is known", limit=50)


async def _facts(look: Look, bank: int) -> None:
    answer = await look.get(look.world.path(bank, "/facts"), limit=100)
    expected = {row.id for row in look.rows("memory_unit", bank) if row.about["status"] == "active"}
    same({item["id"] for item in answer["items"]}, expected, "facts", look.asker)
    stated = [row for row in look.rows("memory_unit", bank) if row.id in look.world.facts]
    _count(look, answer["limits"]["facts"], len(stated), "facts of the limit")


async def _scopes(look: Look, bank: int) -> None:
    await look.get(look.world.path(bank, "/observations/scopes"))


async def _own_bank(look: Look, bank: int) -> None:
    """What a bank says of itself is for those who use it."""
    for rest in ("/profile", "/config", "/directives"):
        answer = await look.ask("GET", look.world.path(bank, rest))
        if (answer.status_code == 200) is not look.uses(bank):
            raise Leak(f"{look.asker}: {rest} of bank {bank} was answered {answer.status_code}")


async def _recall(look: Look, bank: int) -> None:
    """A question in the words of a fact finds it, where it is theirs; and nothing of others whatever is asked."""
    path = look.world.path(bank, "/memories/recall")
    for asked in ("who met whom under Qvasar", look.hidden_word(bank)):
        if asked:
            await look.ask("POST", path, {"query": asked, **RECALL})
    row = look.one([row for row in look.rows("memory_unit", bank) if row.about["status"] == "active"])
    if row is not None:
        answer = await look.ask("POST", path, {"query": row.about["text"], **RECALL})
        if row.about["text"] not in [hit["text"] for hit in answer.json()["results"]]:
            raise Leak(f"{look.asker} did not find {row.about['text']}, which is theirs")


async def _reflect(look: Look, bank: int) -> None:
    """The model says all that it was shown."""
    row = look.one([row for row in look.rows("memory_unit", bank) if row.about["status"] == "active"])
    asked = "Who met whom under Qvasar?" if row is None else f"Who was it? {row.about['text']}"
    rest = look.chance.choice(["/reflect", "/reflect/stream"])
    await look.ask("POST", look.world.path(bank, rest), {"query": asked, **REFLECT})


async def _hidden_words(look: Look, bank: int) -> None:
    """Lists that look for a word which is not theirs are empty."""
    word = look.hidden_word(bank)
    if word is None:
        return
    for rest, wanted in SEARCHES.items():
        answer = await look.get(look.world.path(bank, rest), **{wanted: word})
        listed = next(value for value in answer.values() if isinstance(value, list))
        if listed and rest != "/knowledge-base/search":
            raise Leak(f"{look.asker} found {word} with {rest}: {answer}")


SEARCHES = {
    "/memories/list": "q",
    "/documents": "q",
    "/tags": "q",
    "/facts": "q",
    "/knowledge-base/search": "q",
}


async def _at_places(look: Look, bank: int) -> None:
    """At a place there is what applies there; elsewhere nobody can say that they are."""
    for place in look.chance.sample(range(len(look.world.plan.places)), 2):
        name = look.world.place(place, thread=look.chance.random() < 0.5)
        asked: list[tuple[str, str, Any, Mapping[str, Any]]] = [
            ("POST", "/memories/recall", {"query": "who met whom", "place": name, **RECALL}, {}),
            ("POST", "/facts/recall", {"place": name}, {}),
            ("POST", "/facts/recall", {"place": name, "query": "who met whom under Qvasar"}, {}),
            ("POST", "/reflect", {"query": "who met whom", "place": name, **REFLECT}, {}),
            ("GET", "/facts", None, {"place": name, "limit": 100}),
        ]
        method, rest, body, params = look.chance.choice(asked)
        answer = await look.ask(method, look.world.path(bank, rest), body, at=place, params=params)
        if answer.status_code == 200 and not look.world.oracle.speaks_in(look.asker, place):
            raise Leak(f"{look.asker} is not in place {place}, and was answered by {rest}")
        if answer.status_code == 200 and rest in ("/memories/recall", "/facts/recall"):
            _expect_what_applies(look, bank, place, answer.text)


def _expect_what_applies(look: Look, bank: int, place: int, told: str) -> None:
    """What was said in a place as a fact is told there: all of it, for no world holds more than a reply."""
    spot = look.world.plan.places[place]
    here = Circle("place", bank, place=place)
    if spot.kind == "dm":
        here = Circle("dm", bank, agent=spot.agent, person=spot.members[0])
    for row in look.truth.rows["memory_unit"]:
        if row.circle == here and row.id in look.world.facts and row.about["text"] not in told:
            raise Leak(f"{look.asker} was not told {row.about['text']}, which applies at place {place}")


#: What is read of a bank that somebody has to do with.
READS: Mapping[str, Read] = {
    "banks": _banks,
    "memories": _memories,
    "documents": _documents,
    "entities": _entities,
    "tags": _tags,
    "stats": _stats,
    "operations": _operations,
    "models": _models,
    "knowledge": _knowledge,
    "facts": _facts,
    "scopes": _scopes,
    "own bank": _own_bank,
    "recall": _recall,
    "reflect": _reflect,
    "hidden words": _hidden_words,
    "at places": _at_places,
}


def _count(look: Look, told: int, expected: int, what: str) -> None:
    if told != expected:
        raise Leak(f"{look.asker}: {told} {what} were counted, {expected} are theirs")
