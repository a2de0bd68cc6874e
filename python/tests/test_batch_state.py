"""The state of batches: what a full disk, a crash, damage, a copy, a link or a second process can do to it."""

import errno
import linecache
import os
import random
import shutil
import subprocess
import sys

import pytest
from conftest import write
from test_process import in_child

import mafalda
from mafalda import _durable as durable

RECORDS = 40


@pytest.fixture
def plan(tmp_path):
    sampling = {"scheme": "poisson", "groups": 2, "probability": 0.5, "rounds": 6}
    privacy = {"epsilon": 2, "delta": 1e-6, "clip": 1.0, "adjacency": "zero-out", "noise_std": 1.0}
    return mafalda.load(write(tmp_path / "out", "identity", sampling=sampling, privacy=privacy))


def opened(plan, state, **options):
    return plan.sampler(RECORDS, node="a", state=state, **options)


def left(sampler):
    """The batches that a sampler would hand out, without handing them out."""
    return [sampler._batches.of(t).tolist() for t in range(sampler.next, sampler.steps)]


def test_nothing_is_handed_out_that_is_not_on_disk(plan, tmp_path, monkeypatch):
    """A disk that is full, or fails, from the n-th write on: for every n, no batch comes that a restart would give again
    with another one after it, and after the error none comes at all."""
    write_at, at = durable._write_at, []

    def failing(f, offset, content):
        if len(content) % durable.BLOCK:  # the note that the run has begun
            return write_at(f, offset, content)
        if at and at[0] == 0:
            f.seek(offset)
            f.write(content[: len(content) // 3])  # torn
            raise OSError(errno.ENOSPC, "no space left on device")
        if at:
            at[0] -= 1
        write_at(f, offset, content)

    monkeypatch.setattr(durable, "_write_at", failing)
    for n in range(12):
        state = tmp_path / f"state{n}"
        sampler = opened(plan, state, new=True)
        whole, had = left(sampler), []
        at[:] = [n]
        with pytest.raises(OSError, match="no space"):
            for t in range(6):
                had.append(sampler.batch(t).tolist())
        for t in range(12):  # not by asking again, nor for a later step
            with pytest.raises(mafalda.ExportError, match="could not be written"):
                sampler.batch(t) if t >= sampler.next else sampler.finish(t)
        at.clear()
        again = opened(plan, state)
        assert had == whole[: len(had)] and again.next >= len(had) - 1 and left(again) == whole[again.next :]


def test_a_full_disk_makes_no_state(plan, tmp_path, monkeypatch):
    def failing(*_):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(durable, "_write_at", failing)
    with pytest.raises(OSError, match="no space"):
        opened(plan, tmp_path / "state")
    assert os.listdir(tmp_path) == ["out"]


def dying(left):
    """Has this process die at its n-th call of the system, and in the middle of writes."""

    def counted(name):
        real = getattr(os, name)

        def call(*arguments, **options):
            left[0] -= 1
            if left[0] == 0:
                os._exit(9)
            return real(*arguments, **options)

        setattr(os, name, call)

    def torn(f, at, content):
        for part in (content[:50], content[50:]):
            os.stat(".")
            f.seek(at)
            f.write(part)
            at += len(part)
        os.fsync(f.fileno())

    for name in ("fsync", "link", "unlink", "replace", "open", "close", "stat", "fstat"):
        counted(name)
    durable._write_at = torn


def test_killed_at_any_point(plan, tmp_path):
    """The process dies at its n-th call of the system, for every n: every batch that was handed out is over, or the next."""
    n, died = 1, True
    while died:
        state = tmp_path / f"run{n}" / "state"
        state.parent.mkdir()
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            dying([n])
            sampler = opened(plan, state)
            for t in range(3):
                os.write(into, " ".join(map(str, [t, *sampler.batch(t)])).encode() + b"\n")
            os._exit(0)
        os.close(into)
        with open(out) as f:
            had = [[int(word) for word in line.split()] for line in f]
        status = os.waitpid(child, 0)[1]
        died = os.waitstatus_to_exitcode(status) == 9
        assert died or status == 0
        with opened(plan, state) as again:  # whole, or not there; a run that has begun is known
            whole = [again._batches.of(t).tolist() for t in range(12)]
            assert [t for t, *_ in had] == list(range(len(had))) and again.next >= len(had) - 1
            assert all(batch == whole[t] for t, *batch in had)
        n += 1
    assert n > 50 and len(had) == 3


def test_ctrl_c_while_the_state_is_written(plan, tmp_path):
    """Before every line: it is a KeyboardInterrupt, not an error that hides it, the file is old or new, and the run goes on."""
    n, interrupted = 0, True
    while interrupted:
        state = tmp_path / f"state{n}"
        sampler = opened(plan, state, new=True)
        sampler.follow(0)
        lines = [0]

        def tracer(frame, event, _):
            if frame.f_code.co_filename != durable.__file__:
                return None
            line = linecache.getline(durable.__file__, frame.f_lineno)
            if event == "line" and "with self._mutex" not in line:  # no signal comes between a block and its __exit__
                lines[0] += 1
                if lines[0] == n + 1:
                    raise KeyboardInterrupt
            return tracer

        sys.settrace(tracer)
        try:
            sampler.finish(0)
            interrupted = False
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        head, place = durable._parse(str(state), state.read_bytes(), lambda place: place["next"])
        assert place["next"] in (0, 1) and not sampler._record._mutex.locked()
        sampler.follow(1)  # as the optimizer does in every case: row 0 is spent
        assert sampler.next == 1 and durable._parse(str(state), state.read_bytes(), lambda place: -place["next"])[1]["next"] == 1
        sampler.finish(1)
        n += 1
    assert n > 30


def test_what_killed_writers_leave_is_swept(tmp_path):
    """Of a killed writer: yes. Of one that lives, of another program, or a file that is new: no."""
    names = [durable.TEMPORARY + name for name in ("killed", "lives", "new")] + [".mafalda-AAAAAAAAAAAA"]
    files = [open(tmp_path / name, "wb") for name in names]
    durable._lock(files[1], names[1])
    for name in (names[0], names[1], names[3]):
        os.utime(tmp_path / name, (0, 0))
    durable.write(str(tmp_path / "file"), b"x")
    assert sorted(os.listdir(tmp_path)) == sorted([*names[1:], "file"])


def test_every_mutation_is_refused_or_changes_nothing(plan, tmp_path):
    state, rng = tmp_path / "state", random.Random(5)
    sampler = opened(plan, state)
    for t in range(4):
        sampler.batch(t)
    after = [sampler._batches.of(t).tolist() for t in range(3, 12)]
    sampler.close()
    whole = state.read_bytes()
    text = [i for i, byte in enumerate(whole) if byte != ord("\n")]  # the lines; the rest is empty ones
    refused = 0
    for i in range(240):
        changed = bytearray(whole)
        for _ in range(1 if i < 160 else rng.randrange(2, 9)):
            at = rng.choice(text) if i % 4 else rng.randrange(len(whole))
            changed[at] ^= rng.randrange(1, 256)
        if i % 20 == 19:
            changed = changed[: rng.randrange(len(whole))]
        state.write_bytes(changed)
        try:
            with opened(plan, state) as again:
                assert again.next == 3 and left(again) == after
        except mafalda.ExportError:
            refused += 1
    assert 80 < refused < 240  # heads; one of two copies of the place may be damaged


OTHER = """
import sys
import mafalda
try:
    s = mafalda.load(sys.argv[1]).sampler(40, node="a", state=sys.argv[2])
    print("next", s.next)
except mafalda.ExportError as e:
    print(e)
"""


def in_other_process(plan, state):
    return subprocess.run(
        [sys.executable, "-c", OTHER, plan.directory, str(state)], check=True, capture_output=True, text=True
    ).stdout


def test_one_process_has_it(plan, tmp_path):
    state = tmp_path / "state"
    (tmp_path / "link").symlink_to(state)
    sampler = opened(plan, state)
    sampler.batch(2)
    os.link(state, tmp_path / "hard")
    for name in ("state", "link", "hard"):
        assert "another process uses the state" in in_other_process(plan, tmp_path / name)
    sampler.close()
    with pytest.raises(mafalda.ExportError, match="was closed"):
        sampler.batch(3)
    assert in_other_process(plan, state) == "next 2\n" == in_other_process(plan, tmp_path / "link")


def test_the_last_use_in_a_process_counts(plan, tmp_path):
    """As in a notebook whose cell is run again."""
    first = opened(plan, tmp_path / "state")
    first.batch(1)
    second = opened(plan, tmp_path / "state")
    second.batch(2)
    with pytest.raises(mafalda.ExportError, match="opened again in this process"):
        first.batch(3)
    assert "another process" in in_other_process(plan, tmp_path / "state")  # the lock went over
    with pytest.raises(mafalda.ExportError, match="number of records"):
        plan.sampler(RECORDS + 1, node="a", state=tmp_path / "state")
    second.batch(3)  # one that was refused ends nothing


def test_not_after_a_fork(plan, tmp_path):
    sampler = opened(plan, tmp_path / "state")
    sampler.batch(0)
    for use in (lambda: sampler.batch(1), lambda: sampler.follow(1), lambda: sampler.finish(0), lambda: list(sampler)):
        assert in_child(use).startswith("ProcessError: this sampler is of process")
    sampler.batch(1)
    assert "another process" in in_other_process(plan, tmp_path / "state")


def test_a_child_does_not_keep_the_lock(plan, tmp_path):
    """As the workers of a DataLoader, which outlive a process that was killed by a moment."""
    sampler = opened(plan, tmp_path / "state")

    assert "another process" in in_child(lambda: in_other_process(plan, tmp_path / "state"))  # the parent has it still
    read, wait = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(wait)
        os.read(read, 1)
        os._exit(0)
    sampler.close()
    assert in_other_process(plan, tmp_path / "state") == "next 0\n"
    os.close(read), os.close(wait)
    os.waitpid(child, 0)


def test_copies(plan, tmp_path):
    """Of another name, in another folder, and put back while it is in use."""
    state = tmp_path / "state"
    sampler = opened(plan, state)
    sampler.batch(0)
    shutil.copy(state, tmp_path / "copy")
    (tmp_path / "other").mkdir()
    shutil.copy(state, tmp_path / "other" / "state")
    for copy in (tmp_path / "copy", tmp_path / "other" / "state"):
        with pytest.raises(mafalda.ExportError, match="not under this name and in this folder"):
            opened(plan, copy)
    sampler.batch(1)
    os.replace(tmp_path / "copy", state)
    with pytest.raises(mafalda.ExportError, match="another file was put in the place"):
        sampler.batch(2)
    sampler = opened(plan, state)
    shutil.copy(tmp_path / "other" / "state", state)  # into the same file
    with pytest.raises(mafalda.ExportError, match="somebody else has written"):
        sampler.batch(2)
    sampler = opened(plan, state)
    state.unlink()
    with pytest.raises(mafalda.ExportError, match="is gone"):
        sampler.batch(2)
    with pytest.raises(mafalda.ExportError, match="begun its batches"):
        opened(plan, state)


def test_a_copy_of_a_state_that_was_not_used_yet(plan, tmp_path):
    opened(plan, tmp_path / "state").close()
    shutil.copy(tmp_path / "state", tmp_path / "copy")
    first, second = opened(plan, tmp_path / "state"), opened(plan, tmp_path / "copy")
    first.batch(0)
    with pytest.raises(mafalda.ExportError, match="was never used, and node 'a' has begun its batches"):
        second.batch(0)


def test_states_that_are_no_files(plan, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for state in (tmp_path / "pipe", tmp_path / "zero", tmp_path):
        with pytest.raises(mafalda.ExportError, match="no regular file"):
            opened(plan, state)
    with pytest.raises(mafalda.ExportError, match="there already"):
        opened(plan, tmp_path / "state"), opened(plan, tmp_path / "state", new=True)
    with pytest.raises(mafalda.ExportError, match="there is no state"):
        opened(plan, tmp_path / "none", new=False)
    (tmp_path / "old").write_text('{"format": "mafalda batches 1"}\n')
    with pytest.raises(mafalda.ExportError, match="no state of this version"):
        opened(plan, tmp_path / "old")
