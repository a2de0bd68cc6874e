"""Per-sample gradients in torch, each clipped on its own, summed.

Every record goes through the model alone, so that its gradient cannot depend on others: layers that mix records (batch
normalization in training) act as on a batch of one.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

import torch

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
    """Σ of the records' gradients of loss(model(input), target), each clipped to norm clip; one tensor for each parameter.

    loss gets outputs and targets of a batch of one. Gradients that are not finite count as zero: they must not move more
    than others. chunk is how many records' gradients are in memory at once.
    """
    totals = [torch.zeros_like(p) for p in parameters]
    take = _together if vectorized() else _one_by_one
    for at in range(0, len(inputs), chunk):
        gradients = take(model, parameters, loss, inputs[at : at + chunk], targets[at : at + chunk])
        for total, part in zip(totals, clip_and_sum(gradients, clip)):
            total.add_(part)
    return totals


def clip_and_sum(gradients: Sequence["torch.Tensor"], clip: float) -> list["torch.Tensor"]:
    """Gradients of B records, a tensor B×… for each parameter: clipped together, and summed over the records."""
    squares = sum(g.detach().flatten(1).double().square().sum(dim=1) for g in gradients)
    norms = squares.sqrt() * (1 + MARGIN)
    factors = torch.where(
        torch.isfinite(norms), torch.clamp(clip / norms.clamp(min=1e-300), max=1.0), torch.zeros_like(norms)
    )
    sums = []
    for g in gradients:
        finite = torch.nan_to_num(g, nan=0.0, posinf=0.0, neginf=0.0)
        sums.append(torch.tensordot(factors.to(g.dtype), finite, dims=([0], [0])))
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
