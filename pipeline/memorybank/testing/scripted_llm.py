"""A model server that plays an OpenAI-compatible endpoint on loopback: it counts, and fails on demand.

In a test:

    with ScriptedLLM() as server:
        server.fail("rate_limited", times=2, seconds=0.1)
        ... llm.model "openai/scripted", llm.base_url server.base_url, llm.api_key "none" ...
        assert server.calls == 3

As a process: `python -m memorybank.testing.scripted_llm --port 9099 --latency 0.2`; then over HTTP GET /stats.
"""

import argparse
import contextlib
import json
import socket
import sys
import threading
import time
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from memorybank.testing.embedder import HashingEmbedder
from memorybank.testing.scripted_answers import Body, Said, answer, text_of
from memorybank.testing.scripted_faults import Fault, Outcome, right, wrong

#: Characters of a token, roughly, for the counts of the answers.
TOKEN_CHARACTERS = 4
#: Seconds after which a held or hanging call lets go by itself, so that no thread stays for ever.
_PATIENCE = 600.0
#: Words of a text that the embedding endpoint takes at most.
EMBEDDING_WORDS = 2000


class Gate:
    """Where answers wait: open for all, shut, or shut but for so many."""

    def __init__(self) -> None:
        self._left: int | None = None
        self._changed = threading.Condition()

    def shut(self) -> None:
        """Let nobody through from now on."""
        with self._changed:
            self._left = 0

    def open(self, times: int | None = None) -> None:
        """Let everybody through, or so many more."""
        with self._changed:
            self._left = None if times is None or self._left is None else self._left + times
            self._changed.notify_all()

    def pass_(self, seconds: float) -> None:
        """Wait to be let through, at most so long."""
        with self._changed:
            self._changed.wait_for(lambda: self._left != 0, seconds)
            if self._left:
                self._left -= 1


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # One packet for headers and body: otherwise each answer waits for a delayed acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: "_Server"

    def do_GET(self) -> None:
        if self.path.endswith("/models"):
            self._send(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})
        elif self.path == "/stats":
            self._send(200, self.server.told.stats())
        else:
            self._send(404, {"error": {"message": "no such path"}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if self.path.endswith("/chat/completions"):
            self._chat(body)
        elif self.path.endswith("/embeddings"):
            self._embed(body)
        elif self.path.endswith("/rerank"):
            self._rerank(body)
        else:
            self._send(404, {"error": {"message": "no such path"}})

    def _chat(self, body: Body) -> None:
        told = self.server.told
        said = answer(body)
        fault = told.received(body)
        outcome = wrong(fault, said, body) if fault else right(said, told.calls)
        told.wait_at_gate()
        if told.latency:
            time.sleep(told.latency)
        if outcome.way == "hang":
            told.stopping.wait(_PATIENCE)
        if outcome.way != "answer":
            self.close_connection = True
            with contextlib.suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)
        elif outcome.raw is not None:
            self._write(200, outcome.raw, {})
        elif outcome.error is not None:
            self._send(outcome.status, {"error": outcome.error}, outcome.headers)
        else:
            self._complete(body, said, outcome)

    def _complete(self, body: Body, said: Said, outcome: Outcome) -> None:
        asked = json.dumps([body.get("response_format"), body.get("tools")])
        asked += "".join(text_of(message) for message in body.get("messages", ()))
        prompt = tokens(asked)
        completion = tokens(json.dumps(outcome.message, ensure_ascii=False))
        self.server.told.count(said.kind, prompt, completion)
        usage = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
        choice = {"index": 0, "message": outcome.message, "finish_reason": outcome.finish}
        reply = {
            "id": "chatcmpl-scripted",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model", "scripted"),
            "choices": [choice],
            "usage": usage,
        }
        self._send(200, reply)

    def _fails(self, body: Body) -> bool:
        """Keep a request that is no chat, and answer with the HTTP error that it meets, if any."""
        fault = self.server.told.received(body)
        if "documents" in body:
            self.server.told.wait_at_gate()
        if fault:
            failed = wrong(fault, Said("", ""), body)
            self._send(failed.status, {"error": failed.error}, failed.headers)
        return fault is not None

    def _embed(self, body: Body) -> None:
        told = self.server.told
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if self._fails(body):
            return
        if any(len(text.split()) > EMBEDDING_WORDS for text in texts):
            words = f"This model's maximum context length is {EMBEDDING_WORDS} tokens"
            self._send(400, {"error": {"message": words, "code": "context_length_exceeded"}})
            return
        prompt = sum(tokens(text) for text in texts)
        told.count("embedding", prompt, 0)
        rows = HashingEmbedder().encode(texts).tolist()
        data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
        usage = {"prompt_tokens": prompt, "total_tokens": prompt}
        self._send(200, {"object": "list", "data": data, "model": body.get("model"), "usage": usage})

    def _rerank(self, body: Body) -> None:
        """Score each text by the share of the question's words that it holds, the best first."""
        told = self.server.told
        if self._fails(body):
            return
        told.count("rerank", sum(map(tokens, body["documents"])), 0)
        asked = _words(body["query"])
        shares = [len(asked & _words(text)) / len(asked) for text in body["documents"]]
        results = [{"index": index, "relevance_score": share} for index, share in enumerate(shares)]
        results.sort(key=lambda result: -result["relevance_score"])
        self._send(200, {"id": "rerank-scripted", "results": results, "usage": {"total_tokens": 1}})

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        self._write(status, json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"), headers or {})

    def _write(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        # The caller may have run out of patience.
        with contextlib.suppress(ConnectionError):
            self.send_response(status)
            for name, value in (
                {"content-type": "application/json", "content-length": str(len(data))} | headers
            ).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)
            self.wfile.flush()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing on the console."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, port: int, told: "ScriptedLLM") -> None:
        self.told = told
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of callers that were killed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def tokens(text: str) -> int:
    """Return about how many tokens a text has."""
    return (len(text) + TOKEN_CHARACTERS - 1) // TOKEN_CHARACTERS


def _words(text: str) -> set[str]:
    return set(text.casefold().replace("?", " ").replace(".", " ").split())


class ScriptedLLM:
    """The server in a thread of this process, what it was told and what it has seen; a context manager.

    `requests`: the bodies received, failed calls too, in order; `waiting`: answers that are held back.
    """

    def __init__(self, port: int = 0, latency: float = 0.0) -> None:
        """Bind `port` (0: any free one); `latency` in seconds is added to every completion."""
        self.latency = latency
        self.requests: list[Body] = []
        self.waiting = 0
        self.stopping = threading.Event()
        self._faults: list[Fault] = []
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._lock = threading.Lock()
        self._gate = Gate()
        self._server = _Server(port, self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._gate.open()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def address(self) -> str:
        """Return the address of the server."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def base_url(self) -> str:
        """Return the address to give as a model's base URL."""
        return f"{self.address}/v1"

    @property
    def calls(self) -> int:
        """Return how many calls came in, failed ones too."""
        return len(self.requests)

    def fail(self, kind: str, **how: Any) -> None:
        """Let fitting calls go wrong; see `Fault`. Faults are tried in the order in which they were added."""
        with self._lock:
            self._faults.append(Fault(kind, **how))

    def hold(self) -> None:
        """Hold all answers back from now on: calls arrive and wait."""
        self._gate.shut()

    def release(self, times: int | None = None) -> None:
        """Let the held answers go, and all after them; or just so many more."""
        self._gate.open(times)

    def reset(self) -> None:
        """Forget faults, requests and counts, and open the gate."""
        with self._lock:
            self._faults.clear()
            self.requests.clear()
            self._counts.clear()
        self._gate.open()

    def received(self, body: Body) -> Fault | None:
        """Keep a request and return the fault that it meets."""
        with self._lock:
            self.requests.append(body)
            fault = next((fault for fault in self._faults if fault.fits(body)), None)
            if fault is not None:
                fault.use_up()
            return fault

    def wait_at_gate(self) -> None:
        """Hold this answer until the gate is open."""
        with self._lock:
            self.waiting += 1
        self._gate.pass_(_PATIENCE)
        with self._lock:
            self.waiting -= 1

    def count(self, kind: str, prompt: int, completion: int) -> None:
        """Add one answered call to the counts."""
        with self._lock:
            self._counts[kind].update(calls=1, prompt_tokens=prompt, completion_tokens=completion)

    def stats(self) -> dict[str, Any]:
        """Return calls and tokens by kind and together, of answered calls."""
        with self._lock:
            by_kind = {kind: dict(count) for kind, count in self._counts.items()}
        total = Counter(calls=0, prompt_tokens=0, completion_tokens=0)
        for count in by_kind.values():
            total.update(count)
        return {"by_kind": by_kind, "total": total, "received": self.calls, "waiting": self.waiting}


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="A scripted model server on loopback.")
    parser.add_argument("--port", type=int, default=9099)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds added to every completion")
    arguments = parser.parse_args()
    with ScriptedLLM(arguments.port, arguments.latency) as server, contextlib.suppress(KeyboardInterrupt):
        server.stopping.wait()


if __name__ == "__main__":
    main()
