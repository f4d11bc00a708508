"""How this process writes its log: to stderr, for people or for machines."""

import logging
import sys

import structlog

from memorybank.settings import LogSettings

#: Libraries that tell every request or start at level info: from them only what went wrong.
CHATTY = ("httpx", "httpcore", "uvicorn", "dramatiq", "LiteLLM", "asyncio")


def configure(settings: LogSettings) -> None:
    """Send structlog and the standard library's loggers to stderr, at one level and in one format."""
    level = logging.getLevelNamesMapping()[settings.level.upper()]
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_formatter(settings.format, shared))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in CHATTY:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    logging.captureWarnings(True)


def _formatter(form: str, foreign: list[structlog.typing.Processor]) -> logging.Formatter:
    """Return what writes a record: a line for people, or a JSON object with the same fields."""
    if form == "json":
        last: list[structlog.typing.Processor] = [
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ]
    else:
        # The other renderers of a traceback print the variables of each frame: texts of banks, and questions.
        plain = structlog.dev.plain_traceback
        last = [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=foreign,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
    )
