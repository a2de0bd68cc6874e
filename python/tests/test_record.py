"""A record of what any program released, without a plan, and what `mafalda audit --run` says of it."""

import json
import os
import subprocess
import threading

import numpy as np
import pytest
from test_canaries import real
from test_process import in_child

import mafalda
from mafalda.canaries import LOUD, QUIET, Record

LOCAL = 'preset = "flower-local-dp"\nclip = 2.0\nepsilon = 3.0\ndelta = 1e-5\nrounds = 12\n'
SUM = 'preset = "opacus"\nclip = 1.0\nnoise_multiplier = 2.0\ndelta = 1e-5\nrounds = 12\n'


def clipped(rows, norm):
    return rows * np.minimum(1, norm / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12))


def local(folder, claim, weights=False, noise=1.0, seed=1):
    """Silos that add noise to their updates of a model of two layers; with weights they clip models."""
    draw = np.random.default_rng(seed)
    model = {"w": draw.normal(size=(20, 15)), "b": draw.normal(size=20).astype(np.float32)}
    flat = lambda parts: np.concatenate([part.ravel() for part in parts.values()])  # noqa: E731
    with Record(folder, model, 30, 2.0, claim=claim, seed=seed) as record:
        for t in range(12):
            for i in range(30):
                update = record.update(i)
                assert update["w"].shape == (20, 15) and np.isclose(np.linalg.norm(flat(update)), 2 * (LOUD if record.included[i] else QUIET))
                moved = clipped(flat(model) + flat(update), 2) if weights else flat(model) + clipped(flat(update), 2)
                moved += noise * draw.normal(size=320) * 2 * np.sqrt(2 * np.log(1.25e5)) / 3
                record.add(t, {"b": moved[300:], "w": moved[:300].reshape(20, 15)}, i, before=model)
    return record


def summed(folder, claim, probability=None, noise=2.0, size=50, clip=1.0, same=None, seed=1):
    """Means of clipped gradients, with Poisson batches or without, as tensors where torch is."""
    draw = np.random.default_rng(seed)
    drift, kept = draw.normal(size=(60, 2000)), None
    record = Record(folder, 2000, 100, 1.0, size=size, claim=claim, seed=seed)
    for t in range(12):
        drawn = None if probability is None else np.flatnonzero(draw.random(100) < probability)
        rows = record.gradients(range(100) if drawn is None else drawn)
        total = np.sum([*clipped(drift, 1.0), *clipped(rows, clip)], axis=0)
        kept = kept if t == same else draw.normal(size=2000)
        released = (total + noise * kept) / size
        try:
            import torch

            released = torch.tensor(released, requires_grad=True)
        except ImportError:
            pass
        record.add(t, released, drawn=drawn)
    record.close()


@real
@pytest.mark.parametrize("mechanism", ["local", "sum", "drawn"])
def test_honest_programs_pass(tmp_path, mechanism):
    (tmp_path / "claim.toml").write_text(LOCAL if mechanism == "local" else SUM + "probability = 0.3\n" * (mechanism == "drawn"))
    if mechanism == "local":
        local(tmp_path / "run", tmp_path / "claim.toml")
    else:
        summed(tmp_path / "run", tmp_path / "claim.toml", 0.3 if mechanism == "drawn" else None)
    found = mafalda.audit(run=tmp_path / "run")
    assert found.passed and found.lower_epsilon <= found.claimed_epsilon
    assert found.claimed_epsilon == mafalda.spent(tmp_path / "claim.toml").rounds[-1]["epsilon"]
    assert found.releases == (360 if mechanism == "local" else 12) and (found.mu > 0) == (mechanism != "drawn")
    if mechanism == "local":
        assert found.lower_epsilon > 1 and found.announced == 3 and abs(found.mu - np.sqrt(12) / 1.615) < 4 * found.mu_error
        for name in os.listdir(tmp_path / "run"):
            assert not name.endswith(".json") or os.stat(tmp_path / "run" / name).st_mode & 0o077 == 0
        with pytest.raises(mafalda.ProgramError, match="epsilon is at least .* more than the claimed 0.5$") as caught:
            mafalda.audit(run=tmp_path / "run", epsilon=0.5)
        assert caught.value.code == 1


