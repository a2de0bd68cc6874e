"""A torch optimizer whose steps are private: per-sample clipping, the sum, row t of the noise, the division, then any
optimizer.

    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    private = plan.make_private(sgd, node="Medici", state="noise.state", sampler=sampler)
    for x, y in DataLoader(data, batch_sampler=sampler):
        private.backward(model, cross_entropy, x, y)
        private.step()

Momentum, Adam and learning rates come after the noise and are free; schedulers take the optimizer that was given. From
then on that one refuses steps of its own: loss.backward() and sgd.step() would train on raw gradients.
"""

from __future__ import annotations

import itertools
import threading
from contextlib import contextmanager
from typing import Any, Callable, Iterator, NamedTuple, Sequence

import numpy as np
import torch

from .canaries import Canaries, Recorder
from ._clipping import Loss, add_to, clip_and_sum, clipped_sum, clips_of, count_records, tensors_of, zeros
from .errors import ExportError, MafaldaError, ParticipationError, ServerError, StepError, warn
from ._export import Export
from ._guard import (
    Private,
    StepGuard,
    check_model,
    one_at_a_time,
    refuse_raw_gradients,
    trained_parameters,
    warn_of_optimizer,
)
from ._mix import flat, set_flat
from ._noise import BLOCK, Noise
from ._noise_source import open_noise
from ._people import WHOLE
from ._sampler import Sampler
from ._watch import Watch
from ._types import Array, Json, is_positive


KEPT = 1 << 24  # numbers of sums of canaries that are kept


class Taken(NamedTuple):
    """The sum of clipped gradients since the last step, which belongs to one step only."""

    step: int
    count: int
    sums: list["torch.Tensor"]
    numbers: Array


class Training(Private):
    """What private optimizers do alike: whose batches, clip and noise they take, and how a row comes to the sum of a
    batch."""

    _chunk = 64
    participation = "sampler"

    def _take(
        self,
        optimizer: "torch.optim.Optimizer",
        plan: Export,
        node: str | None,
        clip: float | None,
        sampler: Sampler | None,
        loader: Any,
        size: float | None,
        options: Json,
    ) -> None:
        """Checks what belongs together, before anything is begun."""
        self.plan, self._turn, self._watch = plan, threading.RLock(), Watch()
        self.parameters = trained_parameters(optimizer)
        self._node = node = plan.check_node(node)
        self._clip = checked_clip(plan, node, clip, options.get("noise_std"))
        if loader is not None:
            check_loader(plan, loader, sampler)
            sampler = loader.batch_sampler
        self.sampler, self._stepped = sampler, optimizer
        self.size = checked_size(plan, sampler, size, node)
        self._ahead = prefetched(loader)
        warn_of_optimizer(plan, optimizer)

    def _open(
        self, state: Any, seed: int | None, canaries: Canaries | None, record: Any, size: float, options: Json
    ) -> None:
        """Opens the noise, and the record, of sums that are divided by size; from here on the optimizer is private."""
        layers = [p.numel() for p in self.parameters]
        self.canaries = checked_canaries(canaries, self.sampler, sum(layers), self._clip)
        momentum = recorded_momentum(self._stepped)
        self._record = None if record is None else Recorder(self.plan, self._node, record, layers, size, momentum)
        self._watch.take_over(self.parameters)
        self.noise = open_noise(self.plan, self._node, sum(layers), state, seed, **options)
        if self.sampler is not None:
            try:
                self.sampler.follow(self.noise.next, self.noise.private)
            except BaseException:
                self.noise.close()
                raise
        if canaries is not None:
            self.sampler.real = canaries.records
        self._guard = StepGuard.of(self._stepped)

    @property
    def step_number(self) -> int:
        """t: the next step uses row t, and batch t of the sampler."""
        return self.noise.next

    def skip_to(self, step: int) -> list[int]:
        """Steps before this one were missed, nothing of them left: rows are carried (Noise.skip). Returns them."""
        missed = self.noise.skip_to(step)
        if self.sampler is not None:
            self.sampler.follow(self.noise.next)
        return missed

    def _cover(self, t: int, sums: list["torch.Tensor"]) -> None:
        """Adds row t, and the canaries, to the sums of a batch."""
        check_places(self.parameters, sums)
        if self.canaries is not None:
            add_canaries(self.canaries, t, sums, self._chunk)
        if self._record is not None:
            self._record.missed(self.noise.place.unsent)
        add_row(self.noise, t, sums)

    def _move(self, t: int) -> None:
        """Has the wrapped optimizer step, in private step t."""
        with recording(self._record, t, self.parameters, self._stepped), self._watch.changing(), self._guard:
            self._stepped.step()

    def __repr__(self) -> str:
        batches = "of plan.sampler" if self.participation == "sampler" else "of the caller's"
        return (
            f"<{type(self).__name__}({type(self._stepped).__name__}) of {self.noise.node!r}: step {self.noise.next} of {self.noise.steps} is next; "
            f"clip {self._clip:g}, sums divided by {self.size:g}, batches {batches}; {self.noise!r}>"
        )

    def accept_changes(self) -> None:
        """Says that what changed the parameters outside of private steps holds nothing of the records but what noise covers.

        plan.mix and mafalda.set_flat need no such word, and neither do what comes before the first backward and a change that is
        taken back (averaged weights put in for an evaluation).
        """
        self._watch.clear()


