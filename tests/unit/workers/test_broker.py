"""The broker without a database: what it declares, and how it counts what may begin."""

import threading
from uuid import UUID, uuid4

import pytest
from dramatiq.broker import MessageProxy
from dramatiq.middleware import AsyncIO

from memorybank.errors import DatabaseUnavailable
from memorybank.operations import Kind
from memorybank.settings import load
from memorybank.storage.workers import Doorbell, Rung
from memorybank_workers.actors import declare
from memorybank_workers.broker import DoorbellConsumer, PostgresBroker, Slots

SETTINGS = load(environ={}).worker
#: Kinds that are only the sum of their parts.
BATCHES = {Kind.BATCH_RETAIN}


class FakeBell(Doorbell):
    """A doorbell without a server."""

    def __init__(self, *waiting: UUID) -> None:
        self.waiting = list(waiting)
        self.asked: list[int] = []
        self.returned: list[UUID] = []
        self.broken = False

    def ring(self, kinds: object, limit: int, rering_seconds: float) -> list[Rung]:
        if self.broken:
            raise DatabaseUnavailable("gone")
        self.asked.append(limit)
        taken, self.waiting = self.waiting[:limit], self.waiting[limit:]
        return [Rung(one, "retain") for one in taken]

    def wait(self, seconds: float) -> bool:
        return False

    def give_back(self, ids: object) -> None:
        self.returned.extend(ids)  # type: ignore[call-overload]

    def close(self) -> None:
        pass


def consumer(bell: Doorbell, slots: Slots, draining: threading.Event | None = None) -> DoorbellConsumer:
    return DoorbellConsumer(bell, ["retain"], slots, draining or threading.Event(), SETTINGS, 0.01)


def took(one: DoorbellConsumer) -> MessageProxy:
    message = next(one)
    assert message is not None
    return message


def test_every_kind_of_work_has_an_actor() -> None:
    broker = PostgresBroker(SETTINGS)
    broker.add_middleware(AsyncIO())

    async def work(_: UUID) -> None:
        """Nothing."""

    declare(broker, work)
    assert broker.get_declared_actors() == {kind.value for kind in Kind} - BATCHES
    assert broker.get_declared_queues() == {"operations"}
    message = broker.get_actor("retain").message(str(uuid4()))
    assert broker.enqueue(message) is message


def test_no_more_is_taken_than_can_begin() -> None:
    ids = [uuid4() for _ in range(3)]
    bell, slots = FakeBell(*ids), Slots(2)
    one = consumer(bell, slots)
    first, second = took(one), took(one)
    assert [first.args, second.args] == [(str(ids[0]),), (str(ids[1]),)]
    assert (first.actor_name, first.queue_name) == ("retain", "operations")
    assert next(one) is None
    one.ack(first)
    assert took(one).args == (str(ids[2]),)
    assert bell.asked == [2, 1]


def test_slots_outlive_a_consumer_and_its_unbegun_work_goes_back() -> None:
    ids = [uuid4() for _ in range(3)]
    bell, slots = FakeBell(*ids), Slots(3)
    one = consumer(bell, slots)
    begun, queued = took(one), took(one)
    one.requeue([queued])
    one.close()
    assert bell.returned == ids[1:]
    assert slots.free(0) == 2
    consumer(bell, slots).nack(begun)
    assert slots.free(0) == 3


def test_who_drains_takes_nothing() -> None:
    draining = threading.Event()
    bell = FakeBell(uuid4())
    one = consumer(bell, Slots(1), draining)
    draining.set()
    assert next(one) is None
    assert bell.asked == []


def test_a_lost_server_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memorybank_workers.broker.RECONNECT_SECONDS", 0.01)
    bell = FakeBell(uuid4())
    one = consumer(bell, Slots(1))
    bell.broken = True
    assert next(one) is None
    bell.broken = False
    assert took(one) is not None
