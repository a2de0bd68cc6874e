"""Noise and batches are of one process, and threads take turns."""

import concurrent.futures
import copy
import multiprocessing
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback

import numpy as np
import pytest
from conftest import PROGRAMS, program_of

import mafalda
from mafalda import _protocol as protocol
from mafalda._process import Owner


def in_child(work, code=0):
    """What work returns, or raises, in a fork of this process, as text; the code that it ends with."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = str(work())
        except mafalda.ProcessError as e:
            said = f"ProcessError: {e}"
        except BaseException:
            said = traceback.format_exc()
        os.write(writes, said.encode()[:60000])
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as f:
        said = f.read().decode()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == code
    return said


def test_an_owner_is_one_process(monkeypatch):
    owner = Owner("this sampler")
    owner.check()
    assert owner.here
    said = in_child(owner.check)
    assert said.startswith(f"ProcessError: this sampler is of process {os.getpid()}, and this is process ")
    made = in_child(lambda: Owner().check())
    assert made == "None"
    mine = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: mine)  # as in a process namespace of its own, where the number is the parent's
    assert in_child(owner.check).startswith("ProcessError")


@pytest.mark.parametrize("way", [pickle.dumps, copy.copy, copy.deepcopy])
def test_an_owner_is_not_copied(way):
    with pytest.raises(mafalda.ProcessError, match="cannot be copied"):
        way(Owner())


@pytest.mark.parametrize("way", [pickle.dumps, copy.copy, copy.deepcopy])
def test_nothing_that_hands_out_rows_or_batches_is_copied(out, tmp_path, way):
    """It was a TypeError, or a second one that handed out the same."""
    plan = mafalda.load(out)
    kinds = [plan.noise("a", 4, seed=1), plan.sampler(30, node="a"), plan.sampler(30, node="a", state=tmp_path / "batches")]
    try:
        import torch

        sgd = torch.optim.SGD(torch.nn.Linear(3, 1).parameters(), lr=0.1)
        kinds.append(plan.make_private(sgd, node="a", seed=1, sampler=kinds[1]))
    except ImportError:
        pass
    for one in kinds:
        with pytest.raises(mafalda.ProcessError, match="cannot be copied"):
            way(one)


@pytest.fixture(params=["simulated", *PROGRAMS])
def noise(request, out, tmp_path):
    """Noise of 1,000 parameters and 12 steps, by all ways."""
    plan = mafalda.load(out)
    if request.param == "simulated":
        yield plan.noise("a", 1000, seed=1)
        return
    with plan.noise("a", 1000, state=tmp_path / "state", binary=program_of(request.param, tmp_path)) as served:
        yield served


USES = {
    "row": lambda noise: noise.row(),
    "the same row": lambda noise: noise.row(0),
    "a block": lambda noise: next(noise.blocks(1, size=10)),
    "an iteration": lambda noise: next(iter(noise)),
    "skip": lambda noise: noise.skip(),
    "skip_to": lambda noise: noise.skip_to(3),
    "sending": lambda noise: noise.sending(0, b"x"),
    "recover": lambda noise: noise.recover(),
}


def test_a_fork_gets_no_row(noise):
    """Parent and child once got the same row."""
    first = noise.row(0)
    for name, use in USES.items():
        assert in_child(lambda: use(noise)).startswith("ProcessError: the noise of 'a' is of process "), name
    assert noise.place == mafalda.Place(1, 0, None, ()) and (noise.row(0) == first).all()
    assert not (noise.row(1) == first).any()


def test_a_fork_in_the_middle_of_a_row(noise):
    parts = noise.blocks(0, size=300)
    start = next(parts)
    assert in_child(lambda: next(parts)).startswith("ProcessError")
    whole = np.concatenate([part for _, part in [start, *parts]])
    assert (whole == noise.row(0)).all()


def test_parent_and_child_ask_at_once(noise):
    """Answers were mixed, and wrong rows accepted, 1 of 400."""
    first, second = noise.row(0), None
    children = []
    for _ in range(8):
        child = os.fork()
        if child == 0:
            refused = 0
            for _ in range(200):
                try:
                    noise.row(0)
                except mafalda.ProcessError:
                    refused += 1
            os._exit(0 if refused == 200 else 1)
        children.append(child)
        for _ in range(50):
            assert (noise.row(0) == first).all()
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
    assert noise.next == 1


def test_a_fork_ends_nothing(noise):
    """Closing, or leaving a with statement, in a child leaves the parent its connection and its server."""
    first = noise.row(0)
    assert in_child(noise.close) == "None"
    assert (noise.row(0) == first).all() and not (noise.row(1) == first).any()


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_a_process_of_multiprocessing(noise, way):
    first = noise.row(0)
    context = multiprocessing.get_context(way)
    with pytest.raises(mafalda.ProcessError):
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
            pool.submit(noise.row).result() if way == "spawn" else pool.submit(use_of_parent, keep(noise)).result()
    assert (noise.row(0) == first).all()


KEPT = []


def keep(noise):
    """For children, which have it by the fork."""
    KEPT[:] = [noise]
    return "row"


def use_of_parent(name):
    return getattr(KEPT[0], name)()


def in_threads(work, count=6):
    """What work(i) returns in so many threads at once."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return [f.result() for f in [pool.submit(work, i) for i in range(count)]]


