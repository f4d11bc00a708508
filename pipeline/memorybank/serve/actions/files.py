"""Files as content."""

from typing import Annotated

from fastapi import Form

from memorybank.audience import Principal
from memorybank.errors import BadRequest, NotFound
from memorybank.memory import MemoryBank
from memorybank.model import FileUpload
from memorybank.serve.actions.translate import about_item, check_level
from memorybank.serve.calls import BANK, Rule, call
from memorybank.serve.http.schemas.files import (
    FileMetadata,
    FileRetainForm,
    FileRetainRequest,
    FileRetainResponse,
)

#: The one parser there is.
PARSER = "markitdown"


@call("POST", BANK + "/files/retain", command="retain-files", rule=Rule.USES)
async def file_retain(
    memory: MemoryBank,
    principal: Principal,
    bank_id: str,
    body: Annotated[FileRetainForm, Form(media_type="multipart/form-data")],
) -> FileRetainResponse:
    """Keep files, in the background: each is read as text, which is kept like any other content, for whom it says."""
    if not memory.settings.files.enabled:
        raise NotFound("sending files is switched off (files.enabled)")
    said = _said(body.request, len(body.files))
    for level in (body.request.data_level, *(about.data_level for about in said)):
        check_level(level, ("body", "request", "data_level"))
    audience = await memory.audience_at(principal, bank_id, body.request.place, body.request.audience)
    files = [
        FileUpload(file.filename or "", await file.read(), about_item(about))
        for file, about in zip(body.files, said, strict=True)
    ]
    queued = await memory.submit_files(bank_id, files, audience)
    return FileRetainResponse(operation_ids=[str(id_) for id_ in queued])


def _said(request: FileRetainRequest, count: int) -> list[FileMetadata]:
    """Return what is said of each file; raises BadRequest where that is not clear."""
    misplaced = sorted(FileMetadata.model_fields.keys() & (request.model_extra or {}).keys())
    if misplaced:
        raise BadRequest(f"{', '.join(misplaced)}: belongs into files_metadata, one entry for each file")
    said = request.files_metadata
    if said is None:
        said = [FileMetadata() for _ in range(count)]
    if len(said) != count:
        raise BadRequest(f"files_metadata has {len(said)} entries for {count} files")
    for parser in (request.parser, *(about.parser for about in said)):
        if parser is not None and PARSER not in ([parser] if isinstance(parser, str) else parser):
            raise BadRequest(f"parser {parser!r} is not known; there is {PARSER!r}")
    return said
