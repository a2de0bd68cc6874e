"""Opacus: its per-sample gradients and clipping, with the noise and the batches of an export.

    sampler = plan.sampler(len(data), node="Medici", state="batches.state")
    loader = DataLoader(data, batch_sampler=sampler)
    model = GradSampleModule(model)
    optimizer = MafaldaOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), plan=plan, node="Medici", state="noise.state", loader=loader)
    for x, y in loader:
        optimizer.zero_grad()
        cross_entropy(model(x), y).backward()
        optimizer.step()

PrivacyEngine.make_private is not used: it puts a loader of Poisson batches and independent noise in the place of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from opacus.optimizers import DPOptimizer
from opacus.optimizers.optimizer import _check_processed_flag, _mark_as_processed

from .clipping import clip_and_sum
from .errors import ExportError, StepError
from .noise import Noise
from .torch import add_row, check_batch, check_loader, checked_clip, checked_size, follow, prefetched

if TYPE_CHECKING:
    from .plan import Plan
    from .sampler import Sampler


class MafaldaOptimizer(DPOptimizer):
    """A DPOptimizer whose noise in step t is row t of an export, and which divides by the public size of a batch.

    loader is the DataLoader, whose batches must be those of plan.sampler; Opacus's Poisson loaders are refused, unless the export
    is for Poisson batches of one group and the loader draws with its probability at most. For other ways of feeding
    batches give the sampler itself. state, seed: as Plan.noise has them.
    """

    def __init__(
        self,
        optimizer: "torch.optim.Optimizer",
        *,
        plan: "Plan",
        node: str,
        state: Any = None,
        seed: int | None = None,
        loader: Any = None,
        sampler: "Sampler | None" = None,
        max_grad_norm: float | None = None,
        expected_batch_size: float | None = None,
        loss_reduction: str = "mean",
        **options: Any,
    ) -> None:
        if loader is None and sampler is None:
            raise ValueError("where do the batches come from? Give loader, or the sampler")
        clip = checked_clip(plan, max_grad_norm)
        if loader is not None and not opacus_poisson(plan, loader):
            check_loader(plan, loader, sampler)
            sampler = loader.batch_sampler
        if sampler is None:
            if expected_batch_size is None:
                raise ValueError(
                    "expected_batch_size is the public size of a batch: the probability times the number of records"
                )
            size = float(expected_batch_size)
        else:
            size = checked_size(plan, sampler, expected_batch_size, node)
        dim = sum(p.numel() for group in optimizer.param_groups for p in group["params"] if p.requires_grad)
        self.plan, self.sampler, self._count, self._ahead = plan, sampler, 0, prefetched(loader)
        self.noise: Noise = plan.noise(node, dim, state, seed, **options)
        super().__init__(
            optimizer,
            noise_multiplier=self.noise.std / clip,
            max_grad_norm=clip,
            expected_batch_size=size,
            loss_reduction=loss_reduction,
        )
        if sampler is not None:
            follow(sampler, self.noise)

    @property
    def step_number(self) -> int:
        """t: the next step uses row t, and batch t of the sampler."""
        return self.noise.next

    def clip_and_accumulate(self) -> None:
        """Opacus's, but for gradients that are not finite, which count as zero, and sums that do not round beyond the clip."""
        samples = self.grad_samples
        for p in self.params:
            _check_processed_flag(p.grad_sample)
        for p, total in zip(self.params, clip_and_sum(samples, self.max_grad_norm)):
            p.summed_grad = total if p.summed_grad is None else p.summed_grad + total
            _mark_as_processed(p.grad_sample)
        self._count += len(samples[0])

    def zero_grad(self, set_to_none: bool = False) -> None:
        """Forgets the gradients since the last step, unless they are of a part of a batch."""
        if not self._is_last_step_skipped:
            self._count = 0
        super().zero_grad(set_to_none)

    def add_noise(self) -> None:
        """Row t, once, to the sums of clipped gradients."""
        t = self.step_number
        if t >= self.noise.steps:
            raise StepError(f"all {self.noise.steps} steps are done: more would need another export")
        if self.sampler is not None:
            check_batch(self.sampler, t, self._count, self._ahead)
        sums = [p.summed_grad.contiguous() for p in self.params]
        add_row(self.noise, t, sums)
        for p, total in zip(self.params, sums):
            p.grad = total.view_as(p).to(p.dtype)
            p.summed_grad = None
        self._count = 0
        if self.sampler is not None:
            self.sampler.finish(t)

    def scale_grad(self) -> None:
        """Divides by the public size, whatever the number of records and of passes was (loss_reduction mean), or not at all (sum)."""
        if self.loss_reduction == "mean":
            for p in self.params:
                p.grad /= self.expected_batch_size

    def state_dict(self) -> dict[str, Any]:
        """The optimizer's, with the step, the export and the node under "mafalda"."""
        place = {"step": self.step_number, "export": self.plan.hash, "node": self.noise.node}
        return {**self.original_optimizer.state_dict(), "mafalda": place}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on with the row that is next; a checkpoint that is ahead of the noise is a StepError."""
        place = state_dict["mafalda"]
        if place["export"] != self.plan.hash or place["node"] != self.noise.node:
            raise ExportError(f"the checkpoint is of node {place['node']!r} and export {place['export']}")
        if place["step"] > self.step_number:
            raise StepError(
                f"the checkpoint is at step {place['step']}, the noise at step {self.step_number}: the noise state is not the one of this run"
            )
        self.original_optimizer.load_state_dict({k: v for k, v in state_dict.items() if k != "mafalda"})


def opacus_poisson(plan: "Plan", loader: Any) -> bool:
    """Whether a loader draws the Poisson batches that an export is for."""
    rate = getattr(getattr(loader, "batch_sampler", None), "sample_rate", None)
    if rate is None or plan.scheme != "poisson":
        return False
    sampling = plan.manifest["sampling"]
    return sampling["groups"] == 1 and rate <= sampling["probability"]
