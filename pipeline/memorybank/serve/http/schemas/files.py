"""Files to keep: parts of a form, and what is said of each."""

from typing import Annotated

from fastapi import UploadFile
from pydantic import Field, Json

from memorybank.serve.http.schemas.memories import AboutItem
from memorybank.serve.http.schemas.wire import WireRequest, WireResponse


class FileMetadata(AboutItem):
    """What is said of one file; all of it reaches its document and facts."""

    parser: str | list[str] | None = None


class FileRetainRequest(WireRequest):
    """What is said of the files, in their order; nothing of it is said of all at once but the parser."""

    parser: str | list[str] | None = None
    files_metadata: list[FileMetadata] | None = None


class FileRetainForm(WireRequest):
    """The parts of the form: the files, and as JSON what is said of them."""

    files: Annotated[
        list[UploadFile], Field(description="Text, Markdown, HTML, CSV, JSON, PDF, Word, Excel, PowerPoint.")
    ]
    request: Json[FileRetainRequest]


class FileRetainResponse(WireResponse):
    """The operation of each file, in order."""

    operation_ids: list[str]
