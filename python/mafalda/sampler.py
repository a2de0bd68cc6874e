"""Batches that keep the promise: who takes part in which step, over restarts.

    loader = DataLoader(dataset, batch_sampler=plan.sampler(len(dataset), node="Medici", state="batches.state"))

Batches are a function of the cut (or of a secret key), the step and the record, and of nothing else: record i is in
batch i mod b, or is drawn as participation does in Go, with the same numbers. The state file fixes what they depend on
(export, node, number of records, key) and says which steps are over: those are refused for ever. Step t is over when the
batch of a later step is handed out, or, with an optimizer that was made with this sampler, when its step t is done (so
that a DataLoader may run ahead).
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, Iterator

import numpy as np

from . import draw, durable
from .errors import ExportError, ParticipationError
from .ledger import Ledger

if TYPE_CHECKING:
    from .plan import Plan

FORMAT = "mafalda batches 1"


class Sampler:
    """The batches of one node.

    Attributes:
        steps       T
        records     of the node, numbered from 0
        expected    the public size of a batch, on average: sums are divided by it, never by the size of what was drawn
        next        the first step that is not over
        handed      the last step whose batch was handed out; -1 if there is none yet
    """

    def __init__(
        self, plan: "Plan", node: str, batches: draw.Batches, state: str | None, head: dict[str, Any], seeded: bool = False
    ) -> None:
        self.plan, self.node, self.steps, self.records = plan, node, plan.steps, batches.records
        self.expected = batches.expected
        self._batches, self._state, self._head = batches, state, head
        self.next: int = head["next"]
        self.handed = -1
        self._follows = False
        self._seeded = seeded
        self._ledger = Ledger(plan, self.records)
        self._admitted = self.next - 1

    def batch(self, step: int) -> np.ndarray:
        """The numbers of the records that take part in a step, ascending, int64; it may be empty where batches are secret.

        Steps that are over, and those beyond the last, raise a ParticipationError. The same step again gives the same batch.
        """
        if not self.next <= step < self.steps:
            raise ParticipationError(
                f"the batch of step {step} was asked for, where steps from {self.next} to {self.steps - 1} are left: "
                "no step comes twice"
            )
        batch = self._batches.of(step)
        self.handed = step
        if not self._follows:
            self._over(step)  # earlier ones are; this one may be finished after a crash
            self._admit(step, batch)
        return batch

    def __iter__(self) -> Iterator[list[int]]:
        """The batches of all steps that are left, in turn."""
        for _, batch in self.items():
            yield batch.tolist()

    def items(self, start: int | None = None) -> Iterator[tuple[int, np.ndarray]]:
        """Steps and their batches, from a step on (default: the first that is left)."""
        step = self.next if start is None else start
        while step < self.steps:
            yield step, self.batch(step)
            step = max(step + 1, self.next)

    def __len__(self) -> int:
        """How many steps are left."""
        return self.steps - self.next

    def follow(self, step: int, private: bool = False) -> None:
        """From now on somebody else says when a step is over: the optimizer, whose next step this is, and whether its noise is real."""
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
        if not self._head["begun"] and step > 0:
            raise ParticipationError(
                f"the noise is at step {step}, and the batches have a new key: where is their state? Drawn again, records would "
                "come in steps that the export is not private for, and the run cannot go on with it"
            )
        self._follows = True
        self._over(step)

    def finish(self, step: int) -> None:
        """Step is over: its batch was used, or missed."""
        self._admit(step)
        self._over(step + 1)

    def _over(self, step: int) -> None:
        """Steps before this one are over, and the run has begun."""
        if step <= self.next and self._head["begun"]:
            return
        self.next = self._head["next"] = max(self.next, step)
        self._head["begun"] = True
        if self._state is not None:
            durable.write_json(self._state, self._head)

    def _admit(self, step: int, batch: np.ndarray | None = None) -> None:
        if step > self._admitted:
            self._ledger.admit(step, self._batches.of(step) if batch is None else batch)
            self._admitted = step


def make(plan: "Plan", records: int, node: str, state: str | os.PathLike[str] | None, seed: int | None) -> Sampler:
    """See Plan.sampler."""
    if isinstance(records, bool) or not isinstance(records, (int, np.integer)) or records < 1:
        raise ValueError(f"a sampler is for a number of records, at least 1, not {records!r}: use len(dataset)")
    if state is not None and seed is not None:
        raise ValueError("a state is for a real run, a seed for a simulation: give one of them")
    records = int(records)
    secret = plan.scheme != "cyclic"
    if secret and state is None and seed is None:
        raise ValueError(
            "the batches of this export are drawn in secret: give a state, a file for their key (or a seed, for a simulation)"
        )
    path = None if state is None else os.fspath(state)
    head = {
        "format": FORMAT,
        "export": plan.hash,
        "node": node,
        "records": records,
        "scheme": plan.scheme,
        "key": None,
        "next": 0,
        "begun": not secret or seed is not None,  # no batch of the key was used yet
    }
    kept = None if path is None else durable.read_json(path)
    if kept is not None:
        _same(kept, head, str(path))
        head = {**kept, "begun": kept.get("begun", True)}
    elif secret:
        head["key"] = (draw.new_key() if seed is None else draw.seeded_key(seed, node)).hex()
    batches = _batches(plan, records, bytes.fromhex(head["key"]) if head["key"] else b"")
    if kept is None and path is not None:
        durable.write_json(path, head)
    return Sampler(plan, node, batches, path, head, secret and seed is not None)


def _same(kept: dict[str, Any], wanted: dict[str, Any], path: str) -> None:
    for name, says in (
        ("format", "is no state of batches"),
        ("export", "is of another export"),
        ("node", "is another node's"),
        ("scheme", "is of another export"),
        ("records", "is for another number of records"),
    ):
        if kept.get(name) != wanted[name]:
            raise ExportError(f"{path} {says}: {kept.get(name)!r}, not {wanted[name]!r}")


def _batches(plan: "Plan", records: int, key: bytes) -> draw.Batches:
    if plan.scheme in ("poisson", "bins"):
        s = plan.manifest["sampling"]
        return (
            draw.Poisson(records, s["groups"], s["probability"], key)
            if plan.scheme == "poisson"
            else draw.Bins(records, s["groups"], key)
        )
    if plan.scheme != "cyclic":
        raise ExportError(f"the sampling {plan.scheme!r} is not known to this version")
    if plan.schema == "patterns":
        return draw.Patterns(records, plan.manifest["participation"]["patterns"], plan.steps)
    if plan.schema == "cyclic":
        windows = math.ceil(plan.steps / (plan.b * plan.k))  # more than one where a run is longer than k·b
        batches = draw.Turns(records, plan.b, plan.k, windows)
    elif plan.schema in ("single", "min-sep"):
        batches = draw.Turns(
            records, plan.steps if plan.schema == "single" else max(plan.b, math.ceil(plan.steps / plan.k)), plan.k, 1
        )
    else:
        raise ExportError(f"the schema {plan.schema!r} is not known to this version")
    if records < batches.batches:
        raise ParticipationError(
            f"{records} records cannot be cut into {batches.batches} batches that are never empty: make an export "
            "with a smaller b"
        )
    return batches
