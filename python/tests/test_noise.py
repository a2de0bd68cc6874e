"""Rows, simulated and served: order, repetition, carrying, crashes."""

import gc
import os
import pathlib
import signal
import subprocess
import tempfile
import threading

import numpy as np
import pytest
from conftest import PROGRAMS, REAL, program_of, strategy, write

import mafalda
from mafalda import _filters as filters, _generator as generator, _server as server, _simulated as simulated
from mafalda._noise import digest


def test_exactly_one_of_state_and_seed(out):
    plan = mafalda.load(out)
    for options in ({}, {"state": "x", "seed": 1}):
        with pytest.raises(ValueError, match="exactly one"):
            plan.noise("a", 3, **options)
    for dim in (0, 2.5, True):
        with pytest.raises(ValueError, match="number of parameters"):
            plan.noise("a", dim, seed=1)
    with pytest.raises(mafalda.ExportError, match="noise level"):
        plan.noise("a", 3, seed=1, noise_std=0.5)
    with pytest.raises(ValueError, match="2\\^64"):
        plan.noise("a", 3, seed=-1)


@pytest.mark.parametrize("kind", ["dense", "banded"])
def test_rows_are_those_of_the_inverse(tmp_path, kind):
    """Against the definition: C⁻¹Z times noise_std."""
    plan = mafalda.load(write(tmp_path / "out", kind=kind))
    key = generator.seeded_key(7, "a")
    z = np.stack([generator.normals(key, t, 0, 5000) for t in range(12)])
    rows = np.stack([row for _, row in plan.noise("a", 5000, seed=7)])
    assert np.allclose(rows, np.linalg.inv(np.load(tmp_path / "out" / "C.npy")) @ z, atol=1e-12)
    part = np.concatenate(
        [generator.normals(key, 3, 0, 17), generator.normals(key, 3, 17, 4900), generator.normals(key, 3, 4917, 83)]
    )
    assert (part == z[3]).all()


def test_golden():
    """TestGolden of package noise in Go."""
    row = generator.normals(generator.seeded_key(1, "node"), 2, 0, 5000)
    for i, want in {
        0: -0.943225042052659,
        1: -0.7442983499461219,
        123: 0.21334255538741906,
        124: -0.11410073298090606,
        4095: -0.38370247939053903,
        4096: 0.5613412576575337,
        4999: 0.9002613918101834,
    }.items():
        assert row[i] == want


def test_made_again(out, monkeypatch):
    plan = mafalda.load(out)
    kept = [row for _, row in plan.noise("a", 100, seed=2)]
    monkeypatch.setattr(simulated, "KEPT", 0)
    again = [row for _, row in plan.noise("a", 100, seed=2)]
    assert all((x == y).all() for x, y in zip(kept, again))


@pytest.fixture(params=["simulated", *PROGRAMS])
def noise(request, out, tmp_path):
    """Noise of 1,000 parameters, by all ways: they keep one contract."""
    plan = mafalda.load(out)
    if request.param == "simulated":
        yield plan.noise("a", 1000, seed=1)
        return
    with plan.noise("a", 1000, state=tmp_path / "state", binary=program_of(request.param, tmp_path)) as served:
        yield served


def test_contract(noise):
    first = noise.row(0)
    assert first.shape == (1000,) and first.dtype == np.float64 and noise.next == 1 and noise.place.issued == 0
    assert (noise.row(0) == first).all()  # a resend
    assert (noise.row(0, dtype=np.float32) == first.astype(np.float32)).all()
    parts = list(noise.blocks(0, size=300, offset=100, length=800))
    assert [at for at, _ in parts] == [100, 400, 700] and (
        np.concatenate([p for _, p in parts]) == first[100:900]
    ).all()
    with pytest.raises(mafalda.StepError, match="changed its size"):
        list(noise.blocks(0, offset=500, length=501))
    for step in (2, 5, -1):
        with pytest.raises(mafalda.StepError):
            noise.row(step)
    assert not (noise.row(1) == first).any()
    with pytest.raises(mafalda.StepError):
        noise.row(0)
    assert [t for t, _ in noise] == list(range(2, 12)) and noise.next == 12
    with pytest.raises(mafalda.StepError):
        noise.row(12)


def test_one_message_a_row(noise):
    row = noise.row(0)
    said = noise.sending(0, row)
    assert said == digest(row.tobytes()) == noise.sending(0, row.tobytes()) and noise.resume().sending == said
    with pytest.raises(mafalda.StepError, match="another message"):
        noise.sending(0, row + 1)
    with pytest.raises(mafalda.StepError):
        noise.skip(0)
    with pytest.raises(mafalda.StepError):
        noise.sending(1, row)
    assert noise.recover() is None and noise.next == 1