class PrivateOptimizer(Training):
    """Made by Plan.make_private.

    Arguments:
        optimizer      of torch: it gets the private gradients, and nothing else
        clip           norm of every record's gradient; the export's by default, and not above it
        state, seed    as Plan.noise has them: exactly one
        sampler        plan.sampler's, which draws the batches
        loader         the DataLoader, to be checked: its batches are those of plan.sampler. One with workers must be given
        participation  "mine" says that the caller draws the batches and answers for who takes part when (plan.ledger
                       checks it): without sampler and loader, with size, the public size of a batch. Checkpoints say so
        chunk          records whose gradients are in memory at once; 1 for models that torch.func does not know
        automatic      γ of automatic clipping, 0.01 for example: every gradient g becomes g·clip/(‖g‖+γ), small ones, too
        ranks          True in the first of several processes of this node (torch.distributed, rank 0): see Rank
        canaries       of plan.canaries, which contribute in the steps of their batches
        record         a folder for what an audit needs to know of the messages (mafalda.canaries.Recorder); of optimizers
                       other than SGD, of the gradients that they are given

    Where every group of the optimizer has a "clip" of its own, groups are clipped one by one, {"params": …, "clip": 0.6}; the root
    of the sum of their squares is at most clip.

    Attributes: noise, sampler, size, clip, participation ("sampler" or "mine"), step_number (the step whose gradients are
    taken now), optimizer, parameters (those that are trained: what mafalda.flat and plan.mix take where most of a model is
    frozen).
    """

    def __init__(
        self,
        optimizer: "torch.optim.Optimizer",
        plan: Export,
        *,
        node: str | None = None,
        clip: float | None = None,
        state: Any = None,
        seed: int | None = None,
        sampler: Sampler | None = None,
        size: float | None = None,
        loader: Any = None,
        participation: str | None = None,
        chunk: int = 64,
        automatic: float | None = None,
        ranks: bool = False,
        canaries: Canaries | None = None,
        record: Any = None,
        **options: Any,
    ) -> None:
        self.participation = checked_participation(plan, participation, sampler, loader, size)
        self._take(optimizer, plan, node, clip, sampler, loader, size, options)
        self.optimizer, self._chunk, self._taken = optimizer, chunk, None
        self._clips, self._gamma = clips_of(optimizer, self._clip), checked_gamma(automatic)
        self._ranks = checked_ranks(sampler) if ranks else None
        self._open(state, seed, canaries, record, self.size, options)
        optimizer.zero_grad(set_to_none=True)  # what was there has no noise

    @property
    def clip(self) -> float:
        """The norm of a record's gradient, which the noise is for: it stays as it is."""
        return self._clip

    @one_at_a_time
    def backward(
        self, model: "torch.nn.Module", loss: Loss, inputs: Any, targets: Any = None, numbers: Any = None
    ) -> "torch.Tensor":
        """Adds the clipped gradients of some records; several times a step if need be, not at all for an empty batch.

        inputs is a tensor, a tuple or list of the model's arguments, or a mapping of its named ones; in all tensors the
        first dimension are the records. loss(outputs, targets) gets a batch of one record at a time:
        torch.nn.functional.cross_entropy, for example. Returns the mean loss of these records (nan if there are none),
        which is *not* private: for the eyes of those who may see the records, not for logs that leave the node. Publishing
        it costs: nothing bounds how far one record moves it, so no ε holds for what is published. A private one needs noise
        of its own, and its μ is added to the export's as a root of squares: sqrt(μ² + μ_loss²).

        numbers are the records' in the data set, row by row: needed where batches are padded or persons are protected, whose
        rows differ, and which a loader may have put into another order; else checked if given.

        After an error or an interruption the gradients of the step's earlier parts are forgotten, too.
        """
        before, self._taken = self._taken, None  # whatever happens, no part of a batch is left for another one
        t = self.noise.next_step()
        rest = before if before is not None and before.step == t else None
        earlier = np.empty(0, dtype=np.int64) if rest is None else rest.numbers
        numbers, counts, persons = checked_rows(self.sampler, t, numbers, (inputs, targets), earlier)
        check_model(model, self.parameters)
        self._watch.check(model)
        refuse_raw_gradients(self.parameters)
        sums, losses = clipped_sum(
            model, self.parameters, loss, inputs, targets, self._clips, self._chunk, persons, counts, self._gamma
        )
        count = len(losses) if self._ranks is None else reduced(sums, len(losses))
        if rest is not None:
            count += before.count
            add_to(sums, before.sums)
        self._taken = Taken(t, count, sums, numbers)
        if counts is not None:
            losses = losses[torch.as_tensor(counts)]
        return losses.float().mean()

    @one_at_a_time
    def step(self, closure: Callable[[], Any] | None = None) -> int:
        """Adds row t to the sum, divides by the public size, and has the optimizer step; returns t.

        The row belongs to this gradient from then on. After a crash the next step is t+1, whatever became of this one.
        After an error or an interruption nothing of this gradient is left: go on with the batch of step_number.
        """
        taken, self._taken = self._taken, None  # it must not come under another row
        refuse_closure(closure)
        t = self.noise.next_step()
        if taken is not None and taken.step != t:
            raise ParticipationError(f"the gradients were of step {taken.step}, and step {t} is next: they are forgotten")
        if self.sampler is not None:
            check_batch(self.sampler, t, None if taken is None else taken.count, self._ahead)
        refuse_raw_gradients(self.parameters)
        self._guard.check_state()
        self._watch.check()
        sums = zeros(self.parameters) if taken is None else taken.sums
        try:  # the row may be spent from here on
            self._cover(t, sums)
            self.optimizer.zero_grad(set_to_none=True)  # also of parameters that are not trained
            for p, total in zip(self.parameters, sums):
                p.grad = total.div_(self.size).to(p.dtype)
            if self.sampler is not None:
                self.sampler.finish(t)
            self._move(t)
            if self._ranks is not None:
                spread(self.parameters)
        finally:
            self.zero_grad()
        return t

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets the gradients since the last step; if their row came, as before Ctrl-C, that step is over."""
        self._taken = None
        self.optimizer.zero_grad(set_to_none=set_to_none)
        if self.sampler is not None:
            self.sampler.follow(self.noise.next)

    def start_from(self, weights: Any) -> None:
        """Puts a flat array of weights into the parameters, whatever was there: those of a server, before a step.

        From then on nothing but private steps, mafalda.set_flat and plan.mix may change them. What an earlier backward left is
        forgotten.
        """
        self.zero_grad()
        self._watch.clear()
        set_flat(self.parameters, weights)
        self._watch.begin(self.parameters)

    @property
    def param_groups(self) -> list[Json]:
        """The optimizer's. Schedulers of learning rates take the optimizer itself."""
        return self.optimizer.param_groups

    def state_dict(self) -> Json:
        """The optimizer's, with the step, the export, the node and who draws the batches. No secret: that is in the noise's state."""
        return {"optimizer": self.optimizer.state_dict(), **checkpoint(self.noise, self.participation)}

    def load_state_dict(self, state: Json) -> None:
        """Goes on from a checkpoint, with the row that is next: no row comes twice, whatever the checkpoint says.

        One that is ahead of the noise is a StepError: the noise state is older than the checkpoint, or new. If it is
        behind, the steps in between stay spent, with a warning. A run that had batches of its own keeps saying so.
        """
        check_checkpoint(state, self.noise)
        if state.get("participation", self.participation) != self.participation:
            self.participation = "mine"
            warn("a part of this run has batches that no sampler of the package drew")
        self.optimizer.load_state_dict(state["optimizer"])
        self._guard.accept_state()
        self.accept_changes()

    @property
    def spent(self) -> Json | None:
        """What the steps so far have given away: steps, mu, epsilon, delta, and by which proof (Noise.spent)."""
        return self.noise.spent


