"""Files: stored with their operation, read as text by a worker, and then retained as any other content.

An operation has two lives under one id. Its payload first names a file; the round that has read it puts the content
there, forgets the bytes in the same transaction, and the next round retains it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from memorybank import clock
from memorybank.errors import BadRequest, Blocked, Conflict, InvalidInput
from memorybank.ids import new_id
from memorybank.model import Bank, FileUpload, RetainItem
from memorybank.operations import Kind, Outcome
from memorybank.retain import intake, payload
from memorybank.retain.conversion import Converter
from memorybank.retain.payload import Batch, DocumentPart
from memorybank.retain.stage import Retain, aside, left_out
from memorybank.rounds import Round
from memorybank.settings import FileSettings
from memorybank.storage import banks, operations, retains, uploads
from memorybank.storage.operations import NewOperation
from memorybank.storage.uploads import NewUpload

MEGABYTE = 2**20
#: Where what is said of a file stands in a request.
PLACE = ("body", "request", "files_metadata")
#: What a file without a name is called, and how much of a name is kept.
UNNAMED = "file"
MAX_NAME_CHARS = 255


@dataclass(frozen=True)
class Files:
    """The stage before retain."""

    retain: Retain
    converter: Converter
    settings: FileSettings

    async def submit(self, bank: Bank, audience_id: int, files: Sequence[FileUpload]) -> tuple[UUID, ...]:
        """Store files and queue their reading: one operation each, in order.

        Raises InvalidInput or BadRequest, naming file and field, and Blocked where the bank's memory defense refuses
        what is said of one of them: then none is taken.
        """
        self._check_size(files)
        named = [replace(file.about, content=file.name.strip()[:MAX_NAME_CHARS] or UNNAMED) for file in files]
        accepted = intake.accept(named, self.retain.limits(bank), PLACE)
        if accepted.violations:
            raise Blocked([vars(violation) for violation in accepted.violations])
        intake.refuse_repeated_documents(accepted.items)
        made = [_operation(bank, audience_id, item) for item in accepted.items]
        async with self.retain.database.transaction() as connection:
            await operations.submit(connection, made)
            for operation, file in zip(made, files, strict=True):
                stored = NewUpload(operation.id, bank.id, audience_id, file.content)
                await uploads.add(connection, stored)
        return tuple(operation.id for operation in made)

    def _check_size(self, files: Sequence[FileUpload]) -> None:
        own = self.settings
        if not 0 < len(files) <= own.max_files:
            raise BadRequest(f"1 to {own.max_files} files in one request, got {len(files)}")
        if sum(len(file.content) for file in files) > own.max_total_mb * MEGABYTE:
            raise BadRequest(f"at most {own.max_total_mb} MB of files in one request")

    async def work(self, round_: Round) -> Outcome:
        """Do a round of one operation: the handler of `Kind.FILE_CONVERT_RETAIN`."""
        if "file" not in round_.claim.payload:
            return await self.retain.work(round_)
        operation = round_.claim.lease.operation_id
        try:
            told, omitted = await self._read(round_)
        except InvalidInput:
            # What could not be read now cannot be read later: the bytes would lie here for nothing.
            async with round_.writing() as connection:
                await uploads.delete(connection, operation)
            raise
        async with round_.writing() as connection:
            await retains.set_payload(connection, operation, told)
            await retains.set_result(connection, operation, omitted)
            await uploads.delete(connection, operation)
            await round_.report(connection, "conversion", 0, None)
        return Outcome(more=True)

    async def _read(self, round_: Round) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return the payload of a retain of the file's text, and what was left out of it.

        Raises InvalidInput, which says what is wrong with it.
        """
        claim = round_.claim
        name, told = claim.payload["file"], payload.from_json(claim.payload)
        assert isinstance(told, Batch)
        async with self.retain.database.connection() as connection:
            bank = await banks.by_number(connection, claim.bank)
            content = await uploads.content(connection, claim.lease.operation_id)
        if content is None:
            raise Conflict(f"file '{name}' is no longer kept, because it could not be read: send it again")
        [part] = told.documents
        item = replace(part.items[0], content=await self.converter.text(name, content))
        try:
            accepted = await aside([item], intake.accept, [item], self.retain.limits(bank))
        except Blocked as error:
            raise InvalidInput(f"file '{name}' is {error.violations[0]['message']}") from error
        except InvalidInput as error:
            raise InvalidInput(f"file '{name}': its text cannot be kept: {error.message}") from error
        read = replace(told, documents=(replace(part, items=accepted.items),))
        return payload.to_json(read), left_out(accepted)


def _operation(bank: Bank, audience_id: int, item: RetainItem) -> NewOperation:
    """Return the operation that reads a file; its name stands in for the content until there is any."""
    document_id = item.document_id or f"file_{new_id()}"
    part = DocumentPart(document_id, (item,))
    told = payload.to_json(Batch(clock.now(), item.strategy, (part,)))
    return NewOperation(
        id=new_id(),
        bank=bank.id,
        audience_id=audience_id,
        kind=Kind.FILE_CONVERT_RETAIN,
        payload=told | {"file": item.content},
        serial_keys=(document_id,),
        items_count=1,
        result={"items_count": 1, "document_id": document_id, "filename": item.content},
    )
