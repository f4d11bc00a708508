"""A process of the installation: for each line on standard input (ensure, stop) one line of JSON."""

import json
import sys
from pathlib import Path

from memorybank.errors import MemoryBankError
from memorybank.storage.embedded import EmbeddedServer


def main(home: str) -> None:
    server = EmbeddedServer(Path(home))
    for line in sys.stdin:
        answer: dict[str, object] = {}
        try:
            if line.strip() == "ensure":
                answer["conninfo"] = server.ensure()
            else:
                server.stop()
        except MemoryBankError as error:
            answer["error"] = error.message
        print(json.dumps(answer | {"owner": server.owner}), flush=True)


main(sys.argv[1])
