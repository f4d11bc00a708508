"""What `memorybank up` runs, and that it answers at once."""

import time

import httpx
from bank_calls import Bank, Running, good


def test_up_runs_a_database_an_api_and_a_worker(server: Running) -> None:
    commands = [" ".join(process.cmdline()) for process in server.home.processes()]
    assert any("memorybank_workers" in command for command in commands)
    assert any("postgres" in command for command in commands)


def test_health_says_what_answers(http: httpx.Client) -> None:
    health = good(http.get("/health"))
    assert (health["status"], health["database"], health["engine"]) == ("healthy", "connected", "extractive")
    assert good(http.get("/health/ready"))["status"] == "healthy"
    assert good(http.get("/health/live"))["status"] == "alive"


def test_metrics_count_requests_by_route_and_name_no_bank(http: httpx.Client, bank: Bank) -> None:
    bank.retain("Ana lives in Graz.")
    answer = http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert 'endpoint="/v1/default/banks/{bank_id}/memories"' in answer.text
    assert "hindsight_http_requests_total" in answer.text
    assert bank.id not in answer.text


def test_an_answer_waits_for_no_delayed_acknowledgement(http: httpx.Client) -> None:
    def seconds() -> float:
        began = time.perf_counter()
        good(http.get("/health/live"))
        return time.perf_counter() - began

    # The quickest of many: a busy machine delays some; Nagle's algorithm would delay each by 40 ms.
    assert min(seconds() for _ in range(30)) < 0.03
