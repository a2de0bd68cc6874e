"""A silo and its server: in every round the server sends its weights, and averages those that the silos answer with.

    with Silo(private, "outbox") as silo:                      # private: plan.make_private(…)
        if silo.begin(t, weights):                             # round t is step t; False: it was answered before
            batch = sampler.batch(t)
            private.backward(model, loss, x[batch], y[batch])
            private.step()
        send(silo.answer(t))                                   # and nothing else: no loss, no count of records

    weights = average(plan, weights, {"site-1": …, "site-2": …})      # at the server

A round has one answer for ever, whatever the server asks: the same bytes if it asks again, and none if the round is
over. The server needs no trust: it is the eavesdropper of the export, who sees all messages (docs/cross-silo.md).
"""

from __future__ import annotations

import math
import os
from typing import Any, Mapping

import numpy as np

from .errors import ExportError, MafaldaError, StepError
from ._export import Export
from ._mix import flat
from ._outbox import Outbox
from ._process import Closing


class Silo(Closing):
    """What a silo answers. Usable in a with statement, which closes the private optimizer and its sampler.

    Arguments: private, of plan.make_private, for an optimizer whose every step is a round's; outbox, a file for the
    last answer, beside the state of the noise.
    """

    def __init__(self, private: Any, outbox: str | os.PathLike[str]) -> None:
        if not hasattr(private, "start_from"):
            raise MafaldaError(f"a silo takes what plan.make_private(…) makes, and not a {type(private).__name__}")
        check_server(private.plan)
        self.private, self.plan, self.node = private, private.plan, private.noise.node
        self._outbox = Outbox(outbox, private.noise)
        self._follow()

    def begin(self, step: int, weights: np.ndarray) -> bool:
        """Whether round `step` is to be trained now, from these weights of the server: then take a private step, and
        answer.

        False if it was answered before: answer has the same bytes again, whatever the weights. Rounds that were left
        out are skipped, and their rows carried. A StepError for a round that is over, as after a crash in the middle of
        it, and for one beyond the last; a BudgetError where the silo's own budget ends.
        """
        noise = self.private.noise
        if self._outbox.settle() is not None:
            self._follow()
        if self._answered(step) is not None:
            return False
        if isinstance(step, bool) or not isinstance(step, (int, np.integer)) or not 0 <= step < noise.steps:
            raise StepError(f"round {step!r} of {self.node!r}: the export has the rounds 0 to {noise.steps - 1}")
        if step < noise.next:
            raise StepError(
                f"round {step} is over for {self.node!r}: it was answered, missed or lost in a crash, and its row of noise does not "
                + (f"come twice. Go on with round {noise.next}" if noise.next < noise.steps else "come twice. So are all rounds")
            )
        weights = np.asarray(weights)
        if weights.dtype.kind not in "fiu" or not np.isfinite(weights).all():
            raise MafaldaError(f"round {step} of {self.node!r}: the server's weights are not finite numbers; no row was drawn")
        self.private.start_from(weights)
        self.private.skip_to(min(int(step), noise.end))
        noise.next_step()
        return True

    def answer(self, step: int) -> np.ndarray:
        """The weights that round `step` is answered with: those of the private step, on disk and declared before they
        come back.

        Of a round that was answered before they are the same bytes. A StepError if no private step was made in the
        round.
        """
        kept = self._answered(step)
        if kept is None:
            if self.private.noise.place.issued != step:
                raise StepError(f"no private step was made in round {step} of {self.node!r}: there is nothing that may leave")
            self._outbox.put(step, flat(self.private.parameters).astype(np.float32).tobytes())
            kept = self._answered(step)
        return np.frombuffer(kept, dtype=np.float32)

    def says(self) -> str:
        """A line for the log: the round that is next, and what the silo has spent, rounded up. It is no secret."""
        noise, spent = self.private.noise, self.private.noise.spent
        line = f"{self.node}: {noise.next} of {noise.steps} rounds are over"
        if spent is not None and spent["epsilon"] is not None:
            line += f", epsilon {math.ceil(spent['epsilon'] * 1e4) / 1e4:.4f} at delta {spent['delta']:g} is spent"
        return line + (f"; its budget ends it before round {noise.end}" if noise.end < noise.steps else "")

    def close(self) -> None:
        """Ends the noise server, and lets go of the batches. The states and the outbox stay."""
        self.private.close()
        if self.private.sampler is not None:
            self.private.sampler.close()

    def _answered(self, step: int) -> bytes | None:
        kept = self._outbox.declared
        return kept[1] if kept is not None and kept[0] == step else None

    def _follow(self) -> None:
        """The batch of a row that is carried is missed with it."""
        self.private.skip_to(self.private.noise.next)


def average(plan: Export, weights: np.ndarray, answers: Mapping[str, np.ndarray]) -> np.ndarray:
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


def check_server(plan: Export) -> np.ndarray:
    """The silos' shares in the server's average; an ExportError for an export in which not all nodes average the
    same."""
    w = np.asarray(plan.W.todense() if hasattr(plan.W, "todense") else plan.W)
    if w.ndim != 2 or not np.allclose(w, w[0], rtol=0, atol=1e-12) or plan.manifest["workload"] != "model":
        raise ExportError(
            "the export is for gossip, and a server averages all answers: make it for the complete graph of the silos "
            "(complete:8, or a graph with an edge for every two silos)"
        )
    return w[0]
