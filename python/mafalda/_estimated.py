"""How fast the gradients of a torch model change near its parameters: an estimate, and never a guarantee.

What a network that trains leaks depends on how strongly its nodes' steps answer to their models. mafalda.account(reaction="smooth:x")
asks for x, the learning rate times a Lipschitz constant β of the SUM of a batch's clipped gradients, that holds at ALL models and
for all records. Measuring finds models where gradients change fast, and never shows that they change faster nowhere:
the estimate can only be too small. It can tell that a training is in no small class; it must not be published as one. Where nothing
is proven, the number to publish is local DP (docs/network-privacy.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterable

from ._types import is_positive

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class SmoothnessEstimate:
    """A local estimate of β: no guarantee, and no number to account with."""

    beta: float  # the fastest change of the sum of a batch's clipped gradients that was found, over the distance
    batches: int  # batches that were looked at
    records: int  # records of the largest batch
    radius: float  # distance from the parameters at which gradients were compared
    clip: float  # norm to which each record's gradient was clipped; inf: none

    def x(self, rate: float, divisor: float = 1.0) -> float:
        """The estimate of x: rate times β, over what the sum of gradients is divided by (the batch size, for a mean)."""
        if not (is_positive(rate) and is_positive(divisor)):
            raise ValueError(f"a rate of {rate} and a divisor of {divisor}: both must be positive and finite")
        return rate * self.beta / divisor

    def __str__(self) -> str:
        return (
            f"beta of at least {self.beta:.3g} near these parameters, for batches of up to {self.records} records: "
            "an estimate, no guarantee"
        )


def estimate_smoothness(
    model: "torch.nn.Module",
    loss: Callable[[Any, Any], "torch.Tensor"],
    batches: Iterable[tuple[Any, Any]],
    *,
    clip: float = math.inf,
    radius: float = 0.01,
    starts: int = 2,
    iterations: int = 10,
    seed: int = 0,
) -> SmoothnessEstimate:
    """Measure a local Lipschitz constant of the sum of a batch's clipped gradients. An estimate that can only be too small.

    batches has pairs (inputs, targets) as private.backward takes them; loss gets outputs and targets of a batch of one.
    For every batch gradients at two models, radius apart in a random direction, are compared; the direction is then turned
    iterations times to where gradients change faster, from as many starts. The model is left as it was. Randomness of the
    model (dropout) is the same at all models.

    ValueError: no batches, or numbers that are not positive. The other errors are those of clipped_sum, and a ValueError if
    gradients are not finite.
    """
    import torch

    from ._clipping import clipped_sum, count_records, tensors_of

    for name, value in {"clip": clip, "radius": radius, "starts": starts, "iterations": iterations}.items():
        if not value > 0 or math.isinf(value) and name != "clip":
            raise ValueError(f"{name} {value}: must be positive{'' if name == 'clip' else ' and finite'}")
    parameters = [p for p in model.parameters() if p.requires_grad]
    if not parameters:
        raise ValueError("the model has no parameters to train")
    before = [p.detach().clone() for p in parameters]
    sizes = [p.numel() for p in parameters]
    generator = torch.Generator().manual_seed(seed)

    def move(direction: "torch.Tensor") -> None:
        """Puts the model so far from where it was."""
        with torch.no_grad():
            for p, start, part in zip(parameters, before, direction.split(sizes)):
                p.copy_(start + part.view(p.shape).to(p.device, p.dtype))

    def gradient(batch: tuple[Any, Any], direction: "torch.Tensor") -> "torch.Tensor":
        move(direction)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            sums, _ = clipped_sum(model, parameters, loss, *batch, clip)
        return torch.cat([s.flatten().cpu() for s in sums])

    beta, seen, most = 0.0, 0, 0
    try:
        for batch in batches:
            seen, most = seen + 1, max(most, count_records(tensors_of(tuple(batch))))
            for _ in range(starts):
                turned = torch.randn(sum(sizes), generator=generator, dtype=torch.float64)
                for _ in range(iterations):
                    half = radius / 2 * turned / turned.norm()
                    turned = gradient(batch, half) - gradient(batch, -half)
                    change = float(turned.norm())
                    if not math.isfinite(change):
                        raise ValueError("gradients near these parameters are not finite")
                    beta = max(beta, change / radius)
                    if change == 0:
                        break
    finally:
        move(torch.zeros(sum(sizes)))
    if not seen:
        raise ValueError("no batches to look at")
    return SmoothnessEstimate(beta=beta, batches=seen, records=most, radius=radius, clip=clip)
