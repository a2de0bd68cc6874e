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

from typing import Any, Callable

import torch
from opacus.optimizers import DPOptimizer
from opacus.optimizers.optimizer import _check_processed_flag, _mark_as_processed

from .canaries import Canaries
from ._clipping import clip_and_sum
from .errors import ExportError, MafaldaError, ParticipationError
from ._export import Export
from ._guard import check_model, one_at_a_time
from ._sampler import Sampler
from .torch import Training, check_batch, check_checkpoint, checkpoint, refuse_closure
from ._types import Json


class MafaldaOptimizer(Training, DPOptimizer):
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
        self._take(optimizer, plan, node, max_grad_norm, sampler, loader, expected_batch_size, options)
        if self.sampler.shape is not None:
            raise ParticipationError("Opacus cannot tell rows of padding from records: use plan.make_private, or no pad=True")
        check_model(module, self.parameters)
        refuse_mixing_layers(module, loss_reduction)
        self.module = module
        self._taken: tuple[int, int] | None = None  # the step that summed gradients are for, and of how many records
        self._cut = False  # whether a BatchMemoryManager cuts batches
        self._open(state, seed, canaries, record, self.size if loss_reduction == "mean" else 1.0, options)
        super().__init__(
            optimizer,
            noise_multiplier=self.noise.std / self._clip,
            max_grad_norm=self._clip,
            expected_batch_size=self.size,
            loss_reduction=loss_reduction,
        )
        super().zero_grad(set_to_none=True)  # what was there is no gradient of a batch
        self._begin_watch()

    def _begin_watch(self) -> None:
        """Parameters are watched from the next forward pass on that a gradient may follow."""

        def begin(module: "torch.nn.Module", *_: Any) -> None:
            if module.training and torch.is_grad_enabled():
                hook.remove()
                self._watch.check(module)

        hook = self.module.register_forward_pre_hook(begin)

    @one_at_a_time
    def step(self, closure: Callable[[], Any] | None = None) -> None:
        """Clips, adds row t, divides by the public size, and has the wrapped optimizer step; of a part of a batch, clips only.

        After an error or an interruption nothing of this gradient is left: go on with the batch of step_number.
        """
        try:
            refuse_closure(closure)
            self.noise.next_step()
            if list(map(id, self.params)) != list(map(id, self.parameters)):
                raise ExportError(
                    "parameters were frozen or thawed since the optimizer was made: some may have gradients without noise. "
                    "What is trained stays the same for a whole run"
                )
            check_model(self.module, self.params)
            refuse_mixing_layers(self.module, self.loss_reduction)
            self._guard.check_state()
            self._watch.check(self.module)
            if self.pre_step():
                self._move(self.noise.next - 1)
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
        self._cover(t, sums)
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
        return super().skip_to(step)

    def accept_changes(self) -> None:
        """See mafalda.torch.PrivateOptimizer.accept_changes."""
        super().accept_changes()
        self._begin_watch()

    def state_dict(self) -> Json:
        """The optimizer's, with the step, the export and the node under "mafalda". No secret: that is in the noise's state."""
        return {**self.original_optimizer.state_dict(), "mafalda": checkpoint(self.noise, "sampler")}

    def load_state_dict(self, state_dict: Json) -> None:
        """Goes on with the row that is next: a checkpoint ahead of the noise is a StepError, one behind is warned of."""
        check_checkpoint(state_dict.get("mafalda"), self.noise)
        self.original_optimizer.load_state_dict({k: v for k, v in state_dict.items() if k != "mafalda"})
        self._guard.accept_state()
        self.accept_changes()


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
