"""Gradients of single records in torch, each clipped on its own, summed.

Every record goes through the model alone, so that its gradient cannot depend on others. Layers that mix records (batch
normalization in training) act as on a batch of one, and are refused where they keep statistics. What a layer remembers of
a record in an attribute (a hidden state, attention weights) is forgotten before the next one.
"""

from __future__ import annotations

import itertools
import math
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Mapping, Sequence, Tuple, Union

import torch

from .errors import ExportError
from ._types import Json, is_positive, is_whole

Loss = Callable[[Any, Any], "torch.Tensor"]
Clip = Union[float, Sequence[Tuple[int, float]]]  # a norm; or of each group how many parameters it has, and its norm

CACHED = 1 << 16  # numbers that a processor works on at a time
MARGIN = 1e-5  # norms are taken for so much larger, relatively: rounding of single precision must not exceed the clip


def vectorized() -> bool:
    """Whether this torch can take the gradients of several records at once (torch.func, version 2)."""
    return hasattr(torch, "func") and hasattr(torch.func, "functional_call")


def clipped_sum(
    model: "torch.nn.Module",
    parameters: Sequence["torch.Tensor"],
    loss: Loss,
    inputs: Any,
    targets: Any,
    clip: Clip,
    chunk: int = 64,
    persons: Any = None,
    counts: Any = None,
    gamma: float | None = None,
) -> tuple[list["torch.Tensor"], "torch.Tensor"]:
    """Σ of the records' gradients of loss(model(input), target), each clipped to norm clip, one tensor for each parameter (see
    zeros); and the losses of the records, which are as secret as they are.

    inputs is a tensor, a tuple or list of arguments, or a mapping of named arguments of the model; targets is whatever
    loss takes. Each tensor in them has the records as its first dimension. loss gets outputs and targets of a batch of one,
    and may use the model's parameters (a proximal term, a tied weight).
    clip is a norm, or one for each group of parameters, which are clipped on their own. With gamma all are scaled (clip_and_sum).
    With counts, a bool for each record, those that do not count add nothing: rows that pad a batch (not with persons).
    With persons, a number for each record, what counts is the mean of each person's gradients, clipped to norm clip.
    Gradients that are not finite, or 10³⁰ times the clip, count as zero: they must not move more than others. chunk is
    how many records' gradients are in memory at once; with 1, records go through autograd one after the other, as they do
    before torch 2, which takes models that torch.func does not (GRU, hooks of backward passes, checkpointing). A model that changes itself when it sees a record, as batch
    normalization with running statistics, is an ExportError: what it keeps has no noise.
    """
    for name, layer in model.named_modules():
        if isinstance(layer, torch.nn.modules.batchnorm._NormBase) and layer.training and layer.track_running_stats:
            raise _keeps(name or "itself")
    if not is_whole(chunk, 1):
        raise ValueError(f"chunk is how many records' gradients are in memory at once, at least 1, not {chunk!r}")
    totals, losses = zeros(parameters), []
    take = _together if vectorized() and chunk > 1 else _one_by_one
    kept = [*model.named_parameters(), *model.named_buffers(), *_attributes(model)]
    versions = [x._version for _, x in kept]
    batch = (inputs, targets)
    tensors = tensors_of(batch)
    for rows in _groups(count_records(tensors), persons):
        mean = None if persons is None else zeros(parameters)
        for at in range(0, len(rows), chunk):
            gradients, part = take(model, parameters, loss, batch, [_rows(x, rows[at : at + chunk]) for x in tensors])
            losses.append(part.detach())
            if mean is not None:
                for total, g in zip(mean, gradients):
                    total.add_(g.detach().sum(dim=0, dtype=total.dtype), alpha=1 / len(rows))
                continue
            weights = None if counts is None else counts[at : at + chunk]
            add_to(totals, clip_and_sum(gradients, clip, weights, gamma))
        if mean is not None:
            add_to(totals, clip_and_sum([g.unsqueeze(0) for g in mean], clip, None, gamma))
    for (name, x), version in zip(kept, versions):
        if x._version != version:
            raise _keeps(name)
    return totals, torch.cat(losses) if losses else torch.zeros(0)


def add_to(totals: Sequence["torch.Tensor"], parts: Sequence["torch.Tensor"]) -> None:
    """Adds tensors to others, in place, wherever these are."""
    for total, part in zip(totals, parts):
        total.add_(part.to(total.device, total.dtype))


def _groups(count: int, persons: Any) -> list[Any]:
    """The rows of each person; all of them, in one piece, where records are clipped one by one."""
    if persons is None:
        return [range(count)]
    rows = [[] for _ in range(max(persons, default=-1) + 1)]
    for row, person in enumerate(persons):
        rows[person].append(row)
    return [mine for mine in rows if mine]