def test_recover(noise):
    noise.row(0)
    assert noise.recover() == 0 and noise.resume().unsent == (0,) and noise.recover() is None
    with pytest.raises(mafalda.StepError):
        noise.row(0)
    assert noise.next == 1


def test_carried_rows_come_with_the_next(out):
    """Steps 1 and 2 are missed: row 3 is the sum of three, and all later ones are as they were."""
    plan = mafalda.load(out)
    whole = [row for _, row in plan.noise("a", 50, seed=4)]
    noise = plan.noise("a", 50, seed=4)
    noise.row(0)
    assert noise.skip_to(3) == [1, 2] and noise.place.unsent == (1, 2) and noise.place.issued is None
    noise.skip(2)  # said again
    assert np.allclose(noise.row(3), whole[1] + whole[2] + whole[3], atol=1e-12) and noise.place.unsent == ()
    assert (noise.row(4) == whole[4]).all()
    noise.skip(4)  # it was drawn, and never sent
    noise.skip(5)
    assert np.allclose(noise.row(6), whole[4] + whole[5] + whole[6], atol=1e-12)


def test_over_restarts(out, tmp_path, program):
    plan, state = mafalda.load(out), tmp_path / "state"
    with plan.noise("a", 300, state=state, binary=program, new=True) as noise:
        noise.row(0)
        noise.skip(1)
        third = noise.row(2)
        noise.sending(2, b"message")
    with plan.noise("a", 300, state=state, binary=program) as noise:
        assert noise.resume() == mafalda.Place(3, 2, digest(b"message"), ()) and (noise.row(2) == third).all()
        with pytest.raises(mafalda.StepError):
            noise.row(1)
        noise.row(3)
    with pytest.raises(mafalda.ServerError, match="closed"):
        noise.row(4)
    for node, dim in (("b", 300), ("a", 301)):
        with pytest.raises(mafalda.MafaldaError):
            plan.noise(node, dim, state=state, binary=program)
    with pytest.raises(mafalda.ExportError, match="there already"):
        plan.noise("a", 300, state=state, binary=program, new=True)
    with pytest.raises(mafalda.ExportError, match="no state"):
        plan.noise("a", 300, state=tmp_path / "none", binary=program, new=False)


def test_a_state_that_is_gone_is_missed(out, tmp_path, program):
    """A run that has begun does not begin again without being told: not under its name, and not under another."""
    plan, state = mafalda.load(out), tmp_path / "state"
    plan.noise("a", 30, state=state, binary=program).close()
    state.unlink()  # no row of it came
    with plan.noise("a", 30, state=state, binary=program) as noise:
        noise.row(0)
    plan.noise("a", 30, state=state, binary=program).close()
    with pytest.raises(mafalda.ExportError, match="has begun its noise.* with state, says .*new=True"):
        plan.noise("a", 30, state=tmp_path / "stat", binary=program)
    assert not (tmp_path / "stat").exists()
    state.rename(tmp_path / "kept")
    with pytest.raises(mafalda.ExportError, match="or the state gone"):
        plan.noise("a", 30, state=state, binary=program)
    with plan.noise("a", 30, state=tmp_path / "kept", binary=program) as noise:
        assert noise.next == 1
    with plan.noise("a", 30, state=state, binary=program, new=True) as noise:
        noise.skip(0)
    state.unlink()
    with pytest.raises(mafalda.ExportError, match="with state, says"):
        plan.noise("a", 30, state=state, binary=program)
    plan.noise("b", 30, state=tmp_path / "another", binary=program).close()  # another node
    folder = tmp_path / "folder"
    folder.mkdir()
    plan.noise("a", 30, state=folder / "state", binary=program).close()  # another place


def test_a_state_that_is_gone_is_missed_elsewhere(out, tmp_path, program, monkeypatch):
    """The process may have changed its folder since, and a state may be a link."""
    plan = mafalda.load(os.path.abspath(out))
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    monkeypatch.chdir(here)
    with plan.noise("a", 30, state="state", binary=program) as noise:
        monkeypatch.chdir(there)
        noise.row(0)
    (here / "state").unlink()
    with pytest.raises(mafalda.ExportError, match="has begun its noise"):
        plan.noise("a", 30, state=here / "state", binary=program)
    link = there / "link"
    plan.noise("b", 30, state=here / "b", binary=program).close()
    link.symlink_to(here / "b")
    with plan.noise("b", 30, state=link, binary=program) as noise:
        noise.row(0)
    link.unlink()
    with pytest.raises(mafalda.ExportError, match="has begun its noise"):
        plan.noise("b", 30, state=link, binary=program)
    (here / "b").unlink()
    with pytest.raises(mafalda.ExportError, match="has begun its noise"):
        plan.noise("b", 30, state=here / "b", binary=program)


