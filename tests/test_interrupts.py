"""Ctrl-C that waits: the first is noted, a second stops; where it is ignored it stays so."""

from __future__ import annotations

import os
import signal
import sys
import threading

import pytest

from neocc._interrupts import first_waits

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is sent by signal")


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def usual():
    before = signal.getsignal(signal.SIGINT)
    yield before
    signal.signal(signal.SIGINT, before)


def test_the_first_is_noted_and_the_second_stops(usual, capfd):
    noted = []

    def twice():
        with first_waits(lambda: noted.append(1), "writing"):
            interrupt()
            noted.append(2)
            interrupt()

    with pytest.raises(KeyboardInterrupt):
        twice()
    assert noted == [1, 2]
    assert "Interrupted; writing." in capfd.readouterr().err
    assert signal.getsignal(signal.SIGINT) is usual


def test_what_is_ignored_stays_ignored(usual):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    noted = []
    with first_waits(lambda: noted.append(1), "writing"):
        interrupt()
    assert not noted
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_other_threads_are_left_alone():
    def run():
        with first_waits(lambda: None, "writing"):
            done.append(1)

    done = []
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert done == [1]
