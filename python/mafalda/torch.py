"""A torch optimizer whose steps are private: per-sample clipping, the sum, row t of the noise, the division, then any
optimizer.

    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    private = plan.make_private(sgd, node="Medici", state="noise.state", sampler=sampler)
    for x, y in DataLoader(data, batch_sampler=sampler):
        private.backward(model, cross_entropy, x, y)
        private.step()

Momentum, Adam and learning rates come after the noise and are free; schedulers take the optimizer that was given.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Callable

import torch

from .clipping import Loss, clipped_sum, zeros
from .errors import ExportError, MafaldaError, ParticipationError, StepError
from .noise import BLOCK, Noise

if TYPE_CHECKING:
    from .plan import Plan
    from .sampler import Sampler


class PrivateOptimizer:
    """Made by Plan.make_private.

    Arguments:
        optimizer   of torch: it gets the private gradients, and nothing else
        clip        norm of every record's gradient; the export's by default, and not above it
        state, seed as Plan.noise has them: exactly one
        sampler     plan.sampler's; without it or loader, size (the public size of a batch) is needed, and batches are
                    the caller's
        loader      the DataLoader, to be checked: its batches are those of plan.sampler. One with workers must be given
        chunk       records whose gradients are in memory at once

    Attributes: noise, sampler, size, step_number (the step whose gradients are taken now).
    """

    def __init__(
        self,
        optimizer: "torch.optim.Optimizer",
        plan: "Plan",
        *,
        node: str,
        clip: float | None = None,
        state: Any = None,
        seed: int | None = None,
        sampler: "Sampler | None" = None,
        size: float | None = None,
        loader: Any = None,
        chunk: int = 64,
        **options: Any,
    ) -> None:
        self.optimizer, self.plan = optimizer, plan
        self.parameters = [p for group in optimizer.param_groups for p in group["params"] if p.requires_grad]
        self.clip = checked_clip(plan, clip)
        if loader is not None:
            check_loader(plan, loader, sampler)
            sampler = loader.batch_sampler
        self.sampler = sampler
        self.size = checked_size(plan, sampler, size, node)
        self._chunk, self._count = chunk, 0
        self._ahead = prefetched(loader)
        self.noise: Noise = plan.noise(node, sum(p.numel() for p in self.parameters), state, seed, **options)
        self._sums: list[torch.Tensor] | None = None
        optimizer.zero_grad(set_to_none=True)  # what was there has no noise
        if sampler is not None:
            follow(sampler, self.noise)

    @property
    def step_number(self) -> int:
        """t: the next step uses row t, and batch t of the sampler."""
        return self.noise.next

    def backward(self, model: "torch.nn.Module", loss: Loss, inputs: "torch.Tensor", targets: "torch.Tensor") -> None:
        """Adds the clipped gradients of some records; several times a step if need be, not at all for an empty batch.

        loss(outputs, targets) gets a batch of one record at a time: torch.nn.functional.cross_entropy, for example.
        """
        mine = {id(p) for p in self.parameters}
        theirs = {id(p) for p in model.parameters() if p.requires_grad}
        if mine != theirs:
            raise ExportError(
                "the model's parameters are not those of the optimizer: gradients of some would go out without noise"
            )
        self._count += len(inputs)
        sums = clipped_sum(model, self.parameters, loss, inputs, targets, self.clip, self._chunk)
        if self._sums is None:
            self._sums = sums
        else:
            for total, part in zip(self._sums, sums):
                total.add_(part)

    def step(self, closure: Callable[[], Any] | None = None) -> int:
        """Adds row t to the sum, divides by the public size, and has the optimizer step; returns t.

        The row belongs to this gradient from then on. After a crash the next step is t+1, whatever became of this one.
        """
        if closure is not None:
            raise ValueError(
                "closures evaluate gradients again, in one step: that is more than one gradient under one row"
            )
        t = self.step_number
        if t >= self.noise.steps:
            raise StepError(f"all {self.noise.steps} steps are done: more would need another export")
        if self.sampler is not None:
            check_batch(self.sampler, t, self._count, self._ahead)
        if self._sums is None and any(p.grad is not None for p in self.parameters):
            raise MafaldaError(
                "the gradients are those of loss.backward(), which does not clip: "
                "call private.backward(model, loss, inputs, targets)"
            )
        sums = self._sums if self._sums is not None else zeros(self.parameters)
        add_row(self.noise, t, sums)
        self.optimizer.zero_grad(set_to_none=True)  # also of parameters that are not trained
        for p, total in zip(self.parameters, sums):
            p.grad = total.div_(self.size).to(p.dtype)
        self._sums, self._count = None, 0
        if self.sampler is not None:
            self.sampler.finish(t)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return t

    def skip_to(self, step: int) -> list[int]:
        """Steps before this one were missed, nothing of them left: rows are carried (Noise.skip). Returns them."""
        missed = self.noise.skip_to(step)
        if self.sampler is not None:
            self.sampler.follow(self.noise.next)
        return missed

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets the gradients since the last step; if their row came, as before Ctrl-C, that step is over."""
        self._sums, self._count = None, 0
        if self.sampler is not None:
            self.sampler.follow(self.noise.next)
        self.optimizer.zero_grad(set_to_none=set_to_none)

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """The optimizer's. Schedulers of learning rates take the optimizer itself."""
        return self.optimizer.param_groups

    def state_dict(self) -> dict[str, Any]:
        """The optimizer's, with the step, the export and the node. No secret: that is in the noise's state."""
        return {
            "optimizer": self.optimizer.state_dict(),
            "step": self.step_number,
            "export": self.plan.hash,
            "node": self.noise.node,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on from a checkpoint, with the row that is next: no row comes twice, whatever the checkpoint says.

        One that is ahead of the noise is a StepError: the noise state is older than the checkpoint, or new. If it is
        behind, the steps in between stay spent, with a warning.
        """
        if state["export"] != self.plan.hash or state["node"] != self.noise.node:
            raise ExportError(f"the checkpoint is of node {state['node']!r} and export {state['export']}")
        if state["step"] > self.step_number:
            raise StepError(
                f"the checkpoint is at step {state['step']}, the noise at step {self.step_number}: the noise state is "
                "not the one of this run, and its rows would be used twice"
            )
        if state["step"] < self.step_number:
            warnings.warn(
                f"the checkpoint is at step {state['step']}, the noise at step {self.step_number}: the steps in "
                "between are spent",
                stacklevel=2,
            )
        self.optimizer.load_state_dict(state["optimizer"])

    def close(self) -> None:
        """Ends the noise server."""
        self.noise.close()


def add_row(noise: Noise, step: int, tensors: list["torch.Tensor"], block: int = BLOCK) -> None:
    """Adds a step's row to tensors that have dim numbers together, on their device, a block at a time."""
    flats = [t.view(-1) for t in tensors]
    if sum(f.numel() for f in flats) != noise.dim:
        raise ExportError(
            f"the model has {sum(f.numel() for f in flats)} parameters, the noise {noise.dim}: "
            "has the model changed its size?"
        )
    dtype = "float64" if any(f.dtype == torch.float64 for f in flats) else "float32"
    starts, at = [], 0
    for f in flats:
        starts.append(at)
        at += f.numel()
    i = 0
    for offset, part in noise.blocks(step, size=block, dtype=dtype):
        row = torch.from_numpy(part)
        taken = 0
        while taken < row.numel():
            inside = offset + taken - starts[i]
            count = min(flats[i].numel() - inside, row.numel() - taken)
            flats[i][inside : inside + count].add_(row[taken : taken + count].to(flats[i].device, flats[i].dtype))
            taken += count
            if inside + count == flats[i].numel():
                i += 1


def checked_clip(plan: "Plan", clip: float | None) -> float:
    """The norm to clip to: the export's noise is for its own, or for less."""
    clip = plan.clip if clip is None else clip
    if clip is None or not 0 < clip < float("inf"):
        raise ValueError(f"clip is the norm of every record's gradient, above 0, not {clip!r}")
    if plan.clip is not None and clip > plan.clip:
        raise ExportError(f"clip={clip}, where the noise of the export is for gradients of norm {plan.clip}")
    return float(clip)


def checked_size(plan: "Plan", sampler: "Sampler | None", size: float | None, node: str) -> float:
    """The public number that sums are divided by."""
    if sampler is None:
        if plan.scheme != "cyclic":
            raise ParticipationError(
                "the batches of this export are drawn in secret: make the optimizer with sampler=plan.sampler(…)"
            )
        if size is None or not size > 0:
            raise ValueError("give the sampler (plan.sampler), or size, the public size of a batch")
        return float(size)
    if sampler.plan is not plan and sampler.plan.hash != plan.hash or sampler.node not in (node, ""):
        raise ExportError(f"the sampler is of node {sampler.node!r} and another export or node than this one")
    return float(sampler.expected if size is None else size)


def follow(sampler: "Sampler", noise: Noise) -> None:
    """The sampler goes with the noise from now on; if it cannot, the noise is let go of."""
    try:
        sampler.follow(noise.next, noise.private)
    except BaseException:
        noise.close()
        raise


def prefetched(loader: Any) -> int:
    """How many batches beyond the one in use a DataLoader's workers may have asked the sampler for."""
    workers = getattr(loader, "num_workers", 0)
    return workers * (getattr(loader, "prefetch_factor", None) or 2)


def check_batch(sampler: "Sampler", t: int, count: int, ahead: int) -> None:
    """The gradients of count records must be of the sampler's batch of step t, as far as that can be seen."""
    if not count:
        return
    handed = sampler.handed
    wanted = len(sampler.batch(t))
    sampler.handed = handed
    if not t <= handed <= t + ahead:
        raise ParticipationError(
            f"the gradients of step {t} are not of the sampler's batch {t} (it handed out that of step {handed} last): "
            "batch and row of a step belong together. Was a batch left out? Then skip its step: skip_to. Has the "
            "loader workers? Then give it, loader=…"
        )
    if count != wanted:
        raise ParticipationError(f"gradients of {count} records came in step {t}, whose batch has {wanted}")


def check_loader(plan: "Plan", loader: Any, sampler: "Sampler | None") -> None:
    """Refuses a DataLoader whose batches are not those of plan.sampler: it shuffles, or cuts batches of its own."""
    from .sampler import Sampler

    batches = getattr(loader, "batch_sampler", None)
    if isinstance(batches, Sampler) and batches.plan.hash == plan.hash and (sampler is None or batches is sampler):
        return
    kind = type(getattr(loader, "sampler", None)).__name__
    raise ParticipationError(
        f"the loader draws its own batches ({kind}): the export is private for other ones. Use "
        "DataLoader(dataset, batch_sampler=plan.sampler(len(dataset), …))"
    )
