"""Who is who: within a document, by what the audience knows, and where only a neighbour can tell."""

from collections.abc import Iterable
from uuid import uuid4

import pytest

from memorybank.retain.entities import Mention, Resolution, Resolver, asked_keys, read
from memorybank.retain.spelling import CONCEPT, PERSON
from memorybank.storage.entities import Identity, Known, Near, Present
from memorybank.text import name_key


def person(name: str, document: int = 1, exact: bool = False) -> Mention:
    return Mention(document, name, PERSON, exact)


def thing(name: str, document: int = 1, kind: str = CONCEPT) -> Mention:
    return Mention(document, name, kind)


def known(name: str, kind: str = "", sense: str = "") -> Known:
    key = name_key(name)
    return Known(key, "own", Identity(key, sense), name, kind, uuid4())


def called(called: str, rule: str, of: Known, into: Known | None = None) -> Known:
    return Known(name_key(called), rule, of.identity, of.name, of.kind, of.id, into)  # type: ignore[arg-type]


def resolution(
    *mentions: Mention,
    known: Iterable[Known] = (),
    present: Iterable[Known] = (),
    said: Iterable[tuple[str, str]] = (),
    near: Iterable[tuple[Known, Known]] = (),
) -> Resolution:
    pages = read(mentions, [Present(1, one) for one in present], {1: list(said)})
    resolver = Resolver([one for one in known if one.called in asked_keys(pages)])
    doubtful = set(resolver.doubtful(pages))
    resolver.tell(
        {one.id: Near(frozenset({other.id}), 3) for one, other in near if one.id in doubtful}  # type: ignore[arg-type, dict-item]
    )
    return resolver.resolve(pages)


def keys(*mentions: Mention, **world: Iterable[Known]) -> list[str]:
    found = resolution(*mentions, **world)  # type: ignore[arg-type]
    return [found.meaning[mention].identity.key for mention in mentions]


def test_three_forms_of_one_person_are_one_entity() -> None:
    mentions = (person("J. Okafor"), person("Okafor"), person("Jude Okafor"))
    found = resolution(*mentions)
    assert {found.meaning[mention].identity for mention in mentions} == {Identity("jude okafor")}
    assert found.names == {Identity("jude okafor"): "Jude Okafor"}
    learned = {one.called: one.rule for one in found.learned}
    assert learned == {"jude okafor": "own", "jude": "part", "okafor": "alias", "j okafor": "alias"}


