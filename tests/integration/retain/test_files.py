"""Files as content: what is said of them arrives, each is read and kept once, and their bytes do not stay."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import pytest
from file_samples import docx
from retain_world import AT, World

from memorybank import rounds
from memorybank.audience import Viewer
from memorybank.errors import BadRequest, Blocked, InvalidInput
from memorybank.liveness import Worker
from memorybank.model import FileUpload, RetainItem
from memorybank.operations import Kind, Status
from memorybank.retain.conversion import Converter
from memorybank.retain.files import Files
from memorybank.storage import banks, operations
from memorybank.storage.operations import OperationRecord

TEXT = "Ana moved the release to Friday.\n\nBert keeps bees."
KEY = "ghp_" + "a8Kd93jfLq02ZmXc7VbN"


@dataclass
class Stub:
    """Gives what it was told to, once each, then the same text; an error is raised."""

    says: list[str | Exception] = field(default_factory=list)
    calls: int = 0

    async def text(self, name: str, content: bytes) -> str:
        self.calls += 1
        said = self.says.pop(0) if self.says else TEXT
        if isinstance(said, Exception):
            raise said
        return said


@dataclass
class Office:
    """The stage in a bank, with a converter."""

    world: World
    converter: Stub | Converter

    @property
    def stage(self) -> Files:
        return Files(self.world.retain, self.converter, self.world.settings.files)

    async def submit(self, *files: FileUpload) -> Sequence[UUID]:
        return await self.stage.submit(self.world.bank, self.world.audience, files)

    async def round(self, operation: UUID) -> OperationRecord:
        """Do one round and return the operation after it."""
        worker = Worker(self.world.database, self.world.settings.worker)
        handlers = {Kind.FILE_CONVERT_RETAIN: self.stage.work}
        await rounds.run(self.world.database, handlers, operation, worker, self.world.settings.worker)
        return await self.world.operation(operation)

    async def keep(self, file: FileUpload) -> OperationRecord:
        """Submit a file and work until it has ended."""
        [operation] = await self.submit(file)
        for _ in range(5):
            if (record := await self.round(operation)).status.terminal:
                return record
        raise AssertionError(record)


@pytest.fixture
def office(world: World) -> Office:
    return Office(world, Stub())


def file(name: str = "notes.md", content: bytes = b"bytes", **about: object) -> FileUpload:
    return FileUpload(name, content, replace(RetainItem("", AT), **about))


async def test_what_is_said_of_a_file_reaches_its_document_and_facts(office: Office, world: World) -> None:
    office.converter = Converter(world.settings.files, world.settings.retain.max_item_chars)
    said = {"document_id": "report", "tags": ("x", "y"), "metadata": {"page": "7"}, "context": "stand-up"}
    record = await office.keep(file("report.docx", docx(*TEXT.split("\n\n")), **said))
    assert (record.status, record.kind, record.error_message) == (
        Status.COMPLETED,
        "file_convert_retain",
        None,
    )
    assert (record.result["filename"], record.result["document_id"]) == ("report.docx", "report")
    assert record.result["unit_ids_count"] == 2
    units = await world.rows(
        "SELECT tags, metadata, context, mentioned_at FROM memory_unit ORDER BY mentioned_at"
    )
    assert [(unit["tags"], unit["metadata"], unit["context"]) for unit in units] == [
        (["x", "y"], {"page": "7"}, "stand-up")
    ] * 2
    assert units[0]["mentioned_at"] == AT
    [document] = await world.rows("SELECT id, tags, metadata, original_text FROM document")
    assert document == {"id": "report", "tags": ["x", "y"], "metadata": {"page": "7"}, "original_text": TEXT}
    assert await world.count("upload") == 0


async def test_a_file_is_read_in_one_round_and_kept_in_the_next(office: Office, world: World) -> None:
    [operation] = await office.submit(file())
    [waiting] = await world.rows("SELECT payload::text AS payload, serial_keys FROM operation")
    assert await world.count("upload") == 1 and "bytes" not in waiting["payload"]
    assert waiting["serial_keys"][0].startswith("file_")
    read = await office.round(operation)
    assert (read.status, read.progress.stage) == (Status.PENDING, "conversion")
    assert await world.count("upload") == 0 and await world.count("memory_unit") == 0
    assert (await office.round(operation)).status is Status.COMPLETED
    assert (await world.count("memory_unit"), office.converter.calls) == (2, 1)
    assert (await office.round(operation)).status is Status.COMPLETED
    assert await world.count("memory_unit") == 2


async def test_a_crash_while_reading_costs_one_more_reading_and_no_double(
    office: Office, world: World
) -> None:
    [operation] = await office.submit(file())
    office.converter.says = [RuntimeError("the process broke off")]
    with pytest.raises(RuntimeError):
        await office.round(operation)
    assert (await world.operation(operation)).status is Status.PENDING
    assert await world.count("upload") == 1
    await world.rows("UPDATE operation SET due_at = now() RETURNING id")
    await office.round(operation)
    assert (await office.round(operation)).status is Status.COMPLETED
    assert (await world.count("memory_unit"), office.converter.calls) == (2, 2)


async def test_who_lost_the_lease_while_reading_writes_nothing(office: Office, world: World) -> None:
    [operation] = await office.submit(file())

    class Slow(Stub):
        async def text(self, name: str, content: bytes) -> str:
            await world.rows(
                "UPDATE operation SET status = 'pending', lease_token = NULL, lease_expires_at = NULL RETURNING id"
            )
            return "Nobody may keep this."

    slow = Office(world, Slow())
    assert (await slow.round(operation)).status is Status.PENDING
    assert await world.count("upload") == 1
    await office.round(operation)
    assert (await office.round(operation)).status is Status.COMPLETED
    assert "Nobody may keep this." not in await world.texts()


async def test_what_cannot_be_read_fails_with_the_reason_and_its_bytes_go(
    office: Office, world: World
) -> None:
    office.converter.says = [InvalidInput("file 'notes.md' was not read: it is damaged")]
    record = await office.keep(file())
    assert (record.status, record.error_message) == (
        Status.FAILED,
        "file 'notes.md' was not read: it is damaged",
    )
    assert await world.count("upload") == 0
    async with world.database.transaction() as connection:
        await operations.retry(connection, world.bank.id, record.id, Viewer.operator())
    again = await office.round(record.id)
    assert again.status is Status.FAILED and "send it again" in again.error_message


async def test_a_text_that_is_too_long_fails_and_says_so(office: Office, world: World) -> None:
    office.converter.says = ["x" * (world.settings.retain.max_item_chars + 1)]
    record = await office.keep(file())
    assert record.status is Status.FAILED and "at most 2000000 characters" in record.error_message
    assert await world.count("upload") == 0


async def test_files_pass_the_same_screening(office: Office, world: World) -> None:
    office.converter.says = [f"Deploy with {KEY} on Friday."]
    await office.keep(file(context=f"from {KEY}"))
    assert await world.texts() == ["Deploy with [REDACTED:github_token] on Friday."]
    assert KEY not in str(await world.rows("SELECT * FROM operation, document, chunk"))
    rules = [{"on": "sensitive_data", "action": "block"}]
    await world.configure(memory_defense={"enabled": True, "rules": rules})
    office.converter.says = [f"Deploy with {KEY} on Friday."]
    record = await office.keep(file())
    assert record.status is Status.FAILED
    assert "blocked by the bank's memory_defense: github_token" in record.error_message
    with pytest.raises(Blocked):
        await office.submit(file(), file(context=KEY))


@pytest.mark.parametrize(
    ("files", "error"),
    [
        ([], BadRequest),
        ([file()] * 11, BadRequest),
        ([file(content=b"x" * 60 * 2**20)] * 2, BadRequest),
        ([file(document_id="d"), file(document_id="d")], BadRequest),
        ([file(), file(tags=("t" * 513,))], InvalidInput),
        ([file(), file(document_id="..")], InvalidInput),
    ],
)
async def test_a_refused_request_keeps_nothing(
    office: Office, world: World, files: list[FileUpload], error: type[InvalidInput]
) -> None:
    with pytest.raises(error) as caught:
        await office.submit(*files)
    if error is InvalidInput:
        assert caught.value.loc[:4] == ("body", "request", "files_metadata", 1)
    assert (await world.count("operation"), await world.count("upload")) == (0, 0)


async def test_the_files_of_a_bank_go_with_it(office: Office, world: World) -> None:
    await office.submit(file(), file())
    assert await world.count("upload") == 2
    async with world.database.transaction() as connection:
        await banks.delete(connection, world.bank.bank_id)
    assert (await world.count("upload"), await world.count("operation")) == (0, 0)


@pytest.mark.parametrize("name", ["", "  ", "a\x00b\ud83d.md", "/etc/passwd", "..", "-x", "n" * 5000])
async def test_any_name_will_do(office: Office, world: World, name: str) -> None:
    office.converter = Converter(world.settings.files, world.settings.retain.max_item_chars)
    record = await office.keep(file(name, TEXT.encode()))
    assert record.status is Status.COMPLETED
    assert 0 < len(record.result["filename"]) <= 255


async def test_what_was_recalled_into_a_page_is_left_out_and_counted(office: Office, world: World) -> None:
    own = world.settings.retain
    office.converter = Converter(world.settings.files, own.max_item_chars, own.recalled_tags)
    page = (
        b"<p>Ada moved to Graz.</p><hindsight_memories>Ben has a boat.</hindsight_memories><p>Eva left.</p>"
    )
    record = await office.keep(file("page.html", page))
    assert (record.status, record.result["recalled_blocks"]) == (Status.COMPLETED, 1)
    [document] = await world.rows("SELECT original_text FROM document")
    assert "Ada moved to Graz." in document["original_text"] and "boat" not in document["original_text"]
