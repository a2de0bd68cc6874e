"""A silo and its server: in every round the server sends its weights, and averages those that the silos answer with.

    with Silo(private, "outbox") as silo:                      # private: plan.make_private(…)
        if silo.begin(t, weights):                             # round t is step t; False: it was answered before
            batch = sampler.batch(t)
            private.backward(model, loss, x[batch], y[batch])
            private.step()
        send(silo.answer(t))                                   # and nothing else: no loss, no count of records

    weights = average(plan, weights, {"site-1": …, "site-2": …})      # at the server

With a plan that protects a silo's whole update (unit="silo") it trains as it likes, and the update is clipped as one:

    with Silo(plan.noise("site-1", dim, state="noise"), "outbox") as silo:
        if silo.begin(t, weights):
            silo.update(trained)                               # the weights after any number of local steps
        send(silo.answer(t))

A round has one answer for ever, whatever the server asks: the same bytes if it asks again, and none if the round is
over. The server needs no trust: it is the eavesdropper of the export, who sees all messages (docs/cross-silo.md).
"""

from __future__ import annotations

import math
from typing import Any, Mapping

import numpy as np

from .errors import ExportError, MafaldaError, ParticipationError, StepError, warn
from ._export import Export
from ._mix import flat
from ._outbox import Outbox
from ._process import Closing
from ._types import Array, Path, is_whole


class Silo(Closing):
    """What a silo answers. Usable in a with statement, which closes the private optimizer and its sampler, or the noise.

    Arguments: private, of plan.make_private, for an optimizer whose every step is a round's, or, of a plan that protects a
    silo's whole update, of plan.noise; outbox, a file for the last answer, beside the state of the noise.
    """

    def __init__(self, private: Any, outbox: Path) -> None:
        self._whole = isinstance(getattr(private, "plan", None), Export) and private.plan.schema == "silo"
        if not hasattr(private, "sending" if self._whole else "start_from"):
            maker = "noise(…), for whole updates," if self._whole else "make_private(…)"
            raise MafaldaError(f"a silo takes what plan.{maker} makes, and not a {type(private).__name__}")
        check_server(private.plan)
        self.private, self.plan, self.noise = private, private.plan, private if self._whole else private.noise
        self.node = self.noise.node
        self._clip = self.plan.level(self.node).clip
        if self._whole and self._clip is None:
            raise ExportError("the export has no privacy level: make it with epsilon and delta, or mu, and the clip of updates")
        self._begun: tuple[int, Array] | None = None  # the round whose update is waited for, and the server's weights
        self._made: tuple[int, Array] | None = None  # the round whose update was made, and the weights with its noise
        self._outbox = Outbox(outbox, self.noise)
        self._follow()

    def begin(self, step: int, weights: Array) -> bool:
        """Whether round `step` is to be trained now, from these weights of the server: then take a private step, and
        answer.

        False if it was answered before: answer has the same bytes again, whatever the weights. Rounds that were left
        out are skipped, and their rows carried. A StepError for a round that is over, as after a crash in the middle of
        it, and for one beyond the last; a BudgetError where the silo's own budget ends.
        """
        noise = self.noise
        if self._outbox.settle() is not None:
            self._follow()
        if self._answered(step) is not None:
            return False
        if not is_whole(step, 0, noise.steps):
            raise StepError(f"round {step!r} of {self.node!r}: the export has the rounds 0 to {noise.steps - 1}")
        if step < noise.next:
            raise StepError(
                f"round {step} is over for {self.node!r}: it was answered, missed or lost in a crash, and its row of noise does not "
                + (f"come twice. Go on with round {noise.next}" if noise.next < noise.steps else "come twice. So are all rounds")
            )
        weights = np.asarray(weights)
        if weights.dtype.kind not in "fiu" or not (np.abs(weights) <= np.finfo(np.float32).max).all():
            raise MafaldaError(
                f"round {step} of {self.node!r}: the server's weights, in single precision, are not finite numbers; no row "
                "was drawn"
            )
        if not self._whole:
            self.private.start_from(weights)
        elif weights.shape != (noise.dim,):
            raise ExportError(f"weights of shape {weights.shape}, and the noise is for a model of {noise.dim} numbers")
        self.private.skip_to(min(int(step), noise.end))
        noise.next_step()
        self._begun = (int(step), weights.astype(np.float64))
        return True

    def update(self, trained: Array) -> None:
        """Takes the weights that the round's training has ended with, of any optimizer and any number of local steps.

        The update, their difference to the server's, is clipped as one vector to the export's norm, and gets the round's row
        of noise. One that is not finite counts as zero. A StepError if no round was begun; there is one update in a round.
        """
        if not self._whole:
            raise ParticipationError("the export protects records, which are clipped one by one: take a private step, and no update")
        if self._begun is None:
            raise StepError(f"no round of {self.node!r} was begun, or its update was made")
        step, weights = self._begun
        if np.shape(trained) != weights.shape:
            raise ExportError(f"trained weights of shape {np.shape(trained)}, where the server's have {weights.shape}")
        self._begun = None
        self._made = (step, weights + (clipped(np.asarray(trained, dtype=np.float64) - weights, self._clip) + self.noise.row(step)))

    def answer(self, step: int) -> Array:
        """The weights that round `step` is answered with: those of the private step, on disk and declared before they
        come back.

        Of a round that was answered before they are the same bytes. A StepError if no private step was made in the
        round.
        """
        kept = self._answered(step)
        if kept is None:
            if self.noise.place.issued != step or self._whole and (self._made is None or self._made[0] != step):
                what = "update" if self._whole else "private step"
                raise StepError(f"no {what} was made in round {step} of {self.node!r}: there is nothing that may leave")
            weights = self._made[1] if self._whole else flat(self.private.parameters)
            self._outbox.put(step, weights.astype(np.float32).tobytes())
            kept = self._answered(step)
        return np.frombuffer(kept, dtype=np.float32)

    def says(self) -> str:
        """A line for the log: the round that is next, and what the silo has spent, rounded up. It is no secret."""
        noise, spent = self.noise, self.noise.spent
        line = f"{self.node}: {noise.next} of {noise.steps} rounds are over"
        if spent is not None and spent.get("epsilon") is not None:
            line += f", epsilon {math.ceil(spent['epsilon'] * 1e4) / 1e4:.4f} at delta {spent['delta']:g} is spent"
        elif spent is not None:  # the export has a mu, and no delta
            line += f", mu {math.ceil(spent['mu'] * 1e4) / 1e4:.4f} is spent"
        return line + (f"; its budget ends it before round {noise.end}" if noise.end < noise.steps else "")

    def close(self) -> None:
        """Ends the noise server, and lets go of the batches. The states and the outbox stay."""
        self.private.close()
        if not self._whole and self.private.sampler is not None:
            self.private.sampler.close()

    def _answered(self, step: int) -> bytes | None:
        kept = self._outbox.declared
        return kept[1] if kept is not None and kept[0] == step else None

    def _follow(self) -> None:
        """The batch of a row that is carried is missed with it."""
        self.private.skip_to(self.noise.next)