class Rank:
    """A further process of a node, with a GPU of its own: it clips its part of a batch; the first one draws the row, and steps.

        torch.distributed.init_process_group(…)
        first = torch.distributed.get_rank() == 0
        private = plan.make_private(sgd, node=…, state=…, sampler=sampler, ranks=True) if first else Rank(sgd, plan, node=…)
        for step in range(plan.steps):
            batch = part_of(sampler.batch(step) if first else None)
            private.backward(model, loss, x[batch], y[batch])
            private.step()

    Every rank has a copy of the model (no DistributedDataParallel), the data, and an optimizer with the same groups, which makes
    steps in the first alone. The sums of clipped gradients go to the first, which adds the row to them once and sends all ranks its
    parameters. Arguments are those of PrivateOptimizer, and the same in all ranks.
    """

    def __init__(
        self,
        optimizer: "torch.optim.Optimizer",
        plan: Export,
        *,
        node: str | None = None,
        clip: float | None = None,
        chunk: int = 64,
        automatic: float | None = None,
        noise_std: float | None = None,
    ) -> None:
        self.parameters = trained_parameters(optimizer)
        self._clips = clips_of(optimizer, checked_clip(plan, plan.check_node(node), clip, noise_std))
        self._chunk, self._gamma = chunk, checked_gamma(automatic)
        checked_ranks(None)

    def backward(self, model: "torch.nn.Module", loss: Loss, inputs: Any, targets: Any = None) -> "torch.Tensor":
        """Gives the first rank the clipped gradients of some records; returns their mean loss, which is as secret as they are."""
        check_model(model, self.parameters)
        sums, losses = clipped_sum(model, self.parameters, loss, inputs, targets, self._clips, self._chunk, gamma=self._gamma)
        reduced(sums, len(losses))
        return losses.float().mean()

    def step(self) -> None:
        """Takes the parameters that the first rank has after its step."""
        spread(self.parameters)