@real
@pytest.mark.parametrize(
    "fault, says",
    [("weights", "update: .* as if weights were clipped"), ("quiet", "scale: .* 0.79"), ("unclipped", "clip: .* with (9.9|10)"), ("twice", "freshness: round 4")],
)
def test_faults_are_found(tmp_path, fault, says):
    (tmp_path / "run.toml").write_text(SUM if fault in ("unclipped", "twice") else LOCAL)  # beside the folder
    if fault == "unclipped":
        summed(tmp_path / "run", None, clip=10.0)
    elif fault == "twice":
        summed(tmp_path / "run", None, same=5)
    else:
        local(tmp_path / "run", None, fault == "weights", 0.8 if fault == "quiet" else 1.0)
    with pytest.raises(mafalda.ProgramError, match=f"the run is not what is claimed: .*{says}") as caught:
        mafalda.audit(run=tmp_path / "run")
    assert caught.value.code == 1 and "\n" not in str(caught.value)


def test_wrong_words_are_one_line_each(tmp_path):
    record = Record(tmp_path / "run", [np.zeros(3), np.zeros((2, 2))], 4, 1.0)
    good = [np.ones(3), np.ones((2, 2))]
    record.add(0, good, np.int64(1))
    other = Record(tmp_path / "other", 3, 4, 1.0)
    other.add(0, np.ones(3), drawn=np.array([3, 1]))
    for wrong, says in (
        (lambda: Record(tmp_path / "run", 3, 4, 1.0), "there already, and goes on, or was interrupted: no record goes on later: give another name"),
        (lambda: Record(tmp_path / "x", 3, 1, 1.0), "at least 2"),
        (lambda: Record(tmp_path / "x", 3, 4, float("nan")), "above 0"),
        (lambda: Record(tmp_path / "x", 0, 4, 1.0), "above 0"),
        (lambda: Record(tmp_path / "x", np.array(["a"]), 4, 1.0), "an array has type <U1"),
        (lambda: Record(tmp_path / "x", 3, 4, 1.0, noising="a"), "could not convert"),
        (lambda: Record(tmp_path / "x", Module(), 4, 1.0), r"not a Module: give what it sends, its state_dict\(\)"),
        (lambda: record.add(2, good, 1), "round 2 does not follow: round 0 is being recorded"),
        (lambda: record.add(0, good, 4), "sender 4 is none of 4 canaries"),
        (lambda: record.add(0, good, 1.0), "sender 1.0 is none of 4 canaries"),
        (lambda: record.add(0, good, True), "sender True is none of 4 canaries"),
        (lambda: record.add(0, good, 1, drawn=[1]), "a sender that was not drawn releases nothing"),
        (lambda: other.add(0, np.ones(3), drawn=[7]), "drawn 7 is none of 4 canaries, 0 to 3"),
        (lambda: other.add(0, np.ones(3), drawn=[True, False]), "drawn True is none of 4 canaries"),
        (lambda: other.add(0, np.ones(3), drawn=[2]), "one set of canaries in round 0, and was another one before"),
        (lambda: other.add(0, np.ones(3)), "one set of canaries in round 0, and was another one before"),
        (lambda: record.add(0, good), "either every release has a sender, or none"),
        (lambda: record.add(0, good[:1], 1), r"has shapes \[\(3,\)\]"),
        (lambda: record.add(0, [np.full(3, np.nan), good[1]], 1), "round 0 has a number that is not finite"),
        (lambda: record.add(0, [np.array([1j, 1, 1]), good[1]], 1), "an array has type complex128"),
    ):
        with pytest.raises((mafalda.MafaldaError, ValueError), match=says) as caught:
            wrong()
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "x").exists()
    assert f"is written by process {os.getpid()}" in in_child(lambda: _error(lambda: record.add(0, good, 2)))
    assert f"is written by process {os.getpid()}" in in_child(lambda: _error(record.close))
    (tmp_path / "run" / "round-0000.npy").touch()  # of another process
    with pytest.raises(mafalda.MafaldaError, match="another process writes to this folder"):
        record.close()


class Module:
    def state_dict(self):
        return {}


def test_numbers_of_numpy_are_written(tmp_path):
    with Record(tmp_path / "run", 3, 4, 1.0, noising=np.eye(2)) as record:
        for i in np.arange(4):
            record.add(0, np.ones(3), i)
        record.add(1, np.ones(3), np.uint8(2))
    with Record(tmp_path / "sums", 3, 4, 1.0) as record:
        record.add(0, np.ones(3), drawn=np.flatnonzero([1, 0, 1, 0]))
        record.add(1, np.ones(3), drawn=[])
    said = json.loads((tmp_path / "run" / "record.json").read_text())
    assert [r["senders"] for r in said["rounds"]] == [[0, 1, 2, 3], [2]] and len(said["noising"]) == 64
    said = json.loads((tmp_path / "sums" / "record.json").read_text())
    assert [r["drawn"] for r in said["rounds"]] == [[0, 2], []] and "noising" not in said