def _rows(x: "torch.Tensor", rows: Any) -> "torch.Tensor":
    return x[rows.start : rows.stop] if isinstance(rows, range) else x[rows]


def _attributes(model: Any) -> list[tuple[str, "torch.Tensor"]]:
    """The tensors that layers have as plain attributes, with their names."""
    return [
        (f"{name}.{attribute}".lstrip("."), x)
        for name, layer in model.named_modules()
        for attribute, x in vars(layer).items()
        if isinstance(x, torch.Tensor)
    ]


def tensors_of(batch: Any, named: bool = True) -> list["torch.Tensor"]:
    """The tensors in nested tuples, lists and mappings, in order.

    All else would be the same for every record, and could tell one of the others: a TypeError, unless it is None, or a
    number, string or truth value that has a name (an option of the model).
    """
    if isinstance(batch, torch.Tensor):
        return [batch]
    if isinstance(batch, Mapping):
        return [x for value in batch.values() for x in tensors_of(value)]
    if isinstance(batch, (tuple, list)):
        return [x for value in batch for x in tensors_of(value, named=False)]
    if batch is None or named and isinstance(batch, (bool, int, float, str)):
        return []
    raise TypeError(
        f"a batch has a {type(batch).__name__}: inputs and targets are tensors with a record in each row, in tuples, lists or "
        "mappings"
    )


def count_records(tensors: Sequence["torch.Tensor"]) -> int:
    """The first dimension of the tensors of a batch, which is the same in all of them."""
    sizes = {len(x) if x.dim() else -1 for x in tensors}
    if len(sizes) != 1 or -1 in sizes:
        raise ValueError(
            "every tensor of a batch has a record in each row, and as many rows as the others, not "
            + (", ".join(str(tuple(x.shape)) for x in tensors) or "none at all")
        )
    return sizes.pop()


def _filled(batch: Any, tensors: list["torch.Tensor"]) -> Any:
    """A batch with other tensors in the places of its own: the first ones, which are taken out of the list."""
    if isinstance(batch, torch.Tensor):
        return tensors.pop(0)
    if isinstance(batch, Mapping):
        return {name: _filled(value, tensors) for name, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(_filled(value, tensors) for value in batch))
    if isinstance(batch, (tuple, list)):
        return type(batch)(_filled(value, tensors) for value in batch)
    return batch


def _arguments(inputs: Any) -> tuple[tuple[Any, ...], Json]:
    """What a model is called with."""
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    return (tuple(inputs), {}) if isinstance(inputs, (tuple, list)) else ((inputs,), {})


def _keeps(name: str) -> ExportError:
    return ExportError(
        f"the model changes {name!r} when it sees a record, and that goes out without noise: take layers without "
        "running statistics (GroupNorm; track_running_stats=False), or have them in eval mode"
    )


def zeros(parameters: Sequence["torch.Tensor"]) -> list["torch.Tensor"]:
    """Sums to begin with, contiguous, in double precision: of many records, rounding in single precision exceeds the clip."""
    return [torch.zeros(p.shape, dtype=torch.float64, device=p.device) for p in parameters]


def clips_of(optimizer: "torch.optim.Optimizer", clip: float) -> Clip:
    """The norm to clip to, or those of the optimizer's groups, where each has its own "clip"; together no more than clip.

    Their squares may exceed its square by rounding, which MARGIN covers.
    """
    groups = optimizer.param_groups
    given = [group["clip"] for group in groups if "clip" in group]
    if not given:
        return clip
    if len(given) < len(groups) or not all(map(is_positive, given)):
        raise ValueError("every group of the optimizer needs its own clip, above 0, or none of them")
    if not math.hypot(*given) <= clip * (1 + 1e-9):
        raise ExportError(f"the clips of the groups are {math.hypot(*given):.6g} together, the root of their squares, where the noise is for {clip:g}")
    return [(sum(p.requires_grad for p in group["params"]), float(group["clip"])) for group in groups]


