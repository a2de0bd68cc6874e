"""Opacus: its per-sample gradients and clipping, with the noise and the batches of an export.

    sampler = plan.sampler(len(data), node="Medici", state="batches.state")
    loader = DataLoader(data, batch_sampler=sampler)
    model = GradSampleModule(model)
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer = MafaldaOptimizer(sgd, module=model, plan=plan, node="Medici", state="noise.state", loader=loader)
    for x, y in loader:
        optimizer.zero_grad()
        cross_entropy(model(x), y).backward()
        optimizer.step()

Opacus's BatchMemoryManager may cut the batches of this loader into smaller ones. PrivacyEngine.make_private is not used:
it puts a loader of its own and independent noise in the place of these.
"""

from __future__ import annotations

import threading
from typing import Any, Callable

import torch
from opacus.optimizers import DPOptimizer
from opacus.optimizers.optimizer import _check_processed_flag, _mark_as_processed

from .canaries import Canaries, Recorder
from ._clipping import clip_and_sum
from .errors import ExportError, MafaldaError, ParticipationError
from ._export import Export
from ._guard import Private, StepGuard, check_model, one_at_a_time, trained_parameters, warn_of_optimizer
from ._noise import Noise
from ._noise_source import open_noise
from ._sampler import Sampler
from .torch import (
    add_canaries,
    add_row,
    check_batch,
    check_checkpoint,
    check_loader,
    check_places,
    checked_canaries,
    checked_clip,
    checked_size,
    checkpoint,
    follow,
    prefetched,
    recorded_momentum,
    recording,
    refuse_closure,
    skip_to,
)
from ._watch import Watch