def checked_ranks(sampler: Sampler | None) -> bool:
    """True, where sums can come together: records that are clipped on their own, in a world of processes."""
    if sampler is not None and (sampler.owners is not None or sampler.shape is not None):
        raise ParticipationError("ranks take parts of a batch: it can neither be padded nor be of persons, who are clipped whole")
    if not torch.distributed.is_available() or not torch.distributed.is_initialized():
        raise MafaldaError("ranks are processes of torch.distributed: call init_process_group first")
    return True


def part_of(batch: Sequence[int] | None) -> list[int]:
    """This rank's part of the batch of the first rank."""
    given = [batch]
    torch.distributed.broadcast_object_list(given, src=0)
    return list(given[0][torch.distributed.get_rank() :: torch.distributed.get_world_size()])


def reduced(sums: list["torch.Tensor"], count: int) -> int:
    """Adds the sums of all ranks up in the first; returns of how many records they are."""
    records = torch.tensor(count, device=sums[0].device)
    for x in (*sums, records):
        torch.distributed.reduce(x, dst=0)
    return int(records)


def spread(parameters: Sequence["torch.Tensor"]) -> None:
    """Gives all ranks the parameters of the first."""
    for p in parameters:
        whole = p.detach().contiguous()
        torch.distributed.broadcast(whole, src=0)
        p.data.copy_(whole)


def checked_gamma(given: float | None) -> float | None:
    """γ of automatic clipping; None without."""
    if given is not None and not is_positive(given):
        raise ValueError(f"automatic is γ of g·clip/(‖g‖+γ), above 0, not {given!r}")
    return given