def clipped(update: Array, norm: float) -> Array:
    """An update, scaled down to this 2-norm where it is longer; zeros where it is not finite."""
    if not np.isfinite(update).all():
        warn("an update is not finite, and counts as zero: what is sent is noise alone")
        return np.zeros_like(update)
    largest = float(np.abs(update).max(initial=0))
    length = largest * math.sqrt(np.square(update / largest).sum()) if largest > 0 else 0.0
    return update if length <= norm * (1 - 1e-9) else update / length * (norm * (1 - 1e-9))


def average(plan: Export, weights: Array, answers: Mapping[str, Array]) -> Array:
    """The server's next weights, of its last ones and the answers of the silos by label.

    A silo that did not answer counts with the server's own weights, so that what pairs share cancels in the rounds of
    all others; an average of those that are there would weigh a row that is carried in another way than its opposite.
    An ExportError for a label that is none of the export's, and for an answer of another size.
    """
    shares = check_server(plan)
    total = np.array(weights, dtype=np.float64)
    for node, answer in answers.items():
        if np.shape(answer) != np.shape(weights):
            raise ExportError(f"the answer of {node!r} has {np.size(answer)} numbers, the server's weights {np.size(weights)}")
        if not np.isfinite(answer).all():
            raise MafaldaError(f"the answer of {node!r} is not finite numbers: leave it out")
        total += shares[plan.index(node)] * (np.asarray(answer, dtype=np.float64) - weights)
    return total.astype(np.result_type(weights, np.float32))


def check_server(plan: Export) -> Array:
    """The silos' shares in the server's average; an ExportError for an export in which not all nodes average the
    same."""
    w = np.asarray(plan.W.todense() if hasattr(plan.W, "todense") else plan.W)
    if w.ndim != 2 or not np.allclose(w, w[0], rtol=0, atol=1e-12) or plan.manifest["workload"] != "model":
        raise ExportError(
            "the export is for gossip, and a server averages all answers: make it for the complete graph of the silos "
            "(complete:8, or a graph with an edge for every two silos)"
        )
    return w[0]