def test_one_process_a_state(out, tmp_path, program):
    plan = mafalda.load(out)
    with plan.noise("a", 30, state=tmp_path / "state", binary=program):
        with pytest.raises(mafalda.ServerError, match="another process uses"):
            plan.noise("a", 30, state=tmp_path / "state", binary=program)


def test_the_server_is_killed(out, tmp_path, program):
    """It is started again by the next request, and no row comes twice."""
    with mafalda.load(out).noise("a", 300, state=tmp_path / "state", binary=program) as noise:
        first = noise.row(0)
        os.kill(noise._server._process.pid, signal.SIGKILL)
        noise._server._process.wait()
        assert (noise.row(0) == first).all() and not (noise.row(1) == first).any()


def test_a_server_that_breaks_twice(out, tmp_path, program):
    """One that was killed still takes connections for a moment, and resets them: that once ended the step."""
    with mafalda.load(out).noise("a", 1000, state=tmp_path / "state", binary=program) as noise:
        row, left = noise.row(0), [0, 0]

        def ask(client):
            if left:
                left.pop()
                raise ConnectionResetError
            return client.state()["issued"]

        assert noise._try(ask) == 0 and (noise.row(0) == row).all()


def test_a_server_that_was_left_behind_is_waited_for(out, tmp_path, program):
    """That of a process which was killed, until it has noticed."""
    plan, state = mafalda.load(out), tmp_path / "state"
    left = plan.noise("a", 300, state=state, binary=program)
    first, process = left.row(0), left._server._process
    threading.Timer(0.5, process.stdin.close).start()
    with plan.noise("a", 300, state=state, binary=program) as noise:
        assert process.wait(timeout=20) is not None
        assert (noise.row(0) == first).all() and noise.next == 1


def test_the_folder_of_a_socket_goes_with_the_noise(out, tmp_path, program, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    noise = mafalda.load(out).noise("a", 3, state=tmp_path / "state", binary=program)
    noise.row(0)
    folder = pathlib.Path(noise.address).parent
    assert folder.parent == tmp_path and folder.stat().st_mode & 0o077 == 0
    noise.close()
    del noise
    gc.collect()
    assert not folder.exists()


def test_no_program(out, tmp_path):
    with pytest.raises(mafalda.ServerError, match="is not there"):
        mafalda.load(out).noise("a", 3, state=tmp_path / "state", binary=str(tmp_path / "none"))
    with pytest.raises(mafalda.ServerError, match="ended"):
        mafalda.load(out).noise("a", 3, state=tmp_path / "state", binary="false")


@pytest.mark.parametrize("script", ["exec sleep 600", "sleep 600", "printf listen; exec sleep 600"])
def test_a_program_that_says_nothing(out, tmp_path, monkeypatch, script):
    """It was waited for without an end."""
    (tmp_path / "silent").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "silent").chmod(0o700)
    monkeypatch.setattr(server, "SILENCE", 0.2)
    with pytest.raises(mafalda.ServerError, match="silent said nothing"):
        mafalda.load(out).noise("a", 3, state=tmp_path / "state", binary=str(tmp_path / "silent"))


@pytest.mark.skipif(not REAL, reason="needs the program")
def test_no_half_of_a_pair_of_keys(tmp_path):
    private, public = tmp_path / "a.key", tmp_path / "a.pub"
    public.write_text("mine")
    with pytest.raises(FileExistsError, match="never replaced"):
        mafalda.keys.new("a", private, public, REAL)
    assert os.listdir(tmp_path) == ["a.pub"] and public.read_text() == "mine"
    public.unlink()
    assert mafalda.keys.new("a", private, public, REAL) == public.read_text()
    public.unlink()  # as after a kill in between
    with pytest.raises(mafalda.ServerError, match="its public line: mafalda keys show"):
        mafalda.keys.new("a", private, public, REAL)


