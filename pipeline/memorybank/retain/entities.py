"""Who is who: what the names of new facts mean. Pure.

A document is read first: its spellings of one name are one where a title, an initial or a longer form that nothing
else could mean says so, or the text itself ("Robert Chen, aka Bob"). Then each name is looked up among what the
audience knows. The one firm meaning is taken: the name itself, or what a text has used for it. Of several, and of a
first or last name that no text has used alone, the only one is taken that a neighbour supports: something that stood
beside it before and is in this document too. Else the name is a new entity.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from memorybank.retain.spelling import CONCEPT, Form, another_person
from memorybank.storage.entities import MAX_KEY_CHARS, Identity, Known, Near, Present
from memorybank.text import fold, name_key, normalize

#: Rules in the order of what they say.
_FIRMNESS = {"own": 0, "alias": 1, "same": 2, "part": 3}

Alias = tuple[str, str]


@dataclass(frozen=True)
class Mention:
    """A name in a document. `exact`: the caller wants this name and no other spelling to count."""

    document: int
    name: str
    kind: str = CONCEPT
    exact: bool = False
    is_label: bool = False


@dataclass
class Page:
    """The names of a document: the form of each mention, which form another stands for, what was mentioned before."""

    document: int
    form_of: dict[Mention, Form] = field(default_factory=dict)
    stands_for: dict[Form, Form] = field(default_factory=dict)
    before: dict[Form, Known] = field(default_factory=dict)

    def meant(self, mention: Mention) -> Form:
        """Return the form that a mention stands for."""
        form = self.form_of[mention]
        return form if mention.exact else self.stands_for.get(form, form)

    @property
    def asked(self) -> dict[tuple[Form, bool], None]:
        """The forms that must mean something, and whether only exactly that."""
        found = dict.fromkeys((self.meant(mention), mention.exact) for mention in self.form_of)
        return found | dict.fromkeys((form, False) for form in self.stands_for.values())


@dataclass(frozen=True)
class Resolution:
    """What names mean. `names` are to be known by identity; `learned` is new to the audience.

    `moved`: what this document says of an entity belongs to another.
    """

    names: Mapping[Identity, str] = field(default_factory=dict)
    meaning: Mapping[Mention, Known] = field(default_factory=dict)
    keys: Mapping[Mention, str] = field(default_factory=dict)
    learned: tuple[Known, ...] = ()
    moved: tuple[tuple[int, UUID, Known], ...] = ()


def label_key(name: str) -> str:
    """Return the key of a label: only its own letters, whatever their case."""
    return " ".join(fold(normalize(name)).split())[:MAX_KEY_CHARS]


def read(
    mentions: Iterable[Mention], present: Iterable[Present], said: Mapping[int, Sequence[Alias]]
) -> list[Page]:
    """Return the documents of these mentions. `said`: by document, names (canonical, other) that the text equates."""
    here: dict[int, list[Mention]] = defaultdict(list)
    there: dict[int, list[Known]] = defaultdict(list)
    for mention in mentions:
        if not mention.is_label:
            here[mention.document].append(mention)
    for one in present:
        there[one.document].append(one.known)
    return [_page(document, here[document], there[document], said.get(document, ())) for document in here]


def _page(document: int, here: Sequence[Mention], there: Sequence[Known], said: Sequence[Alias]) -> Page:
    before = {Form(known.identity.key, known.name, known.kind): known for known in there}
    forms = {mention: Form.of(mention.name, mention.kind) for mention in here}
    senses: dict[str, list[str]] = defaultdict(list)
    for form in (*before, *forms.values()):
        if form.sense:
            senses[form.key].append(form.sense)
    page = Page(document)
    page.before = {_settled(form, senses): known for form, known in before.items()}
    page.form_of = {mention: _settled(form, senses) for mention, form in forms.items() if form.key}
    open_ = [form for mention, form in page.form_of.items() if not mention.exact]
    page.stands_for = _stand_for(list(dict.fromkeys((*page.before, *open_))), said)
    return page


def _settled(form: Form, senses: Mapping[str, Sequence[str]]) -> Form:
    """Return a form with the sense that its document gives its name: the first that may be meant."""
    sense = next((sense for sense in senses.get(form.key, ()) if form.may_be(sense)), form.sense)
    return replace(form, sense=sense) if sense != form.sense else form


def _stand_for(forms: Sequence[Form], said: Sequence[Alias]) -> dict[Form, Form]:
    """Return, of the forms of one document, the form that each other spelling stands for."""
    by_key: dict[str, list[Form]] = defaultdict(list)
    by_part: dict[str, list[Form]] = defaultdict(list)
    for form in forms:
        by_key[form.key].append(form)
        for part in form.parts:
            by_part[part].append(form)
    same = {
        form: target
        for canonical, other in said
        for form in by_key.get(name_key(other), ())
        for target in by_key.get(name_key(canonical), ())[:1]
    }

    def targets(form: Form) -> list[Form]:
        own = [one for key in form.same for one in by_key.get(key, ()) if form.may_be(one.sense)]
        own += [one for key in form.in_text for one in by_key.get(key, ()) if form.sense == one.sense]
        if form.titles and any(another_person(form, other) for other in forms if other.titles):
            return []
        if own:
            return own
        longer = [one for key in (form.key, *form.same) for one in by_part.get(key, ())]
        return [
            one
            for one in dict.fromkeys(longer)
            if one != form and form.may_be(one.sense) and (form.is_person or one.is_person)
        ]

    for form in forms:
        found = targets(form)
        full = [one for one in found if not set(targets(one)) & set(found)]
        if len(full) == 1:
            same.setdefault(form, full[0])
    ends = {form: _end(form, same) for form in same}
    return {form: end for form, end in ends.items() if end != form}


def _end(form: Form, same: Mapping[Form, Form]) -> Form:
    """Follow spellings to the one that stands for no other."""
    seen = {form}
    while form in same and same[form] not in seen:
        form = same[form]
        seen.add(form)
    return form


def asked_keys(pages: Iterable[Page]) -> set[str]:
    """Return the keys that may tell what these documents mean."""
    return {key for page in pages for form, _ in page.asked for key in (form.key, *form.same)}


class Resolver:
    """What the audience knows, and what the documents read so far add to it."""

    def __init__(self, known: Iterable[Known]) -> None:
        """Begin with what `find` told of the keys asked for."""
        self._known: dict[str, list[Known]] = defaultdict(list)
        self._id: dict[Identity, UUID] = {}
        self._near: dict[Identity, set[Identity]] = defaultdict(set)
        self._mentions: dict[Identity, int] = defaultdict(int)
        self._learned: dict[tuple[str, Identity], Known] = {}
        for one in known:
            self._add(one)

    def _add(self, known: Known) -> None:
        self._known[known.called].append(known)
        if known.root.id is not None:
            self._id[known.root.identity] = known.root.id

    def doubtful(self, pages: Iterable[Page]) -> list[UUID]:
        """Return the entities whose neighbours must be known to tell what these documents mean."""
        found = {
            one.root.identity
            for page in pages
            for form, exact in page.asked
            if form not in page.before
            for one in _doubtful(self._fitting(form, exact))
        }
        return [self._id[identity] for identity in found if identity in self._id]

    def tell(self, near: Mapping[UUID, Near]) -> None:
        """Add what stands beside entities."""
        identity_of = {id_: identity for identity, id_ in self._id.items()}
        for id_, told in near.items():
            identity = identity_of[id_]
            self._mentions[identity] = told.mentions
            self._near[identity] |= {identity_of[one] for one in told.entities if one in identity_of}

    def resolve(self, pages: Sequence[Page]) -> Resolution:
        """Return what the names of these documents mean, each read with what those before it taught."""
        meaning: dict[Mention, Known] = {}
        moved: list[tuple[int, UUID, Known]] = []
        names: dict[Identity, str] = {}
        for page in pages:
            chosen = self._chosen(page)
            for mention in page.form_of:
                meaning[mention] = chosen[page.meant(mention), mention.exact]
            self._learn(page, chosen)
            for form, target in page.stands_for.items():
                source = page.before.get(form)
                known = chosen[target, False]
                if source and source.id and source.identity != known.root.identity:
                    moved.append((page.document, source.id, known))
            for known in chosen.values():
                names.setdefault(known.identity, known.name)
                names.setdefault(known.root.identity, known.root.name)
        keys = {mention: form.key for page in pages for mention, form in page.form_of.items()}
        return Resolution(names, meaning, keys, tuple(self._learned.values()), tuple(moved))

    def _chosen(self, page: Page) -> dict[tuple[Form, bool], Known]:
        fitting = {asked: self._fitting(*asked) for asked in page.asked}
        chosen: dict[tuple[Form, bool], Known] = {}
        for (form, exact), options in fitting.items():
            others = {known.root.identity for known in page.before.values()}
            others |= {
                one.root.identity for asked, them in fitting.items() if asked[0] != form for one in them
            }
            known = page.before.get(form) or self._decided(options, others)
            chosen[form, exact] = known or self._new(form)
        return chosen

    def _fitting(self, form: Form, exact: bool) -> list[Known]:
        """Return what a form may mean, each entity once by its firmest rule."""
        best: dict[Identity, Known] = {}
        for option in self._options(form):
            if not form.may_be(option.kind) or (exact and option.rule != "own"):
                continue
            if option.rule == "part" and not form.is_person:
                continue
            known = best.get(option.root.identity)
            if known is None or _FIRMNESS[option.rule] < _FIRMNESS[known.rule]:
                best[option.root.identity] = option
        return list(best.values())

    def _options(self, form: Form) -> Iterator[Known]:
        yield from self._known.get(form.key, ())
        for key in form.same:
            for one in self._known.get(key, ()):
                yield one if one.rule == "part" else replace(one, rule="same")

    def _decided(self, fitting: Sequence[Known], others: set[Identity]) -> Known | None:
        if plain := _plain(fitting):
            return plain
        backed = [one for one in fitting if (self._near[one.root.identity] & others) - {one.root.identity}]
        if len(backed) == 1:
            return backed[0]
        own = [one for one in fitting if one.rule == "own"]
        return max(own, key=lambda one: self._mentions[one.root.identity], default=None)

    def _new(self, form: Form) -> Known:
        """Return a new entity; beside another of its name it needs a sense."""
        taken = any(one.rule == "own" for one in self._known.get(form.key, ()))
        known = Known(form.key, "own", Identity(form.key, form.sense if taken else ""), form.name, form.sense)
        self._add(known)
        return known

    def _learn(self, page: Page, chosen: Mapping[tuple[Form, bool], Known]) -> None:
        roots = {known.root.identity for known in chosen.values()}
        roots |= {known.identity for known in page.before.values()}
        for (form, _), known in chosen.items():
            self._near[known.root.identity] |= roots
            self._keep(form, known)
        for spelling, form in page.stands_for.items():
            self._keep_key(spelling.key, "alias", spelling.name, chosen[form, False])

    def _keep(self, form: Form, known: Known) -> None:
        """Learn an entity that is new to the audience, its kind where it was not known, and how it is called here."""
        own = [one for one in self._known.get(known.identity.key, ()) if one.identity == known.identity]
        if form.key == known.identity.key and (
            known.kind != form.sense or not any(one.id for one in own if one.rule == "own")
        ):
            named = replace(known, kind=known.kind or form.sense)
            self._keep_key(form.key, "own", known.name, named)
            for key in form.same:
                self._keep_key(key, "same", known.name, named)
            for key in form.parts if form.sense == "person" else ():
                self._keep_key(key, "part", known.name, named)
        elif form.key != known.identity.key:
            self._keep_key(form.key, "alias", form.name, known)

    def _keep_key(self, key: str, rule: str, name: str, known: Known) -> None:
        if key == known.identity.key and rule != "own":
            return
        made = replace(known, called=key, rule=rule, name=name)  # type: ignore[arg-type]
        for place, one in enumerate(self._known[key]):
            if one.identity == made.identity:
                is_known = one.id is not None or (key, one.identity) in self._learned
                if is_known and one.kind == made.kind and _FIRMNESS[one.rule] <= _FIRMNESS[rule]:
                    return
                self._known[key][place] = made
                break
        else:
            self._known[key].append(made)
        self._learned[key, made.identity] = made


def _doubtful(fitting: Sequence[Known]) -> Sequence[Known]:
    """Return the meanings between which neighbours must tell; none where one is plain."""
    return () if _plain(fitting) else fitting


def _plain(fitting: Sequence[Known]) -> Known | None:
    """Return the one meaning that needs no support: what people merged, or the only firm one."""
    firm = [one for one in fitting if one.rule != "part"]
    by_hand = [one for one in firm if one.into]
    if len(by_hand) == 1:
        return by_hand[0]
    if len(firm) == 1 and (len(fitting) == 1 or firm[0].rule == "own"):
        return firm[0]
    return None