def checked_rows(
    sampler: Sampler | None, t: int, numbers: Any, batch: Any, earlier: Array
) -> tuple[Array, Array | None, list[int] | None]:
    """The numbers of step t's rows so far, with those of earlier parts; which of this part count; and whose they are.

    What a person adds is clipped together, so that its batch comes in one piece, and whole.
    """
    if sampler is None or numbers is None and sampler.shape is None and sampler.owners is None:
        return earlier, None, None
    if numbers is None:
        raise ParticipationError(
            "which row is padding, or whose, is told by its record, not by its place, which a loader may change: have the data "
            "set return the number of every record with it, and give them to backward, numbers=…"
        )
    mine = torch.as_tensor(numbers).reshape(-1).cpu().numpy()
    count = count_records(tensors_of(batch))
    if len(mine) != count:
        raise ParticipationError(f"{len(mine)} numbers came with {count} records")
    rows = np.append(earlier, mine)
    counts, persons = sampler.weights(t, rows)[len(earlier) :], None
    if sampler.owners is not None:
        if count != len(sampler.numbers(t)):
            raise ParticipationError(
                f"gradients of {count} records came in step {t}, whose batch is not whole with them: what all records of a "
                "person add is clipped together, so give the whole batch to one backward (chunk bounds its memory)"
            )
        persons = sampler.owners[mine].tolist()
    return rows, counts, persons


def checked_canaries(canaries: Canaries | None, sampler: Sampler | None, dim: int, clip: float) -> Canaries | None:
    """The canaries, if they are of this sampler, model and clip."""
    if canaries is None:
        return None
    if sampler is None or canaries.sampler is not sampler:
        raise ParticipationError("the canaries are records of another sampler than the batches: give the sampler they were made with")
    if canaries.dim != dim or canaries.clip != clip:
        raise ExportError(
            f"the canaries are for {canaries.dim} parameters and clip {canaries.clip:g}, the training has {dim} and {clip:g}"
        )
    return canaries


def add_canaries(canaries: Canaries, step: int, sums: list["torch.Tensor"], chunk: int = 64) -> None:
    """Adds the canaries of a step to sums of clipped gradients, clipped as records are; what batches in turn add is kept."""
    numbers = tuple(canaries.contributing(canaries.sampler.numbers(step)))
    clipped = canaries.kept.get(numbers)
    if clipped is None:
        clipped = clipped_canaries(canaries, numbers, sums, chunk)
        if canaries.sampler.plan.scheme in ("cyclic", "bins") and (len(canaries.kept) + 1) * canaries.dim <= KEPT:
            canaries.kept[numbers] = clipped
    add_to(sums, clipped)


def clipped_canaries(canaries: Canaries, numbers: Sequence[int], like: list["torch.Tensor"], chunk: int) -> list["torch.Tensor"]:
    """The sum of the clipped gradients of canaries, in tensors like these."""
    clipped = [torch.zeros_like(total) for total in like]
    for at in range(0, len(numbers), chunk):
        rows = torch.from_numpy(canaries.gradients(numbers[at : at + chunk]))
        parts = zip(like, rows.split([total.numel() for total in like], dim=1))
        gradients = [part.reshape(len(rows), *total.shape).to(total.device, total.dtype) for total, part in parts]
        add_to(clipped, clip_and_sum(gradients, canaries.clip))
    return clipped


def recorded_momentum(optimizer: "torch.optim.Optimizer") -> float | None:
    """The momentum of an optimizer that an audit can undo; None for others."""
    groups = optimizer.param_groups
    if type(optimizer) is not torch.optim.SGD or len({(g["lr"], g["momentum"]) for g in groups}) != 1:
        return None
    if any(g["nesterov"] or g["dampening"] or g["weight_decay"] or g["maximize"] for g in groups):
        return None
    return float(groups[0]["momentum"])


@contextmanager
def recording(
    record: Recorder | None, step: int, parameters: list["torch.Tensor"], optimizer: "torch.optim.Optimizer"
) -> Iterator[None]:
    """Records what an optimizer's step inside makes of the parameters, or, of one that cannot be undone, what it is given."""
    if record is None:
        yield
    elif record.gradients:
        record.add_gradients(step, torch.cat([p.grad.detach().reshape(-1).float() for p in parameters]).cpu().numpy())
        yield
    else:
        before = flat(parameters)
        yield
        record.add(step, before, flat(parameters), optimizer.param_groups[0]["lr"])


def refuse_closure(closure: Callable[[], Any] | None) -> None:
    """A ValueError for a closure, which would evaluate a second gradient in the same step."""
    if closure is not None:
        raise ValueError("closures evaluate gradients again, in one step: that is more than one gradient under one row")