def test_ranks_take_parts_of_one_row(out, tmp_path, program):
    plan = mafalda.load(out)
    with plan.noise("a", 1000, state=tmp_path / "state", binary=program) as noise:
        found = {}

        def rank(offset):
            with mafalda.noise_at(plan, "a", 1000, noise._server.socket) as mine:
                found[offset] = [np.concatenate([p for _, p in mine.blocks(0, offset=offset, length=250)])]

        ranks = [threading.Thread(target=rank, args=(250 * i,)) for i in range(4)]
        for r in ranks:
            r.start()
        for r in ranks:
            r.join()
        noise.resume()
        assert (np.concatenate([found[250 * i][0] for i in range(4)]) == noise.row(0)).all()
        with pytest.raises(mafalda.ExportError, match="changed its size"):
            mafalda.noise_at(plan, "a", 999, noise._server.socket)
        with pytest.raises(mafalda.ExportError, match="not of 'b'"):
            mafalda.noise_at(plan, "b", 1000, noise._server.socket)


@pytest.mark.parametrize("way", ["real"] if "real" in PROGRAMS else [])
def test_over_tcp(out, tmp_path, way):
    """A loopback address and a token, where there are no Unix sockets."""
    plan = mafalda.load(out)
    arguments = ["noise", "serve", out, "--node", "a", "--dim", "100", "--state", tmp_path / "state", "--new"]
    listen = ["--listen", f"127.0.0.1:0,token-file={tmp_path / 'token'}"]
    with subprocess.Popen([program_of(way, tmp_path), *arguments, *listen], stdout=subprocess.PIPE) as server:
        try:
            host, port = server.stdout.readline().decode().split()[-1].rsplit(":", 1)
            token = (tmp_path / "token").read_text().strip()
            with mafalda.noise_at(plan, "a", 100, (host, int(port)), token) as noise:
                assert noise.row(0).shape == (100,) and noise.next == 1
            with pytest.raises(mafalda.ServerError, match="token"):
                mafalda.noise_at(plan, "a", 100, (host, int(port)), "another-token-of-many-letters")
        finally:
            server.terminate()


@pytest.mark.parametrize("way", ["real"] if "real" in PROGRAMS else [])
def test_a_server_of_rows_that_protect_nothing(out, tmp_path, way):
    arguments = ["noise", "serve", out, "--node", "a", "--dim", "9", "--state", tmp_path / "state", "--new", "--seed", "1"]
    with subprocess.Popen(
        [program_of(way, tmp_path), *arguments, "--socket", "seeded.sock"], cwd=tmp_path, stdout=subprocess.PIPE
    ) as server:
        try:
            assert server.stdout.readline().startswith(b"listening")
            with pytest.raises(mafalda.ExportError, match="protect nothing"):
                mafalda.noise_at(mafalda.load(out), "a", 9, os.path.relpath(tmp_path / "seeded.sock"))
        finally:
            server.terminate()


def test_a_reply_that_was_not_read(out, tmp_path, program):
    """Ctrl-C while the server answers: what comes late is no answer to the next request."""
    with mafalda.load(out).noise("a", 1000, state=tmp_path / "state", binary=program) as noise:
        row = noise.row(0)

        def interrupted(client):
            client._frames.send(b"row 0 float64 0 1000")
            raise KeyboardInterrupt

        for ask in (lambda: noise.sending(0, b"one"), lambda: noise.row(0), noise.resume):
            with pytest.raises(KeyboardInterrupt):
                noise._try(interrupted)
            ask()
        assert (noise.row(0) == row).all() and noise.place.sending == digest(b"one")
        with pytest.raises(KeyboardInterrupt):
            noise._try(interrupted)
        with pytest.raises(mafalda.StepError):
            noise.sending(0, b"two")


def test_rows_a_part_at_a_time_have_the_same_bits(monkeypatch):
    """What stays in a processor's cache at a time is no matter of the numbers."""
    draw = np.random.default_rng(4)
    inverse = np.tril(draw.normal(size=(6, 6)))
    inverse[4, 2] = 0
    z = draw.normal(size=(6, 50))
    kept, bits = z.copy(), draw.integers(0, 1 << 64, size=(2, 25), dtype=np.uint64)
    whole = generator.normal(bits)
    for cached in (7, 8192):
        monkeypatch.setattr(generator, "CACHED", cached)
        for t in range(6):
            row = want = inverse[t, t] * z[t]
            for s in range(t):
                want = want + inverse[t, s] * z[s]
                row = filters.add(row.copy(), inverse[t, s], z[s])
            assert np.array_equal(row, want)
        assert np.array_equal(generator.normal(bits), whole)
    assert np.array_equal(z, kept)
