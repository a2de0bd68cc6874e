"""Who took part when, and whether the export is private for it."""

from __future__ import annotations

from typing import Iterable

import numpy as np

from ._draw import Allocation
from .errors import ParticipationError
from ._export import Export
from ._people import Owners, PersonLedger
from ._types import Array


class Ledger:
    """Admits batches in the order of their steps, and raises a ParticipationError for a record that comes too soon or too often.

    It checks the schema of the export. That a draw is random, and secret, no ledger can see: exports for secret batches are
    for plan.sampler only.
    """

    def __init__(self, plan: Export, records: int, owners: Owners | None = None) -> None:
        self._schema, self._k, self._b, self._steps = plan.schema, plan.k, plan.b, plan.steps
        if plan.scheme != "cyclic":  # a record's group comes every `groups` steps, at most k times
            sampling = plan.manifest["sampling"]
            self._schema, self._b, self._k = "cyclic", sampling["groups"], sampling["rounds"]
        self._blocks = None  # tells in which block of its group a step is, for random allocation
        if plan.scheme == "allocation":
            self._blocks = Allocation(0, self._b, self._k, self._steps, bytes(32)).block
        self._records = records
        self._first = np.full(records, -1, dtype=np.int64)
        self._last = np.full(records, -1, dtype=np.int64)
        self._times = np.zeros(records, dtype=np.int64)
        self._now = -1
        self._persons = None if owners is None else PersonLedger(plan, owners)
        if self._persons is not None:
            self._schema = "cyclic"
        self._patterns = [set(p) for p in plan.manifest["participation"].get("patterns", [])]
        self._open: dict[int, list[int]] = {}  # patterns that have all steps of a record so far

    def admit(self, step: int, batch: Iterable[int]) -> None:
        """The records of step's batch take part. Nothing is noted if one must not."""
        who = np.asarray(batch if isinstance(batch, Array) else list(batch), dtype=np.int64)
        if not self._now < step < self._steps:
            raise ParticipationError(
                f"step {step} after step {self._now}, of {self._steps}: steps only go up, and none comes twice"
            )
        if who.size and (who.min() < 0 or who.max() >= self._records):
            raise ParticipationError(
                f"a record that is none of the {self._records} in step {step}: has the dataset changed?"
            )
        if np.unique(who).size != who.size:
            raise ParticipationError(f"a record is in the batch of step {step} twice")
        if self._schema == "patterns":
            self._admit_patterns(step, who)
        else:
            self._check(step, who)
        if self._persons is not None:
            self._persons.admit(step, who)
        self._first[who] = np.where(self._times[who] == 0, step, self._first[who])
        self._last[who] = step
        self._times[who] += 1
        self._now = step

    def _check(self, step: int, who: Array) -> None:
        before = who[self._times[who] > 0]
        apart = step - self._last[before]
        soon = before[apart < self._b] if self._schema != "cyclic" else before[apart % self._b != 0]
        if soon.size:
            r = int(soon[0])
            how = "a multiple of" if self._schema == "cyclic" else "at least"
            raise ParticipationError(
                f"record {r} took part in step {self._last[r]} and would in step {step}: the export is private for "
                f"records whose steps are {how} {self._b} apart (is the loader shuffling? use plan.sampler)"
            )
        if self._blocks is not None:
            block = self._blocks(step)[0]
            again = [int(r) for r in before if self._blocks(int(self._last[r]))[0] == block]
            if again:
                raise ParticipationError(
                    f"record {again[0]} took part in step {self._last[again[0]]} and would in step {step}: both are of one block, "
                    f"and the export is private for one step a block"
                )
            return
        often = before[self._times[before] >= self._k]
        if self._schema == "cyclic":  # k turns in a row, some of which may be missed
            often = before[step - self._first[before] > (self._k - 1) * self._b]
        if often.size:
            raise ParticipationError(
                f"record {often[0]} would take part in step {step}, after its last one: the export is private for "
                f"k = {self._k} times at most, {self._b} steps apart"
            )

    def _admit_patterns(self, step: int, who: Array) -> None:
        fits = [i for i, p in enumerate(self._patterns) if step in p]
        left = {int(r): [i for i in self._open.get(int(r), range(len(self._patterns))) if i in fits] for r in who}
        for r, patterns in left.items():
            if not patterns:
                raise ParticipationError(
                    f"record {r} would take part in step {step}: no pattern of the export has this step and its earlier ones"
                )
        self._open.update(left)