@pytest.mark.parametrize(
    ("mentions", "expected"),
    [
        ([person("Okafor"), person("Jude Okafor"), person("Ada Okafor")], ["okafor", "jude okafor", "ada okafor"]),
        ([person("Mr. Holm"), person("Mrs. Holm"), person("Anders Holm")], ["mr holm", "mrs holm", "anders holm"]),
        ([person("Mr. Holm"), person("Anders Holm")], ["anders holm"] * 2),
        ([person("Okafor", 1), person("Jude Okafor", 2)], ["okafor", "jude okafor"]),
        ([person("Dr. Okafor"), person("Okafor")], ["okafor"] * 2),
        ([thing("J. Okafor"), thing("Jude Okafor")], ["jude okafor"] * 2),
        ([thing("Okafor"), thing("Jude Okafor")], ["okafor", "jude okafor"]),
        ([person("K. Okafor"), person("Jude Okafor")], ["k okafor", "jude okafor"]),
        ([person("J.-L. Moreau"), person("Jean-Luc Moreau")], ["jean luc moreau"] * 2),
        ([person("Jude Okafor"), person("Jude Michael Okafor")], ["jude michael okafor"] * 2),
        ([thing("Locker 41"), thing("Locker 42")], ["locker41", "locker42"]),
        ([thing("KL644"), thing("KL645"), thing("KL 644")], ["kl644", "kl645", "kl644"]),
        ([thing("Q3 Budget 2025"), thing("Q3 Budget 2026")], ["q3 budget2025", "q3 budget2026"]),
        ([person("Bob"), person("Robert Chen")], ["bob", "robert chen"]),
        ([person("Jon Marsh"), person("John Marsh")], ["jon marsh", "john marsh"]),
        ([person("Hansen"), person("Hanson")], ["hansen", "hanson"]),
        ([thing("York"), thing("New York")], ["york", "new york"]),
        ([thing("Apple"), thing("Apple Watch")], ["apple", "apple watch"]),
        ([thing("Kestrel GmbH"), thing("Kestrel"), thing("Kestrel Mini")], ["kestrel", "kestrel", "kestrel mini"]),
        ([thing("Siljan", kind="PLACE"), thing("Lake Siljan", kind="PLACE")], ["siljan"] * 2),
        ([thing("Phoenix", kind="CITY"), thing("Project Phoenix", kind="PROJECT")], ["phoenix", "project phoenix"]),
        ([thing("İstanbul ofisi"), thing("istanbul ofisi")], ["istanbul ofisi"] * 2),
        ([thing("Café"), thing("Cafe\u0301")], ["café"] * 2),
        ([person("田中太郎"), thing("田中さん")], ["田中太郎"] * 2),
        ([person("王小明"), person("王大明"), person("小明")], ["王小明", "王大明", "王小明"]),
        ([person("Okafor", exact=True), person("Jude Okafor")], ["okafor", "jude okafor"]),
        ([thing("The Harbour Club"), thing("harbour club")], ["harbour club"] * 2),
    ],
    ids=lambda value: " / ".join(one.name for one in value) if isinstance(value[0], Mention) else "",
)  # fmt: skip
def test_names_of_documents(mentions: list[Mention], expected: list[str]) -> None:
    assert keys(*mentions) == expected


def test_one_name_for_two_kinds_is_two_entities() -> None:
    bot, planet, unclear = thing("Mercury", kind="BOT"), thing("Mercury", 2, "PLANET"), thing("Mercury", 3)
    found = resolution(bot, planet, unclear)
    assert found.meaning[bot].identity == Identity("mercury")
    assert found.meaning[planet].identity == Identity("mercury", "place")
    both = [called("Mercury", "own", known("Mercury", "product")), known("Mercury", "place", "place")]
    venus = known("Venus", "place")
    near = [(both[1], venus)]
    beside = (thing("Mercury"), thing("Venus"))
    assert resolution(*beside, known=[*both, venus], near=near).meaning[beside[0]].identity.sense == "place"


def test_an_unknown_kind_means_the_only_sense_there_is() -> None:
    bot = known("Mercury", "product")
    assert resolution(thing("Mercury"), known=[bot]).meaning[thing("Mercury")].id == bot.id
    told = resolution(thing("Mercury", kind="BOT"), known=[known("Mercury")])
    assert [one.kind for one in told.learned] == ["product"]


JUDE, ADA, CLUB = known("Jude Okafor", "person"), known("Ada Okafor", "person"), known("Harbour Club")
OWN = known("Okafor", "person")