def checkpoint(noise: Noise, participation: str) -> Json:
    """What a checkpoint says of the noise, beside the optimizer: no secret.

    spent is what has been given away so far (Noise.spent); None where that is not known, as of noise that was closed.
    """
    try:
        spent = noise.spent
    except ServerError:
        spent = None
    return {
        "step": noise.next,
        "export": noise.plan.hash,
        "node": noise.node,
        "participation": participation,
        "spent": spent,
    }


def check_checkpoint(state: Any, noise: Noise) -> None:
    """Refuses a checkpoint of something else, or one that is ahead of the noise; warns of one that is behind."""
    if not isinstance(state, dict) or not {"step", "export", "node"} <= state.keys():
        raise MafaldaError(
            "this is no checkpoint of a private optimizer: it does not say which steps are done. Save the private "
            "optimizer's state_dict(), not the wrapped one's"
        )
    if state["export"] != noise.plan.hash or state["node"] != noise.node:
        raise ExportError(f"the checkpoint is of node {state['node']!r} and export {state['export']}")
    if state["step"] > noise.next:
        raise StepError(
            f"the checkpoint is at step {state['step']}, the noise at step {noise.next}: the noise state is "
            "not the one of this run, and its rows would be used twice"
        )
    if state["step"] < noise.next:
        warn(
            f"the checkpoint is at step {state['step']}, the noise at step {noise.next}: the steps in between are spent"
        )


def check_places(parameters: list["torch.nn.Parameter"], sums: list["torch.Tensor"]) -> None:
    """An ExportError if sums cannot be the gradients of parameters: they changed their shape or device since backward."""
    for p, total in zip(parameters, sums):
        if p.shape != total.shape or p.device != total.device:
            raise ExportError(
                f"a parameter is {tuple(p.shape)} on {p.device}, its gradient {tuple(total.shape)} on {total.device}: has the "
                "model changed its size or moved? Then take the gradients again"
            )


def add_row(noise: Noise, step: int, tensors: list["torch.Tensor"], block: int = BLOCK) -> None:
    """Adds a step's row to tensors that have dim numbers together, on their device, a block at a time.

    Sums and noise are in double precision, and rounded to the parameters' only after that: digits of a sum below the last
    one of its noise would have no noise.
    """
    ends = list(itertools.accumulate(t.numel() for t in tensors))
    if ends[-1] != noise.dim:
        raise ExportError(
            f"the model has {ends[-1]} parameters, the noise {noise.dim}: has the model changed its size?"
        )
    for offset, part in noise.blocks(step, size=block, dtype="float64"):
        row = torch.from_numpy(part)
        for t, end in zip(tensors, ends):
            start = end - t.numel()
            first, last = max(start, offset), min(end, offset + len(row))
            if first < last:
                t.view(-1)[first - start : last - start].add_(row[first - offset : last - offset].to(t.device, t.dtype))


def checked_clip(plan: Export, node: str, clip: float | None, noise_std: float | None) -> float:
    """The norm to clip to: the noise of the export, or of its node, is for its own, or for less."""
    level = plan.level(plan.check_node(node))
    if level.noise_std is None and noise_std is None:
        raise ExportError(
            "the export has no noise level: it was made without epsilon or mu. Make it with one of them, or give "
            "noise_std and clip"
        )
    if clip is None and level.clip is None:
        raise ValueError("the export has no noise level, and so no clip: give clip, the norm of every record's gradient")
    clip = level.clip if clip is None else clip
    if not is_positive(clip):
        raise ValueError(f"clip is the norm of every record's gradient, above 0, not {clip!r}")
    if level.clip is not None and clip > level.clip:
        raise ExportError(f"clip={clip}, where the noise of the export is for gradients of norm {level.clip}")
    if level.clip is not None and clip < level.clip:
        warn(
            f"clip={clip:g}, where the noise of the export is for {level.clip:g} and stays as large: private, with "
            f"{level.clip / clip:.3g} times the noise it takes (clip of mafalda.optimize)"
        )
    return float(clip)


