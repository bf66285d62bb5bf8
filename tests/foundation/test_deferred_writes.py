from threading import Event, Thread

import pytest
from django.db import DatabaseError, connection

from foundation import deferred_writes


def test_without_an_answer_to_wait_for_it_is_done_at_once() -> None:
    done: list[str] = []
    deferred_writes.defer(lambda: done.append("written"))
    assert done == ["written"]


def test_it_is_done_once_and_in_order_when_the_answer_has_gone_out() -> None:
    done: list[int] = []
    with deferred_writes.collect() as deferred:
        for number in range(3):
            deferred_writes.defer(lambda number=number: done.append(number))  # type: ignore[misc]
    assert deferred and done == []
    deferred.run()
    deferred.run()
    assert done == [0, 1, 2]


def test_of_an_answer_that_failed_no_write_is_deferred() -> None:
    done: list[str] = []

    def fail() -> None:
        with deferred_writes.collect():
            deferred_writes.defer(lambda: done.append("written"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert done == [] and deferred_writes.wait_until_done(within=0)


def test_what_fails_takes_nothing_else_along_and_is_told_without_its_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    done: list[str] = []

    def failing() -> None:
        raise DatabaseError("Failing row contains (plum cake)")

    with deferred_writes.collect() as deferred:
        deferred_writes.defer(failing)
        deferred_writes.defer(lambda: done.append("written"))
    deferred.run()
    assert done == ["written"]
    assert "DatabaseError" in caplog.text and "plum" not in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_was_lost_takes_nothing_else_along(
    caplog: pytest.LogCaptureFixture,
) -> None:
    done: list[str] = []

    def lose() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    def write(name: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        done.append(name)

    def on_a_closed_one() -> None:
        connection.connection.close()
        write("never")

    with deferred_writes.collect() as deferred:
        for act in (lose, lambda: write("second"), on_a_closed_one, lambda: write("fourth")):
            deferred_writes.defer(act)
    deferred.run()
    assert done == ["second", "fourth"]
    assert "InterfaceError" in caplog.text or "OperationalError" in caplog.text


def test_a_defect_is_told_and_nothing_stays_owed() -> None:
    with deferred_writes.collect() as deferred:
        deferred_writes.defer(lambda: 1 / 0)  # type: ignore[arg-type]
        deferred_writes.defer(lambda: None)
    with pytest.raises(ZeroDivisionError):
        deferred.run()
    assert deferred_writes.wait_until_done(within=0)


def test_who_stops_waits_for_what_is_owed_and_not_for_ever() -> None:
    go, done = Event(), Event()

    def slow() -> None:
        go.wait()
        done.set()

    with deferred_writes.collect() as deferred:
        deferred_writes.defer(slow)
    assert not deferred_writes.wait_until_done(within=0)
    thread = Thread(target=deferred.run)
    thread.start()
    assert not deferred_writes.wait_until_done(within=0)
    go.set()
    assert deferred_writes.wait_until_done(within=60) and done.is_set()
    thread.join()