def test_threads_get_rows_of_their_own(noise):
    """Six threads that take what comes next: no row comes to two of them."""

    def take(_):
        mine = []
        while True:
            try:
                mine.append(noise.row())
            except mafalda.StepError:
                return mine

    rows = [row for mine in in_threads(take) for row in mine]
    assert len(rows) == 12 and len({row.tobytes() for row in rows}) == 12


def test_threads_that_iterate(noise):
    taken = [pair for mine in in_threads(lambda _: list(noise)) for pair in mine]
    assert sorted(t for t, _ in taken) == list(range(12)) and len({row.tobytes() for _, row in taken}) == 12


def test_threads_that_ask_for_one_row(noise):
    """Answers were mixed, and wrong rows accepted, 1 of 360."""
    first = noise.row(0)

    def ask(i):
        for n in range(60):
            at = (37 * i + n) % 900
            part = np.concatenate([p for _, p in noise.blocks(0, size=40, offset=at, length=100)])
            if not (part == first[at : at + 100]).all() or not (noise.row(0) == first).all():
                return n
        return None

    assert in_threads(ask) == [None] * 6


PARENT = """
import os, sys, time, mafalda
noise = mafalda.load(sys.argv[1]).noise("a", 30, state=sys.argv[2], binary=sys.argv[3])
first = noise.row(0)
reads, writes = os.pipe()
child = os.fork()
if child == 0 and sys.argv[4] == "exits":
    sys.exit()  # with all that an interpreter does at its end
if sys.argv[4] == "exits":
    os.waitpid(child, 0)
    assert (noise.row(0) == first).all() and noise._server._process.poll() is None
    noise.close()
elif child == 0:
    os.write(writes, b"x")
    time.sleep(600)
else:
    os.read(reads, 1)  # it runs
    with open(sys.argv[2] + ".child", "w") as f:
        f.write(f"{child} {noise._server.socket}")
    os.kill(os.getpid(), 9)
"""


def parent(out, tmp_path, program, way):
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(mafalda.__file__))}
    return subprocess.run([sys.executable, "-c", PARENT, out, tmp_path / "state", program, way], env=environment).returncode


def test_the_end_of_a_fork_ends_no_server(out, tmp_path, program):
    assert parent(out, tmp_path, program, "exits") == 0


def test_a_fork_does_not_keep_the_state(out, tmp_path, program):
    """A worker that outlives its parent: the server ends with the parent, and the node goes on all the same."""
    assert parent(out, tmp_path, program, "stays") == -9
    child, server = (tmp_path / "state.child").read_text().split()
    child = int(child)
    try:
        os.kill(child, 0)
        until = time.monotonic() + 20
        while listens(server):
            assert time.monotonic() < until
            time.sleep(0.02)
        with mafalda.load(out).noise("a", 30, state=tmp_path / "state", binary=program) as noise:
            assert noise.next == 1
    finally:
        os.kill(child, 9)


def listens(path):
    with socket.socket(socket.AF_UNIX) as sock:
        return sock.connect_ex(path) == 0


def test_asked_in_a_signal_handler(out, tmp_path, program):
    """An answer that is awaited is not taken for another request's."""
    with mafalda.load(out).noise("a", 1000, state=tmp_path / "state", binary=program) as noise:
        first = noise.row(0)
        busy = []

        def interrupted(client):
            client._frames.send(b"row 0 float64 0 1000")
            client.idle = False
            try:
                noise.row(1)
            except mafalda.ServerError as e:
                busy.append(e.code)
                raise

        with pytest.raises(mafalda.ServerError):
            noise._try(interrupted)
        assert busy == ["busy"] and (noise.row(0) == first).all() and noise.next == 1


def test_a_signal_handler_does_not_disturb_the_row_it_interrupts(out, tmp_path, program, monkeypatch):
    """Once its refused request closed the connection under the reader, who got "read of closed file" for a row."""
    plan = mafalda.load(out)
    with plan.noise("a", 1000, state=tmp_path / "state", binary=program) as noise:
        first, said, receive = noise.row(0), [], protocol.Frames.receive_into

        def interrupted(frames, view):
            monkeypatch.setattr(protocol.Frames, "receive_into", receive)
            try:
                noise.row(1)
            except mafalda.ServerError as e:
                said.append(e.code)
            return receive(frames, view)

        monkeypatch.setattr(protocol.Frames, "receive_into", interrupted)
        assert (noise.row(0) == first).all() and said == ["busy"] and noise.next == 1


def test_a_signal_handler_can_close_the_noise(out, tmp_path, program):
    """Once that was a RuntimeError in the handler, which left the server running, or a new server for the row it interrupted."""
    noise = mafalda.load(out).noise("a", 1000, state=tmp_path / "state", binary=program)
    noise.row(0)
    server = noise._server._process

    def handler(*_):
        threading.Timer(0.2, server.send_signal, [signal.SIGCONT]).start()  # not before the connection has ended
        noise.close()

    before = signal.signal(signal.SIGALRM, handler)
    try:
        server.send_signal(signal.SIGSTOP)  # so that the handler comes while the answer is awaited
        os.waitpid(server.pid, os.WUNTRACED)  # until then its threads may still answer
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(mafalda.ServerError, match="was closed"):
            noise.row(1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert server.poll() is not None and noise._server._process is None
