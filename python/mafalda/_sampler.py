"""Batches that keep the promise: who takes part in which step, over restarts.

    loader = DataLoader(dataset, batch_sampler=plan.sampler(len(dataset), node="Medici", state="batches.state"))

Batches are a function of the cut (or of a secret key), the step and the record, and of nothing else: record i is in
batch i mod b, or is drawn as participation does in Go, with the same numbers. The state file fixes what they depend on
(export, node, number of records, key) and says which steps are over: those are refused for ever. Step t is over when the
batch of a later step is handed out, or, with an optimizer that was made with this sampler, when its step t is done (so
that a DataLoader may run ahead). The state is a _durable.Record, as careful as that of the noise: it is on disk before a
batch is handed out, and after an error no batch is: a line of head (format, export, node, records, scheme, key) padded with empty
lines to 4096 bytes, and twice 4096 bytes of place (next, begun, own, start), as in the state of noise. States of the format
before (one line of JSON, without a checksum) are refused.
"""

from __future__ import annotations

import math
import os
import secrets
import threading
from typing import Any, Iterable, Iterator

import numpy as np

from . import _begun, _draw, _durable
from .errors import ExportError, ParticipationError, warn
from ._export import Export
from ._ledger import Ledger
from ._people import Dealt, Owners, owners_of
from ._process import Held, Owner
from ._types import Array, Json, Path, is_whole

FORMAT = "mafalda batches 2"