def checked_participation(plan: Export, given: str | None, sampler: Any, loader: Any, size: float | None) -> str:
    """Who draws the batches: "sampler" (of the package), or "mine", which is warned of."""
    if given not in (None, "sampler", "mine"):
        raise ValueError(f'participation={given!r}: "mine" for batches that you draw, "sampler" (the default) for plan.sampler\'s')
    drawn = sampler is not None or loader is not None
    if given != "mine":
        if not drawn:
            raise ParticipationError(
                "where do the batches come from? The export is private for batches of its own: give "
                "sampler=plan.sampler(len(data), …), or loader=DataLoader(data, batch_sampler=plan.sampler(…)). If you "
                'draw them, and answer for who takes part when, say participation="mine"'
            )
        return "sampler"
    if plan.schema == "silo":
        raise ParticipationError(WHOLE)
    if plan.schema == "people":
        raise ParticipationError(
            "the export protects persons, whose records are clipped together: make the optimizer with "
            "sampler=plan.sampler(len(data), owners=…), which knows them"
        )
    if drawn:
        raise ValueError('participation="mine" is for batches that no sampler of the package draws: leave sampler and loader out')
    if plan.scheme != "cyclic":
        raise ParticipationError(
            "the batches of this export are drawn in secret: make the optimizer with sampler=plan.sampler(…)"
        )
    if size is None:
        raise ValueError('participation="mine" needs size, the public size of a batch, which sums are divided by')
    warn(
        "the batches are yours (participation=\"mine\"): nothing checks that they are those the export is private for. "
        f"{' '.join(plan.contract.splitlines()[1:2])} A loader that shuffles breaks this"
    )
    return "mine"


def checked_size(plan: Export, sampler: Sampler | None, size: float | None, node: str) -> float:
    """The public number that sums are divided by."""
    if size is not None and not is_positive(size):
        raise ValueError(f"size is the public size of a batch, above 0, not {size!r}")
    if sampler is None:
        return float(size)
    if sampler.plan is not plan and sampler.plan.hash != plan.hash or sampler.node not in (node, ""):
        raise ExportError(f"the sampler is of node {sampler.node!r} and another export or node than this one")
    return float(sampler.expected if size is None else size)


def prefetched(loader: Any) -> int:
    """How many batches beyond the one in use a DataLoader's workers have asked the sampler for."""
    workers = getattr(loader, "num_workers", 0)
    if workers and not getattr(loader, "in_order", True):
        raise ParticipationError("the loader hands out batches in any order (in_order=False): rows have an order")
    return workers * (getattr(loader, "prefetch_factor", None) or 2)


def check_batch(sampler: "Sampler", t: int, count: int | None, ahead: int, cut: bool = False) -> None:
    """The gradients of count records (None: no backward came) must be of the sampler's batch t, as far as that can be seen.

    A DataLoader with workers has been handed exactly ahead batches more than the one in use, or all that are left; up to
    ahead where batches are cut into smaller ones on the way.
    """
    handed = sampler.handed
    wanted = len(sampler.batch(t)) if sampler.shape is None else sampler.shape
    sampler.handed = handed
    if count is None and t <= handed and wanted:
        raise ParticipationError(
            f"batch {t} was handed out, and no gradient of it came since: call backward before step (or miss the step: "
            f"skip_to({t + 1}))"
        )
    if not count:
        return
    latest = min(t + ahead, sampler.steps - 1)
    if not (t if cut else latest) <= handed <= latest:
        raise ParticipationError(
            f"the gradients of step {t} are not of the sampler's batch {t} (it handed out batch {handed} last): "
            "batch and row of a step belong together. Was a batch left out? Then skip its step: skip_to. Were steps missed? "
            "The batches in hand and in the loader's workers are of those: take the next ones, or begin the loop anew. Were the "
            "gradients of several batches added up? A step has one batch. Has the loader workers? Then give it, loader=…"
        )
    if count != wanted:
        raise ParticipationError(f"gradients of {count} records came in step {t}, whose batch has {wanted}")


def check_loader(plan: Export, loader: Any, sampler: Sampler | None) -> None:
    """Refuses a DataLoader whose batches are not those of plan.sampler: it shuffles, or cuts batches of its own."""
    batches = getattr(loader, "batch_sampler", None)
    if isinstance(batches, Sampler) and batches.plan.hash == plan.hash and (sampler is None or batches is sampler):
        return
    plain = type(batches) in (type(None), torch.utils.data.BatchSampler)
    kind = type(getattr(loader, "sampler", None) if plain else batches).__name__
    raise ParticipationError(
        f"the loader draws its own batches ({kind}): the export is private for other ones. Use "
        "DataLoader(dataset, batch_sampler=plan.sampler(len(dataset), …))"
    )