class MafaldaOptimizer(Private, DPOptimizer):
    """A DPOptimizer whose noise in step t is row t of an export, and which divides by the public size of a batch.

    module is the model: the optimizer must train all of it. loader is the DataLoader, whose batches must be those of
    plan.sampler; for other ways of feeding batches give the sampler itself. Opacus's own Poisson loaders are refused: they
    draw with torch's generator, whose draws are no secret, and nothing says which of their batches belongs to which
    step. plan.sampler draws Poisson batches with a secret key. The loss of a batch is reduced as loss_reduction says, which
    is the GradSampleModule's, too. state, seed: as Plan.noise has them. canaries, record: as
    mafalda.torch.PrivateOptimizer has them.
    """

    def __init__(
        self,
        optimizer: "torch.optim.Optimizer",
        *,
        module: "torch.nn.Module",
        plan: Export,
        node: str | None = None,
        state: Any = None,
        seed: int | None = None,
        loader: Any = None,
        sampler: Sampler | None = None,
        max_grad_norm: float | None = None,
        expected_batch_size: float | None = None,
        loss_reduction: str = "mean",
        canaries: Canaries | None = None,
        record: Any = None,
        **options: Any,
    ) -> None:
        if plan.schema == "people":
            raise ExportError(
                "the export protects persons, whose records are clipped together, and Opacus clips each record: use "
                "plan.make_private"
            )
        if loader is None and sampler is None:
            raise ParticipationError(
                "where do the batches come from? Give loader=DataLoader(data, batch_sampler=plan.sampler(len(data), …)), or "
                "that sampler"
            )
        parameters = trained_parameters(optimizer)
        node = plan.check_node(node)
        clip = checked_clip(plan, node, max_grad_norm, options.get("noise_std"))
        if loader is not None:
            check_loader(plan, loader, sampler)
            sampler = loader.batch_sampler
        if sampler.shape is not None:
            raise ParticipationError("Opacus cannot tell rows of padding from records: use plan.make_private, or no pad=True")
        size = checked_size(plan, sampler, expected_batch_size, node)
        check_model(module, parameters)
        warn_of_optimizer(plan, optimizer)
        refuse_mixing_layers(module, loss_reduction)
        self._clip, self._turn = clip, threading.RLock()
        self.plan, self.sampler, self.module = plan, sampler, module
        layers = [p.numel() for p in parameters]
        self.canaries = checked_canaries(canaries, sampler, sum(layers), clip)
        momentum = recorded_momentum(optimizer)
        self._taken: tuple[int, int] | None = None  # the step that summed gradients are for, and of how many records
        self._ahead, self._watch = prefetched(loader), Watch()
        self._cut = False  # whether a BatchMemoryManager cuts batches
        divisor = size if loss_reduction == "mean" else 1.0
        self._record = None if record is None else Recorder(plan, node, record, layers, divisor, momentum)
        self._watch.take_over(parameters)
        self._trained = [id(p) for p in parameters]
        self.noise: Noise = open_noise(plan, node, sum(layers), state, seed, **options)
        super().__init__(
            optimizer,
            noise_multiplier=self.noise.std / clip,
            max_grad_norm=clip,
            expected_batch_size=size,
            loss_reduction=loss_reduction,
        )
        follow(sampler, self.noise)
        super().zero_grad(set_to_none=True)  # what was there is no gradient of a batch
        if canaries is not None:
            sampler.real = canaries.records
        self._guard = StepGuard.of(optimizer)
        self._begin_watch()

    def _begin_watch(self) -> None:
        """Parameters are watched from the next forward pass on that a gradient may follow."""

        def begin(module: "torch.nn.Module", *_: Any) -> None:
            if module.training and torch.is_grad_enabled():
                hook.remove()
                self._watch.check(module)

        hook = self.module.register_forward_pre_hook(begin)

    @property
    def step_number(self) -> int:
        """t: the next step uses row t, and batch t of the sampler."""
        return self.noise.next

    @one_at_a_time
    def step(self, closure: Callable[[], Any] | None = None) -> None:
        """Clips, adds row t, divides by the public size, and has the wrapped optimizer step; of a part of a batch, clips only.

        After an error or an interruption nothing of this gradient is left: go on with the batch of step_number.
        """
        try:
            refuse_closure(closure)
            self.noise.next_step()
            if [id(p) for p in self.params] != self._trained:
                raise ExportError(
                    "parameters were frozen or thawed since the optimizer was made: some may have gradients without noise. "
                    "What is trained stays the same for a whole run"
                )
            check_model(self.module, self.params)
            refuse_mixing_layers(self.module, self.loss_reduction)
            self._guard.check_state()
            self._watch.check(self.module)
            if self.pre_step():
                t = self.noise.next - 1
                with recording(self._record, t, self.params, self.original_optimizer), self._watch.changing(), self._guard:
                    self.original_optimizer.step()
        except BaseException:
            self._forget()
            raise

    def clip_and_accumulate(self) -> None:
        """Opacus's, but for gradients that are not finite, which count as zero, and sums that do not round beyond the clip."""
        if not 0 < self.max_grad_norm <= self._clip:
            raise ExportError(f"max_grad_norm is {self.max_grad_norm} now, and the noise is for gradients of norm {self._clip}")
        samples = self.grad_samples
        if len({len(g) for g in samples}) != 1:
            raise MafaldaError(
                "some parameters have gradients of more records than others: a backward pass was not finished, or some "
                "layers saw other batches. Call zero_grad, and take the gradients of the batch again"
            )
        for p in self.params:
            _check_processed_flag(p.grad_sample)
        t, count = self._taken or (self.step_number, 0)
        for p, total in zip(self.params, clip_and_sum(samples, self.max_grad_norm)):
            p.summed_grad = total if p.summed_grad is None else p.summed_grad + total
            _mark_as_processed(p.grad_sample)
        self._taken = t, count + len(samples[0])

    def zero_grad(self, set_to_none: bool = False) -> None:
        """Forgets the gradients since the last step, unless they are of a part of a batch."""
        if not self._is_last_step_skipped:
            self._taken = None
        super().zero_grad(set_to_none)

    def _forget(self) -> None:
        """Forgets all gradients, those of parts too; if their row came, as before Ctrl-C, that step is over."""
        self._is_last_step_skipped = False
        self.zero_grad(set_to_none=True)
        self.sampler.follow(self.noise.next)

    def add_noise(self) -> None:
        """Row t, once, to the sums of clipped gradients."""
        t = self.noise.next_step()
        (of, count), self._taken = self._taken, None
        sums = [p.summed_grad.contiguous().view_as(p) for p in self.params]
        for p in self.params:
            p.summed_grad = None  # it must not come under another row
        if of != t:
            raise ParticipationError(f"the gradients were of step {of}, and step {t} is next: they are forgotten")
        check_batch(self.sampler, t, count, self._ahead, self._cut)
        check_places(self.params, sums)
        if self.canaries is not None:
            add_canaries(self.canaries, t, sums)
        if self._record is not None:
            self._record.missed(self.noise.place.unsent)
        add_row(self.noise, t, sums)
        for p, total in zip(self.params, sums):
            p.grad = total.to(p.dtype)
        self.sampler.finish(t)

    def scale_grad(self) -> None:
        """Divides by the public size, whatever the number of records and of passes was (loss_reduction mean), or not at all (sum)."""
        if self.loss_reduction == "mean":
            for p in self.params:
                p.grad /= self.expected_batch_size

    def signal_skip_step(self, do_skip: bool = True) -> None:
        """Says whether the next step is of a part of a batch: a BatchMemoryManager says so of every one."""
        self._cut = True
        super().signal_skip_step(do_skip)

    def skip_to(self, step: int) -> list[int]:
        """Steps before this one were missed, nothing of them left: rows are carried (Noise.skip). Returns them."""
        self._forget()
        return skip_to(self.noise, self.sampler, step)

    def accept_changes(self) -> None:
        """See mafalda.torch.PrivateOptimizer.accept_changes."""
        self._watch.clear()
        self._begin_watch()

    def state_dict(self) -> dict[str, Any]:
        """The optimizer's, with the step, the export and the node under "mafalda". No secret: that is in the noise's state."""
        return {**self.original_optimizer.state_dict(), "mafalda": checkpoint(self.noise, "sampler")}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on with the row that is next: a checkpoint ahead of the noise is a StepError, one behind is warned of."""
        check_checkpoint(state_dict.get("mafalda"), self.noise)
        self.original_optimizer.load_state_dict({k: v for k, v in state_dict.items() if k != "mafalda"})
        self._guard.accept_state()
        self.accept_changes()

    def __repr__(self) -> str:
        return self.said(self.original_optimizer, self.expected_batch_size, "of plan.sampler")


def refuse_mixing_layers(module: "torch.nn.Module", reduction: str) -> None:
    """An ExportError where what Opacus takes for a record's gradient would depend on others: by batch normalization, or by the
    size of the batch, which a GradSampleModule of another loss_reduction divides by."""
    for name, layer in module.named_modules():
        if getattr(layer, "loss_reduction", reduction) != reduction:
            raise ExportError(f"loss_reduction is {reduction!r} here, and {layer.loss_reduction!r} in the {type(layer).__name__}")
        kind = torch.nn.modules.batchnorm._BatchNorm
        if isinstance(layer, kind) and (layer.training or layer.running_mean is None):
            raise ExportError(
                f"{name!r} normalizes over a batch: every gradient would depend on other records, which clipping does not "
                "bound. Take GroupNorm (opacus.validators.ModuleValidator.fix), or its running statistics, in eval mode"
            )