class Sampler(Held):
    """The batches of one node. Usable in a with statement, which closes it.

    Attributes:
        steps       T
        records     of the node, numbered from 0
        expected    the public size of a batch, on average: sums are divided by it, never by the size of what was drawn
        next        the first step that is not over
        handed      the last step whose batch was handed out; -1 before the first
        owners      the person of each record, numbered, where the export protects persons; else None. Where records have
                    several owners, the group of records with the same owners
        left_out    the records that are in no batch, since one of their owners has no room for them, int64
        real        numbers from this one on are canaries, and are left out of batches (numbers has them)
        shape       how many numbers every batch of the iterator has, padded; None where batches have the size of the draw
    """

    def __init__(
        self,
        plan: Export,
        node: str,
        batches: _draw.Batches,
        record: _durable.Record | None = None,
        path: str = "",
        seeded: bool = False,
        owners: Owners | None = None,
        shape: int | None = None,
    ) -> None:
        self.plan, self.node, self.steps, self.records = plan, node, plan.steps, batches.records
        self.expected = batches.expected
        self._batches, self._record, self._path = batches, record, path
        self.next: int = 0 if record is None else record.place["next"]
        self.handed = -1
        self.real = batches.records
        self._follows = False
        self._seeded = seeded
        self.owners = None if owners is None else owners.groups
        self.left_out = batches.left_out if isinstance(batches, Dealt) else np.empty(0, dtype=np.int64)
        self.shape = shape
        self._ledger = Ledger(plan, self.records, owners)
        self._admitted = self.next - 1
        self._owner = Owner("this sampler")
        self._mutex = threading.RLock()

    def batch(self, step: int) -> Array:
        """The numbers of the records that take part in a step, ascending, int64; it may be empty where batches are secret.

        Steps that are over, and those beyond the last, raise a ParticipationError. The same step again gives the same batch.
        """
        self._owner.check()
        with self._mutex:
            if not self.next <= step < self.steps:
                raise ParticipationError(
                    f"the batch of step {step} was asked for, where steps from {self.next} to {self.steps - 1} are left: "
                    "no step comes twice"
                )
            batch = self._batches.of(step)
            if self._follows:
                self._check()
            else:
                self._over(step)  # earlier ones are; this one may be finished after a crash
                self._admit(step, batch)
            self.handed = step
        return batch[batch < self.real]

    def numbers(self, step: int) -> Array:
        """The numbers of the records that are to take part in a step, canaries too: nothing is handed out."""
        self._owner.check()
        return self._batches.of(step)

    def __iter__(self) -> Iterator[list[int]]:
        """The batches of all steps that are left, in turn; padded ones end with record 0 (weights)."""
        if self.next >= self.steps:
            warn(f"all {self.steps} steps of this run are over: nothing is trained (a new run takes a new plan and states)")
        for _, batch in self.items():
            yield self._pad(batch).tolist()

    def padded(self, step: int) -> Array:
        """The batch of a step, padded as those of the iterator are."""
        return self._pad(self.batch(step))

    def _pad(self, batch: Array) -> Array:
        return batch if self.shape is None else np.append(batch, np.zeros(self.shape - batch.size, dtype=np.int64))

    def weights(self, step: int, numbers: Any = None) -> Array | None:
        """Which rows of a batch count, as bools; numbers are the records of its rows, by default as padded has them.

        A row counts if it is the first of a record of the batch; record 0 may come again, as padding. None where batches are
        not padded and no numbers given. As secret as the batch. The sum of a step is over the gradients of rows that
        count, each clipped; plan.make_private does that itself.
        """
        if self.shape is None and numbers is None:
            return None
        drawn = self.numbers(step)
        drawn = drawn[drawn < self.real]
        rows = self._pad(drawn) if numbers is None else np.asarray(numbers)
        first = np.zeros(len(rows), dtype=bool)
        first[np.unique(rows, return_index=True)[1]] = True
        counts = first & np.isin(rows, drawn)
        left = rows[~counts]
        if left.any() or left.size and self.shape is None:
            raise ParticipationError(f"record {left.max()} is not in batch {step}, or came twice")
        return counts

    def items(self, start: int | None = None) -> Iterator[tuple[int, Array]]:
        """Steps and their batches, from a step on (default: the first that is left)."""
        step = self.next if start is None else start
        while step < self.steps:
            yield step, self.batch(step)
            step = max(step + 1, self.next)

    def __len__(self) -> int:
        """How many steps are left."""
        return self.steps - self.next

    def follow(self, step: int, private: bool = False) -> None:
        """Leaves it to the optimizer to say when a step is over; step is its next one, private whether its noise is real."""
        self._owner.check()
        if self._seeded and private:
            raise ParticipationError(
                "the batches are drawn from a seed, so everybody knows them, and the export is private for secret ones: give "
                "plan.sampler a state"
            )
        if step < self.next:
            raise ParticipationError(
                f"the batches up to step {self.next - 1} were used, the noise is at step {step}: it is another state than "
                "the one that went with them, and the run cannot go on with it"
            )
        if self._record is not None and self._record.head["key"] and not self._record.place["begun"] and step > 0:
            raise ParticipationError(
                f"the noise is at step {step}, and the batches have a new key: where is their state? Drawn again, records would "
                "come in steps that the export is not private for, and the run cannot go on with it"
            )
        with self._mutex:
            self._over(step)
            self._follows = True

    def finish(self, step: int) -> None:
        """Step is over: its batch was used, or missed."""
        self._owner.check()
        with self._mutex:
            self._admit(step)
            self._over(step + 1)

    def close(self) -> None:
        """Lets go of the state, which another process may then use; batches are refused from then on."""
        if self._record is not None:
            self._record.close()

    def __repr__(self) -> str:
        drawn = f"batches {self.plan.scheme}, {self.expected:g} records on average"
        key = ", of a seed: for simulations" if self._seeded else ""
        return f"<Sampler of {self.node!r}: step {self.next} of {self.steps} is next; {self.records} records, {drawn}{key}>"

    def _over(self, step: int) -> None:
        """Steps before this one are over, and the run has begun: on disk, where there is a state, when this returns."""
        self._check()
        if self._record is not None:
            place = self._record.place
            if not place["begun"]:
                if not place["own"]:
                    _begun.check(self.plan, self.node, self._path, "batches")
                _begun.note(self.plan, self.node, self._path, "batches")
            if not place["begun"] or step > place["next"]:
                self._record.put({**place, "next": max(step, place["next"]), "begun": True})
        self.next = max(self.next, step)

    def _check(self) -> None:
        if self._record is not None:
            self._record.check()

    def _admit(self, step: int, batch: Array | None = None) -> None:
        if step > self._admitted:
            self._ledger.admit(step, self._batches.of(step) if batch is None else batch)
            self._admitted = step