@pytest.mark.parametrize(
    ("what", "near", "expected"),
    [
        ([called("Okafor", "alias", JUDE)], [], "jude okafor"),
        ([called("Okafor", "part", JUDE)], [], "okafor"),
        ([called("Okafor", "part", JUDE)], [(JUDE, CLUB)], "jude okafor"),
        ([called("Okafor", "alias", JUDE), called("Okafor", "part", ADA)], [], "okafor"),
        ([called("Okafor", "alias", JUDE), called("Okafor", "part", ADA)], [(ADA, CLUB)], "ada okafor"),
        ([called("Okafor", "part", JUDE), called("Okafor", "part", ADA)], [(ADA, CLUB), (JUDE, CLUB)], "okafor"),
        ([OWN, called("Okafor", "part", JUDE)], [(JUDE, CLUB)], "okafor"),
        ([OWN, called("Okafor", "alias", JUDE)], [(JUDE, CLUB)], "jude okafor"),
        ([OWN, called("Okafor", "alias", JUDE)], [], "okafor"),
        ([called("Okafor", "own", OWN, into=ADA), called("Okafor", "alias", JUDE)], [(JUDE, CLUB)], "okafor"),
    ],
    ids=[
        "what a text used",
        "a part alone",
        "a part and a neighbour",
        "two who may be meant",
        "two and a neighbour of one",
        "two and a neighbour of both",
        "its own name",
        "its own name or what a text used, and a neighbour",
        "its own name or what a text used",
        "what people merged",
    ],
)  # fmt: skip
def test_a_last_name_alone(what: list[Known], near: list[tuple[Known, Known]], expected: str) -> None:
    mentions = (person("Okafor"), thing("Harbour Club"))
    found = resolution(*mentions, known=[*what, CLUB], near=near)
    meant = found.meaning[mentions[0]]
    assert meant.identity.key == expected
    if what[0].into:
        assert meant.root.identity == ADA.identity


def test_a_name_that_is_a_persons_only_in_part_means_no_thing() -> None:
    part = called("Okafor", "part", JUDE)
    found = resolution(thing("Okafor"), CLUB_MENTION, known=[part, CLUB], near=[(JUDE, CLUB)])
    assert found.meaning[thing("Okafor")].identity.key == "okafor"


CLUB_MENTION = thing("Harbour Club")


def test_what_the_document_says_goes_before_what_is_known() -> None:
    alias = called("Okafor", "alias", JUDE)
    assert keys(person("Okafor"), person("Ada Okafor"), known=[alias]) == ["ada okafor", "ada okafor"]


def test_accents_and_legal_forms_are_found_both_ways() -> None:
    plain, firm = known("Zoe Brandt", "person"), known("Kestrel", "organization")
    assert keys(person("Zoë Brandt"), thing("Kestrel GmbH"), known=[plain, firm]) == ["zoe brandt", "kestrel"]
    accented = known("Zoë Brandt", "person")
    assert keys(person("Zoe Brandt"), known=[called("Zoe Brandt", "same", accented)]) == ["zoë brandt"]


def test_exact_mentions_are_taken_as_they_are() -> None:
    alias = called("Okafor", "alias", JUDE)
    assert keys(person("Okafor", exact=True), person("Jude Okafor"), known=[alias]) == [
        "okafor",
        "jude okafor",
    ]


def test_a_longer_form_in_a_later_chunk_takes_the_mentions_of_the_shorter_one() -> None:
    short = known("Okafor", "person")
    found = resolution(person("Jude Okafor"), present=[short])
    [(document, source, target)] = found.moved
    assert (document, source, target.identity.key) == (1, short.id, "jude okafor")
    assert ("okafor", "alias") in {(one.called, one.rule) for one in found.learned}
    assert resolution(person("Jude Okafor", 2), present=[short]).moved == ()


def test_a_shorter_form_in_a_later_chunk_means_the_longer_one() -> None:
    assert keys(person("Okafor"), present=[JUDE]) == ["jude okafor"]


def test_what_the_text_equates_is_one() -> None:
    mentions = (thing("Bob"), thing("Robert Chen"))
    found = resolution(*mentions, said=[("Robert Chen", "Bob")])
    assert [found.meaning[mention].identity.key for mention in mentions] == ["robert chen"] * 2


def test_documents_of_one_batch_learn_from_those_before() -> None:
    first = (person("Jude Okafor"), thing("Harbour Club"))
    later = (person("Jude", 2), thing("Harbour Club", 2), person("Jude", 3))
    assert keys(*first, *later)[2:] == ["jude okafor", "harbour club", "jude okafor"]


def test_a_name_without_a_key_is_left_out() -> None:
    assert resolution(thing(" ")) == Resolution()