@real
def test_correlated_noise_is_what_the_description_says(tmp_path):
    """Noise of C⁻¹Z under a description with C; what a noising.npy says that is not of the record, or not of C."""
    draw, c = np.random.default_rng(1), np.eye(6) + 0.5 * np.eye(6, k=-1)
    np.save(tmp_path / "C.npy", c)
    claim = "unit='silo'\nmechanism='matrix'\nmatrix='%s'\nclip=1.0\nsigma=2.0\nrounds=6\ndelta=1e-5\n" % (tmp_path / "C.npy")
    fresh = "unit='silo'\nclip=1.0\nsigma=2.0\nrounds=6\ndelta=1e-5\n"

    def recorded(name, text, noising, matrix):
        (tmp_path / "claim.toml").write_text(text)
        with Record(tmp_path / name, 300, 40, 1.0, claim=tmp_path / "claim.toml", noising=noising, seed=1) as record:
            noise = [2 * matrix @ draw.normal(size=(6, 300)) for _ in range(40)]
            for t in range(6):
                for i in range(40):
                    record.add(t, clipped(record.update(i), 1) + noise[i][t], i)
        return tmp_path / name

    inverse = np.linalg.inv(c)
    for name, noising in (("alone", None), ("said twice", inverse)):
        found = mafalda.audit(run=recorded(name, claim, noising, inverse))
        assert found.passed and found.claimed_epsilon > found.lower_epsilon
    with pytest.raises(mafalda.ProgramError, match="noising.npy is not the inverse of the description's matrix"):
        mafalda.audit(run=recorded("other", claim, np.eye(6), inverse))
    quiet = recorded("quiet", fresh, 0.01 * np.eye(6), 0.01 * np.eye(6))  # nobody knows what ε is claimed
    found = mafalda.audit(run=quiet)
    assert "claimed_epsilon" not in found and found.lower_epsilon > 8
    said = subprocess.run([os.environ["MAFALDA"], "audit", "--run", str(quiet)], capture_output=True, text=True).stdout
    assert "no fault was found (which proves nothing); epsilon was not compared: --epsilon says" in said
    np.save(quiet / "noising.npy", np.eye(6))
    with pytest.raises(mafalda.ProgramError, match="noising.npy is not of this record"):
        mafalda.audit(run=quiet)
    (quiet / "noising.npy").unlink()
    with pytest.raises(mafalda.ProgramError, match="noising.npy"):
        mafalda.audit(run=quiet)
    np.save(tmp_path / "C.npy", 2 * c)
    with pytest.raises(mafalda.ProgramError, match="C.npy is not what it was when the record began") as caught:
        mafalda.audit(run=tmp_path / "alone")
    assert caught.value.code == 2
    with pytest.raises(mafalda.MafaldaError, match="alone is there already, of another run: give another name"):
        Record(tmp_path / "alone", 3, 4, 1.0)


def _error(call):
    try:
        call()
    except mafalda.MafaldaError as e:
        return e


def test_of_two_at_once_one_begins(tmp_path):
    made, barrier = [], threading.Barrier(8)

    def begin():
        barrier.wait()
        try:
            made.append(Record(tmp_path / "run", 5, 4, 1.0))
        except mafalda.MafaldaError:
            pass

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


@real
def test_what_is_no_record_is_refused(tmp_path):
    (tmp_path / "claim.toml").write_text(LOCAL)

    def refused(says, **keywords):
        with pytest.raises(mafalda.ProgramError, match=says) as caught:
            mafalda.audit(run=tmp_path / "run", **keywords)
        assert caught.value.code == 2 and "\n" not in str(caught.value)

    record = Record(tmp_path / "run", 5, 4, 2.0)
    refused("what is claimed\\? Write it down as for mafalda.spent, in .*run.toml or ")
    (tmp_path / "run.toml").write_text("rounds = 3")
    refused('unit "": must be one of')
    (tmp_path / "run.toml").write_text(LOCAL)
    refused("the record was not closed")
    for t in range(11):
        record.add(t, np.arange(5))
    record.close()
    refused("the description has 12 rounds, and 11 are recorded")
    said = json.loads((tmp_path / "run" / "record.json").read_text())
    assert [r["rows"] for r in said["rounds"]] == [1] * 11
    np.save(tmp_path / "run" / "round-0003.npy", np.zeros((1, 5)))
    refused("round-0003.npy is no float32 array of shape")
