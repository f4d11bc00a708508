"""Files to keep: parts of a form, and what is said of each."""

from typing import Annotated

from fastapi import UploadFile
from pydantic import Field, Json

from memorybank.audience import AudienceKind
from memorybank.serve.http.schemas.memories import AboutItem, DataLevel
from memorybank.serve.http.schemas.wire import WireRequest, WireResponse


class FileMetadata(AboutItem):
    """What is said of one file; all of it reaches its document and facts."""

    parser: str | list[str] | None = None


class FileRetainRequest(WireRequest):
    """What is said of the files, in their order; of all at once the parser, and for whom they are, as of a retain."""

    parser: str | list[str] | None = None
    files_metadata: list[FileMetadata] | None = None
    place: str | None = None
    audience: AudienceKind | None = None
    data_level: DataLevel | None = None


class FileRetainForm(WireRequest):
    """The parts of the form: the files, and as JSON what is said of them."""

    files: Annotated[
        list[UploadFile], Field(description="Text, Markdown, HTML, CSV, JSON, PDF, Word, Excel, PowerPoint.")
    ]
    request: Json[FileRetainRequest]


class FileRetainResponse(WireResponse):
    """The operation of each file, in order."""

    operation_ids: list[str]
