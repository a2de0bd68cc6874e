"""Batches, and what the export is not private for."""

import itertools
import math

import numpy as np
import pytest
from conftest import write

import mafalda
from mafalda import _draw as draw

SECRET = {"privacy": {"epsilon": 2, "delta": 1e-6, "clip": 1.0, "adjacency": "zero-out", "noise_std": 1.0}}


def poisson(folder, groups=2, probability=0.25):
    return write(
        folder,
        "identity",
        sampling={"scheme": "poisson", "groups": groups, "probability": probability, "rounds": 12 // groups},
        **SECRET
    )


@pytest.mark.parametrize(
    "schema, k, b, records",
    [
        ("cyclic", 3, 4, 10),
        ("cyclic", 2, 2, 13),
        ("single", 1, 12, 25),
        ("min-sep", 2, 5, 9),
        ("min-sep", 3, 2, 8),
        ("patterns", 2, 1, 7),
    ],
)
def test_every_record_keeps_the_promise(tmp_path, schema, k, b, records):
    """Against the definition: the steps of each record, compared with the schema one by one."""
    patterns = [[0, 5], [1, 2], [3, 11]]
    participation = {"schema": schema, "k": k, "b": b, **({"patterns": patterns} if schema == "patterns" else {})}
    plan = mafalda.load(write(tmp_path / "out", participation=participation))
    sampler = plan.sampler(records, node="a")
    assert len(sampler) == 12
    batches = list(sampler)
    for record in range(records):
        steps = [t for t, batch in enumerate(batches) if record in batch]
        assert 1 <= len(steps) <= k
        if schema == "patterns":
            assert any(set(steps) <= set(p) for p in patterns)
        elif schema == "cyclic":
            assert all(t - s == b for s, t in itertools.pairwise(steps))
        else:
            assert all(t - s >= b for s, t in itertools.pairwise(steps))
    assert sum(map(len, batches)) == pytest.approx(12 * sampler.expected, abs=12)


def test_over_restarts(tmp_path, out):
    plan, state = mafalda.load(out), tmp_path / "batches"
    whole = list(plan.sampler(10, node="a"))
    first = plan.sampler(10, node="a", state=state)
    for t, batch in itertools.islice(first.items(), 5):
        assert batch.tolist() == whole[t]
    again = plan.sampler(10, node="a", state=state)
    assert again.next == 4 and list(again) == whole[4:]  # step 4 may not have been finished
    for step in (3, 12):
        with pytest.raises(mafalda.ParticipationError, match="no step comes twice"):
            plan.sampler(10, node="a", state=state).batch(step)
    for change, says in (((11, "a"), "number of records"), ((10, "b"), "another node")):
        with pytest.raises(mafalda.ExportError, match=says):
            plan.sampler(change[0], node=change[1], state=state)
    with pytest.raises(mafalda.ExportError, match="another export"):
        mafalda.load(write(tmp_path / "other", kind="identity")).sampler(10, node="a", state=state)


def test_bad_numbers(out):
    plan = mafalda.load(out)
    with pytest.raises(mafalda.ParticipationError, match="3 records cannot be cut into 4 batches"):
        plan.sampler(3, node="a")
    with pytest.raises(ValueError, match="number of records"):
        plan.sampler("ten", node="a")
    with pytest.raises(ValueError, match="one of them"):
        plan.sampler(10, node="a", state="x", seed=1)


def test_a_shuffling_loader_is_found_out(out):
    ledger, rng = mafalda.load(out).ledger(16), np.random.default_rng(1)
    with pytest.raises(mafalda.ParticipationError, match="shuffling"):
        for epoch in range(3):
            for i, batch in enumerate(rng.permutation(16).reshape(4, 4)):
                ledger.admit(4 * epoch + i, batch)


def test_the_sampler_does_what_the_contract_says_of_long_runs(tmp_path):
    plan = mafalda.load(write(tmp_path / "long", k=2, b=4))  # T = 12
    assert "batch (t mod 4) + 4·⌊t/8⌋, so that a record is in 2 steps" in plan.contract
    sampler = plan.sampler(16, node="a")
    for t in range(12):
        assert sampler.batch(t).tolist() == [i for i in range(16) if i % 8 == t % 4 + 4 * (t // 8)]
    with pytest.raises(mafalda.ExportError, match="contract says b = 5"):
        mafalda.load(write(tmp_path / "other", k=2, b=4, contract=["batch (t mod 4) + 5·⌊t/8⌋, so that a record is in 2 steps at most, 4 apart"]))
    turns = "A node cuts its records into 4 batches: step t uses batch t mod 4, so that a record is in 2 steps at most, 4 apart."
    with pytest.raises(mafalda.ExportError, match="more than k times"):
        mafalda.load(write(tmp_path / "turns", k=2, b=4, contract=[turns]))
    with pytest.raises(mafalda.ExportError, match="contract says steps = 2"):
        mafalda.load(write(tmp_path / "any", k=2, b=1, contract=["A record may take part in every step, 2 in all."]))


@pytest.mark.parametrize(
    ("sampling", "sentence"),
    [
        ({"scheme": "poisson", "groups": 2, "probability": 0.5, "rounds": 6}, "of group t mod 2 takes part with probability {}, independently"),
        ({"scheme": "bins", "groups": 4, "probability": 1, "rounds": 3}, "step t takes all of batch t mod {}; sums"),
    ],
)
def test_sentences_about_secret_batches_have_the_numbers_of_the_keys(tmp_path, sampling, sentence):
    right, wrong = ("0.5", "0.25") if sampling["scheme"] == "poisson" else ("4", "2")
    mafalda.load(write(tmp_path / "right", sampling=sampling, contract=[sentence.format(right)]))
    with pytest.raises(mafalda.ExportError, match=f"contract says .* = {wrong}"):
        mafalda.load(write(tmp_path / "wrong", sampling=sampling, contract=[sentence.format(wrong)]))


def test_ledger(tmp_path, out):
    plan = mafalda.load(out)
    for batches, says in (
        ([(0, [1]), (2, [1])], "4 apart"),
        ([(0, [1]), (0, [2])], "only go up"),
        ([(0, [16])], "none of the 16"),
        ([(0, [1, 1])], "twice"),
        ([(12, [1])], "of 12"),
    ):
        ledger = plan.ledger(16)
        with pytest.raises(mafalda.ParticipationError, match=says):
            for step, batch in batches:
                ledger.admit(step, batch)
    long = mafalda.load(write(tmp_path / "long", k=2, b=4)).ledger(
        4
    )  # windows of 2 turns: with a missed one in between, too
    long.admit(0, [0])
    with pytest.raises(mafalda.ParticipationError, match="2 times"):
        long.admit(8, [0])
    apart = mafalda.load(write(tmp_path / "minsep", participation={"schema": "min-sep", "k": 2, "b": 3})).ledger(4)
    apart.admit(0, [0])
    with pytest.raises(mafalda.ParticipationError, match="at least 3 apart"):
        apart.admit(2, [0])
    apart.admit(3, [0])
    with pytest.raises(mafalda.ParticipationError, match="2 times"):
        apart.admit(6, [0])


def test_the_draws_of_the_go_program():
    """Values of participation.SeededKey(1, "node") in Go (TestGoldenDraws there)."""
    key = draw.seeded_key(1, "node")
    assert draw.assign(key, draw.FOR_GROUPS, 5000, 3)[[0, 1, 2, 3, 4, 4095, 4096, 4999]].tolist() == GO_GROUPS
    batch = draw.Poisson(5000, 3, 0.01, key).of(4)
    assert batch.tolist() == GO_POISSON
    assert draw.Truncated(5000, 3, 0.01, 10, key).of(4).tolist() == GO_TRUNCATED
    assert draw.Bins(5000, 7, key).of(9)[:8].tolist() == GO_BINS
    assert draw.Allocation(5000, 2, 2, 12, key).of(9)[:8].tolist() == GO_ALLOCATION


def test_the_ledger_knows_the_blocks_of_random_allocation(tmp_path):
    """Every draw is admitted, whichever steps it has; a second step of one block, and a step of another group, are not."""
    sampling = {"scheme": "allocation", "groups": 2, "rounds": 3, "probability": 0.5}
    plan = mafalda.load(write(tmp_path / "out", sampling=sampling, k=3, b=4))
    batches, ledger, times = draw.Allocation(50, 2, 3, 12, bytes(range(32))), plan.ledger(50), np.zeros(50)
    for step in range(12):
        ledger.admit(step, batches.of(step))
        times[batches.of(step)] += 1
    assert (times == 3).all()
    ledger = plan.ledger(2)
    ledger.admit(0, [0])
    with pytest.raises(mafalda.ParticipationError, match="one block"):
        ledger.admit(2, [0])
    with pytest.raises(mafalda.ParticipationError, match="a multiple of 2 apart"):
        ledger.admit(5, [0])
    ledger.admit(4, [0])


def truncated(folder, **changes):
    """An export for batches of at most 5 of up to 14 records, which 3 are drawn for on average."""
    sampling = {"scheme": "truncated", "groups": 1, "rounds": 12, "probability": 0.25, "max_batch": 5, "records": 14}
    privacy = {"clip": 1.0, "adjacency": "zero-out", "noise_std": 1.0, "delta": 0.9999}
    return write(folder, sampling={**sampling, "overflow": 0.1, **changes}, privacy=privacy)


def test_padded_batches_have_one_size_and_count_what_was_drawn(tmp_path):
    """Every batch of the iterator is of the largest size; rows that count are those of the draw, in its order."""
    plan = mafalda.load(truncated(tmp_path / "out"))
    drawn, padded = plan.sampler(12, seed=3, node="a"), plan.sampler(12, seed=3, node="a", pad=True)
    plain = draw.Poisson(12, 1, 0.25, draw.seeded_key(3, "a"))
    dropped = 0
    for t, numbers in enumerate(padded):
        counts = padded.weights(t)
        assert len(numbers) == len(counts) == 5
        assert np.array(numbers)[counts].tolist() == drawn.batch(t).tolist()
        assert padded.weights(t, numbers[::-1]).sum() == counts.sum() and padded.padded(t).tolist() == numbers
        dropped += len(plain.of(t)) - len(drawn.batch(t))
    assert t == 11 and drawn.weights(0) is None and dropped > 0
    with pytest.raises(mafalda.ParticipationError, match="15 records are more than the 14"):
        plan.sampler(15, seed=3, node="a")
    with pytest.raises(ValueError, match="sampling truncated of mafalda.optimize"):
        mafalda.load(write(tmp_path / "cyclic")).sampler(12, node="a", pad=True)


def test_allocation_is_once_a_block():
    """Every record takes part in exactly one step of each block of its group, whatever T and w."""
    for steps, groups, k in ((30, 1, 7), (30, 4, 3), (12, 2, 6), (13, 3, 4)):
        batches = draw.Allocation(100, groups, k, steps, bytes(range(32)))
        seen = [[] for _ in range(100)]
        for step in range(steps):
            for record in batches.of(step):
                seen[record].append((step % groups, batches.block(step)[0]))
        for of in seen:
            assert len({group for group, _ in of}) == 1 and [block for _, block in of] == list(range(k))


GO_GROUPS = [2, 1, 1, 2, 1, 1, 0, 0]
GO_POISSON = [595, 940, 984, 996, 1251, 1902, 1923, 2046, 2707, 3109, 3240, 3244, 3344, 3821, 3874, 4154]
GO_TRUNCATED = [595, 996, 1923, 2046, 2707, 3109, 3240, 3244, 3821, 4154]
GO_ALLOCATION = [3, 6, 13, 20, 24, 29, 34, 40]
GO_BINS = [5, 11, 14, 18, 19, 35, 50, 56]


def test_rejection():
    """With m just above half of 2^64 half of all numbers are drawn again; all stay below m."""
    m = (1 << 63) + 1
    of = draw.assign(bytes(32), 0, 50, 3)
    assert set(of) == {0, 1, 2}
    big = draw.assign(bytes(32), 0, 50, m >> 1)
    assert big.min() >= 0 and big.max() < m >> 1


def test_poisson(tmp_path):
    plan = mafalda.load(poisson(tmp_path / "out"))
    with pytest.raises(ValueError, match="in secret"):
        plan.sampler(1000, node="a")
    sampler = plan.sampler(4000, node="a", seed=5)
    assert sampler.expected == 4000 / 2 * 0.25
    batches = list(sampler)
    even = set().union(*batches[0::2])
    assert not even & set().union(*batches[1::2])  # groups
    sizes = [len(b) for b in batches]
    assert len(set(sizes)) > 1 and abs(np.mean(sizes) - 500) < 6.5 * np.sqrt(500 / 12 * 2)
    assert batches == list(plan.sampler(4000, node="a", seed=5)) != list(plan.sampler(4000, node="b", seed=5))
    first, second = (plan.sampler(500, node="a", state=tmp_path / name, new=True) for name in ("one", "two"))
    assert list(first) != list(second)  # keys of the operating system
    kept = plan.sampler(500, node="a", state=tmp_path / "three", new=True)
    whole = [kept.batch(t).tolist() for t in range(4)]
    assert plan.sampler(500, node="a", state=tmp_path / "three").batch(3).tolist() == whole[3]
    assert (tmp_path / "three").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "sampling",
    [
        {"scheme": "poisson", "groups": 1, "probability": 1 / 12, "rounds": 12},
        {"scheme": "bins", "groups": 12, "probability": 1, "rounds": 1},
    ],
)
def test_secret_batches_where_a_record_is_expected_once(tmp_path, sampling):
    plan = mafalda.load(write(tmp_path / "out", "identity", sampling=sampling, **SECRET))
    assert plan.schema == "single" and plan.sampler(1200, node="a", seed=1).expected == 100


def test_bins(tmp_path):
    sampling = {"scheme": "bins", "groups": 4, "probability": 1, "rounds": 3}
    sampler = mafalda.load(write(tmp_path / "out", "identity", sampling=sampling, **SECRET)).sampler(
        1000, node="a", seed=1
    )
    batches = list(sampler)
    assert sampler.expected == 250 and batches[:4] == batches[4:8] and sorted(sum(batches[:4], [])) == list(range(1000))
    assert len({len(b) for b in batches[:4]}) > 1


def test_no_new_key_in_the_middle_of_a_run(tmp_path):
    """Records would be dealt anew: the noise is ahead of batches whose key was just drawn."""
    plan = mafalda.load(poisson(tmp_path / "out"))
    plan.sampler(100, node="a", state=tmp_path / "kept").follow(0)
    plan.sampler(100, node="a", state=tmp_path / "kept").follow(3)
    with pytest.raises(mafalda.ExportError, match="begun its batches .* with kept, says"):
        plan.sampler(100, node="a", state=tmp_path / "lost")
    for new in (True, None):  # also when it is started again
        with pytest.raises(mafalda.ParticipationError, match="new key"):
            plan.sampler(100, node="a", state=tmp_path / "lost", new=new).follow(3)
    plan.sampler(100, node="a", state=tmp_path / "used", new=True).batch(0)
    plan.sampler(100, node="a", state=tmp_path / "used").follow(3)


def test_states_behind_links_and_damaged_ones(tmp_path, out):
    plan = mafalda.load(out)
    (tmp_path / "disk").mkdir()
    (tmp_path / "state").symlink_to(tmp_path / "disk" / "batches")
    plan.sampler(10, node="a", state=tmp_path / "state").follow(2)
    assert (tmp_path / "state").is_symlink()
    assert plan.sampler(10, node="a", state=tmp_path / "disk" / "batches").next == 2
    (tmp_path / "state").write_text("{")
    with pytest.raises(mafalda.ExportError, match="damaged"):
        plan.sampler(10, node="a", state=tmp_path / "state")