def clip_and_sum(
    given: Sequence["torch.Tensor"], clip: Clip, counts: Any = None, gamma: float | None = None
) -> list["torch.Tensor"]:
    """Gradients of B records, a tensor B×… for each parameter: clipped together, and summed over the records that count (all).

    With gamma clipping is automatic (Bu et al., 2023): every gradient g becomes g·clip/(‖g‖+gamma), whose norm is below clip.

    No products of matrices: under autocast, or with TF32 allowed, they round to 8 or 11 bits, which would exceed the clip. Sums
    are in double precision, in which one record less moves those of a million others by its clip: the rounding of their terms
    is far below MARGIN.
    """
    if not isinstance(clip, (int, float)):
        ends = list(itertools.accumulate(count for count, _ in clip))
        parts = zip([0, *ends], ends, clip)
        return [total for start, end, (_, own) in parts for total in clip_and_sum(given[start:end], own, counts, gamma)]
    if not given:
        return []
    gradients = [g.detach().reshape(len(g), math.prod(g.shape[1:])) for g in given]
    squares = sum(part.double().square().sum(dim=1) for g in gradients for _, part in _columns(g))
    norms = squares.sqrt() * (1 + MARGIN)
    sound = torch.isfinite(norms) & (norms < 1e30 * clip)  # smaller factors lose their digits in single precision
    factors = torch.clamp(clip / norms.clamp(min=1e-300), max=1.0) if gamma is None else (clip / (norms + gamma)).clamp(max=1e30)
    factors = torch.where(sound, factors, torch.zeros_like(norms))
    if counts is not None:
        factors = factors * torch.as_tensor(counts, dtype=factors.dtype, device=factors.device)
    sums = []
    for g, shape in zip(gradients, [g.shape[1:] for g in given]):
        total = torch.empty(g.shape[1], dtype=torch.float64, device=g.device)
        for at, part in _columns(g):
            precise = part.to(torch.promote_types(g.dtype, torch.float32))
            finite = torch.nan_to_num(precise, nan=0.0, posinf=0.0, neginf=0.0)
            clipped = finite.mul_(factors.to(finite.dtype)[:, None])
            total[at : at + part.shape[1]] = clipped.sum(dim=0, dtype=torch.float64)
        sums.append(total.view(shape))
    return sums


def _columns(g: "torch.Tensor") -> Iterator[tuple[int, "torch.Tensor"]]:
    """The columns of a matrix, as many at a time as stay in a processor's cache, with the number of their first; all on a GPU."""
    width = max(1, CACHED // max(1, len(g))) if g.device.type == "cpu" else max(1, g.shape[1])
    for at in range(0, g.shape[1], width):
        yield at, g[:, at : at + width]


class _Losses(torch.nn.Module):
    """A module that maps a record to its loss, so that parameters are replaced where the loss uses them, too."""

    def __init__(self, model: Any, loss: Loss) -> None:
        super().__init__()
        self.model, self.loss = model, [loss]  # a list, so that a loss that is a module has no parameters of its own here

    def forward(self, inputs: Any, targets: Any) -> Any:
        arguments, named = _arguments(inputs)
        return self.loss[0](self.model(*arguments, **named), targets).reshape(())


@contextmanager
def _forgetting(model: Any) -> Iterator[None]:
    """What the model's layers put into attributes and buffers inside is forgotten at the end."""
    places = [x for layer in model.modules() for x in (layer.__dict__, layer._buffers) if isinstance(x, dict)]
    before = [dict(place) for place in places]
    try:
        yield
    finally:
        for place, kept in zip(places, before):
            if place.keys() != kept.keys() or any(place[name] is not kept[name] for name in kept):
                place.clear()
                place.update(kept)


def _together(
    model: Any, parameters: Sequence[Any], loss: Loss, batch: Any, tensors: list[Any]
) -> tuple[list[Any], Any]:
    names = {id(p): name for name, p in model.named_parameters()}
    mine = {names[id(p)]: p.detach() for p in parameters}
    rest = {name: p.detach() for name, p in model.named_parameters() if name not in mine}
    rest.update({name: b.detach() for name, b in model.named_buffers()})

    def one(values: Any, record: list[Any]) -> Any:
        replaced = {f"model.{name}": x for name, x in {**rest, **values}.items()}
        return torch.func.functional_call(_Losses(model, loss), replaced, _filled(batch, [x.unsqueeze(0) for x in record]))

    take = torch.func.vmap(torch.func.grad_and_value(one), in_dims=(None, 0), randomness="different")
    try:
        with _forgetting(model):
            gradients, losses = take(mine, tensors)
    except RuntimeError as e:
        if type(e) is not RuntimeError:
            raise  # out of memory
        hint = "If torch.func does not know a part of this model: chunk=1 takes one record after the other, without it"
        raise RuntimeError(f"{e}\n{hint}") from e
    return [gradients[names[id(p)]] for p in parameters], losses


def _one_by_one(
    model: Any, parameters: Sequence[Any], loss: Loss, batch: Any, tensors: list[Any]
) -> tuple[list[Any], Any]:
    rows, losses = [], []
    for i in range(len(tensors[0])):
        with _forgetting(model):
            value = _Losses(model, loss)(*_filled(batch, [x[i : i + 1] for x in tensors]))
            found = torch.autograd.grad(value, parameters, allow_unused=True)
        rows.append([torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found)])
        losses.append(value.detach())
    return [torch.stack(column) for column in zip(*rows)], torch.stack(losses)