def make_sampler(
    plan: Export,
    records: int,
    *,
    node: str | None = None,
    state: Path | None = None,
    seed: int | None = None,
    new: bool | None = None,
    owners: Iterable[Any] | None = None,
    pad: bool = False,
) -> Sampler:
    """The batches of a node with `records` records: a torch batch_sampler, and an iterator over lists of record
    numbers.

    state is a file that keeps the cut (and, where the export is for secret batches, the key they are drawn from)
    over restarts; without one, batches that must be secret need a seed, for simulations. What the export is not
    private for raises a ParticipationError.

    A state that is not there is begun, unless the node had a batch of another one in this folder
    (batches-begun-….json says so). new=True says that this is a run of its own, and refuses a state that is there;
    new=False refuses one that is not. One process at a time has a state; sampler.close() lets go of it.

    owners says whose each record is (any hashable values, one a record), for exports that protect persons: then
    whole persons are dealt to batches, and make_private clips what all records of a person add to a batch together.
    A list or a set is for a record with several owners, each of whom is protected with it: records are then chosen
    so that no person is in more batches, or with more in one, than the export allows, and sampler.left_out has those
    that are in none. Whose a record is must not be a secret: the guarantee is for what records hold.

    pad=True, for exports with sampling="truncated:…", makes all batches of the iterator of one size, the largest,
    with record 0 in free places: static shapes. backward(…, numbers=…) gives those rows weight zero.
    """
    node = plan.check_node(node)
    if pad and plan.scheme != "truncated":
        raise ValueError("pad is for exports whose batches have a largest size: sampling truncated of mafalda.optimize")
    shape = plan.manifest["sampling"]["max_batch"] if pad else None
    if not is_whole(records, 1):
        raise ValueError(f"a sampler is for a number of records, at least 1, not {records!r}: use len(dataset)")
    if state is not None and seed is not None:
        raise ValueError("a state is for a real run, a seed for a simulation: give one of them")
    if new is not None and state is None:
        raise ValueError("new is about a state, and there is none")
    records = int(records)
    persons = owners_of(plan, records, owners)
    secret = plan.scheme != "cyclic"
    if secret and state is None and seed is None:
        raise ValueError(
            "the batches of this export are drawn in secret: give a state, a file for their key (or a seed, for a simulation)"
        )
    if state is None:
        key = _draw.seeded_key(seed, node) if secret else b""
        return Sampler(plan, node, _batches(plan, records, key, persons), seeded=secret, owners=persons, shape=shape)
    _batches(plan, records, bytes(32), persons)  # fails, before a file is made, where no batches can be made
    path = os.path.abspath(os.fspath(state))
    record = _open_state(plan, records, node, path, secret, new, persons)
    batches = _batches(plan, records, bytes.fromhex(record.head["key"] or ""), persons)
    return Sampler(plan, node, batches, record, path, owners=persons, shape=shape)


def _open_state(
    plan: Export, records: int, node: str, path: str, secret: bool, new: bool | None, persons: Owners | None
) -> _durable.Record:
    """The state at path, made new if it is missing, unless this node has begun with another one."""
    head = {
        "format": FORMAT,
        "export": plan.hash,
        "node": node,
        "records": records,
        "scheme": plan.scheme,
        "key": secrets.token_hex(32) if secret else None,
    }
    if persons is not None:
        head["owners"] = persons.digest()

    def newer(place: Json) -> tuple[int, bool]:
        return place["next"], place["begun"]

    def check(kept: Json, place: Json) -> None:
        _same(kept, head, path)
        if not 0 <= newer(place)[0] <= plan.steps or secret != (kept["key"] is not None):
            raise ExportError(f"{path} is damaged")
        if place["begun"]:
            _begun.check_place(plan, node, path, "batches")
        elif not place["own"]:
            _begun.check(plan, node, path, "batches")

    start = secrets.token_hex(8)  # tells apart the processes that have the state, one after the other
    _begun.check_new(path, new, os.path.exists(path))
    record = _durable.Record.resume(path, newer, check)
    if record is not None:
        record.put({**record.place, "start": start})
        return record
    if not new:
        _begun.check(plan, node, path, "batches")
    return _durable.Record.create(path, head, {"next": 0, "begun": False, "own": bool(new), "start": start})


def _same(kept: Json, wanted: Json, path: str) -> None:
    for name, says in (
        ("format", "is no state of batches"),
        ("export", "is of another export"),
        ("node", "is another node's"),
        ("scheme", "is of another export"),
        ("records", "is for another number of records"),
        ("owners", "is for other owners of the records, whose persons would change their batches"),
    ):
        if kept.get(name) != wanted.get(name):
            raise ExportError(f"{path} {says}: {kept.get(name)!r}, not {wanted.get(name)!r}")


def _batches(plan: Export, records: int, key: bytes, persons: Owners | None) -> _draw.Batches:
    if plan.scheme in _draw.SCHEMES:
        s = plan.manifest["sampling"]
        if records > s.get("records", records):
            raise ParticipationError(
                f"{records} records are more than the {s['records']} that batches of at most {s['max_batch']} are private "
                "for: make an export with more records in sampling"
            )
        return _draw.SCHEMES[plan.scheme](records, s, plan.steps, key)
    if plan.schema == "patterns":
        return _draw.Patterns(records, plan.manifest["participation"]["patterns"], plan.steps)
    if plan.schema == "people":
        batches = Dealt(persons, plan.b if plan.k > 1 else plan.steps, plan.manifest["participation"]["person_batches"])
        count, what = batches.groups, "persons cannot be dealt to"
    else:
        b = {"single": plan.steps, "min-sep": max(plan.b, math.ceil(plan.steps / plan.k))}.get(plan.schema, plan.b)
        windows = math.ceil(plan.steps / (b * plan.k))  # more than one where a run is longer than k·b
        batches = _draw.Turns(records, b, plan.k, windows)
        count, what = records, "records cannot be cut into"
    if count < batches.batches:
        raise ParticipationError(
            f"{count} {what} {batches.batches} batches that are never empty: make an export with a smaller b"
        )
    return batches
