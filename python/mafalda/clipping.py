"""Per-sample gradients in torch, each clipped on its own, summed.

Every record goes through the model alone, so that its gradient cannot depend on others. Layers that mix records (batch
normalization in training) act as on a batch of one, and are refused where they keep statistics.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import torch

from .errors import ExportError

Loss = Callable[[Any, Any], "torch.Tensor"]

MARGIN = 1e-5  # norms are taken for so much larger, relatively: rounding of single precision must not exceed the clip


def vectorized() -> bool:
    """Whether this torch can take the gradients of several records at once (torch.func, version 2)."""
    return hasattr(torch, "func") and hasattr(torch.func, "functional_call")


def clipped_sum(
    model: "torch.nn.Module",
    parameters: Sequence["torch.Tensor"],
    loss: Loss,
    inputs: "torch.Tensor",
    targets: "torch.Tensor",
    clip: float,
    chunk: int = 64,
) -> list["torch.Tensor"]:
    """Σ of the records' gradients of loss(model(input), target), each clipped to norm clip; one tensor for each parameter (zeros).

    loss gets outputs and targets of a batch of one. Gradients that are not finite, or 10³⁰ times the clip, count as zero: they must not
    move more than others. chunk is how many records' gradients are in memory at once. A model that changes itself when it sees a record, as
    batch normalization with running statistics, is an ExportError: what it keeps has no noise.
    """
    for name, layer in model.named_modules():
        if isinstance(layer, torch.nn.modules.batchnorm._NormBase) and layer.training and layer.track_running_stats:
            raise _keeps(name or "itself")
    totals = zeros(parameters)
    take = _together if vectorized() else _one_by_one
    kept = [*model.named_parameters(), *model.named_buffers()]
    versions = [x._version for _, x in kept]
    for at in range(0, len(inputs), chunk):
        gradients = take(model, parameters, loss, inputs[at : at + chunk], targets[at : at + chunk])
        for total, part in zip(totals, clip_and_sum(gradients, clip)):
            total.add_(part)
    for (name, x), version in zip(kept, versions):
        if x._version != version:
            raise _keeps(name)
    return totals


def _keeps(name: str) -> ExportError:
    return ExportError(
        f"the model changes {name!r} when it sees a record, and that goes out without noise: take layers without "
        "running statistics (GroupNorm; track_running_stats=False), or have them in eval mode"
    )


def zeros(parameters: Sequence["torch.Tensor"]) -> list["torch.Tensor"]:
    """Sums to begin with, contiguous, in single precision at least: rounding in half precision would exceed the clip."""
    return [torch.zeros(p.shape, dtype=_precise(p.dtype), device=p.device) for p in parameters]


def _precise(dtype: "torch.dtype") -> "torch.dtype":
    return torch.promote_types(dtype, torch.float32)


def clip_and_sum(given: Sequence["torch.Tensor"], clip: float) -> list["torch.Tensor"]:
    """Gradients of B records, a tensor B×… for each parameter: clipped together, and summed over the records.

    No products of matrices: under autocast, or with TF32 allowed, they round to 8 or 11 bits, which would exceed the clip.
    """
    gradients = [g.detach().to(_precise(g.dtype)).reshape(len(g), math.prod(g.shape[1:])) for g in given]
    shapes = [g.shape[1:] for g in given]
    squares = sum(g.double().square().sum(dim=1) for g in gradients)
    norms = squares.sqrt() * (1 + MARGIN)
    sound = torch.isfinite(norms) & (norms < 1e30 * clip)  # smaller factors lose their digits in single precision
    factors = torch.where(
        sound, torch.clamp(clip / norms.clamp(min=1e-300), max=1.0), torch.zeros_like(norms)
    )
    sums = []
    for g, shape in zip(gradients, shapes):
        finite = torch.nan_to_num(g, nan=0.0, posinf=0.0, neginf=0.0)
        sums.append(finite.mul_(factors.to(g.dtype)[:, None]).sum(dim=0).view(shape))
    return sums


def _together(model: Any, parameters: Sequence[Any], loss: Loss, inputs: Any, targets: Any) -> list[Any]:
    names = {id(p): name for name, p in model.named_parameters()}
    mine = {names[id(p)]: p.detach() for p in parameters}
    rest = {name: p.detach() for name, p in model.named_parameters() if name not in mine}
    rest.update({name: b.detach() for name, b in model.named_buffers()})

    def one(values: Any, x: Any, y: Any) -> Any:
        output = torch.func.functional_call(model, {**rest, **values}, (x.unsqueeze(0),))
        return loss(output, y.unsqueeze(0)).reshape(())

    gradients = torch.func.vmap(torch.func.grad(one), in_dims=(None, 0, 0), randomness="different")(
        mine, inputs, targets
    )
    return [gradients[names[id(p)]] for p in parameters]


def _one_by_one(model: Any, parameters: Sequence[Any], loss: Loss, inputs: Any, targets: Any) -> list[Any]:
    rows = []
    for i in range(len(inputs)):
        value = loss(model(inputs[i : i + 1]), targets[i : i + 1]).reshape(())
        found = torch.autograd.grad(value, parameters, allow_unused=True)
        rows.append([torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found)])
    return [torch.stack(column) for column in zip(*rows)]
