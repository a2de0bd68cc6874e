"""The spectrum of a loss near a torch model's parameters, for optimize(curvature=…): an estimate by Hessian products.

The strategy is public and depends on the spectrum: a spectrum of private records leaks. Take public or synthetic records of the
same kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable

import numpy as np

from ._types import Array, is_positive

if TYPE_CHECKING:
    import torch


def estimate_curvature(
    model: "torch.nn.Module",
    loss: Callable[[Any, Any], "torch.Tensor"],
    public_batches: Iterable[tuple[Any, Any]],
    *,
    rate: float,
    points: int = 12,
    probes: int = 4,
    seed: int = 0,
) -> Array:
    """Estimate the spectrum of the Hessian of the mean loss: rows (x, directions), x = rate times a second derivative.

    public_batches has pairs (inputs, targets), and loss gets outputs and targets of one, and returns a mean. THE ROWS DEPEND ON
    THESE RECORDS, AND THE STRATEGY MADE OF THEM IS PUBLIC: never give private ones. Lanczos quadrature makes points rows from so
    many random vectors; directions add up to the number of parameters, and second derivatives below 0 count as 0. The model
    is left as it was.

    ValueError: no batches, no parameters, numbers that are not positive, or a loss that is not finite.
    """
    import torch

    if not (is_positive(rate) and points >= 1 and probes >= 1):
        raise ValueError(f"rate {rate}, points {points}, probes {probes}: must be positive and finite")
    parameters = [p for p in model.parameters() if p.requires_grad]
    batches = list(public_batches)
    if not parameters or not batches:
        raise ValueError("the model has no parameters to train" if not parameters else "no batches to look at")
    sizes = [p.numel() for p in parameters]

    def product(v: Array) -> Array:
        """The Hessian times v, averaged over the batches."""
        parts = torch.from_numpy(v).split(sizes)
        total = torch.zeros(len(v), dtype=torch.float64)
        for inputs, targets in batches:
            with torch.random.fork_rng():
                torch.manual_seed(seed)
                grads = torch.autograd.grad(loss(model(inputs), targets), parameters, create_graph=True)
            dot = sum((g * part.view(g.shape).to(g.device, g.dtype)).sum() for g, part in zip(grads, parts))
            seconds = torch.autograd.grad(dot, parameters, allow_unused=True) if dot.requires_grad else [None] * len(sizes)
            for place, second in zip(total.split(sizes), seconds):
                place += 0 if second is None else second.detach().flatten().cpu()
        if not total.isfinite().all():
            raise ValueError("the loss near these parameters is not finite")
        return total.numpy() / len(batches)

    rng, rows = np.random.default_rng(seed), []
    for _ in range(probes):
        values, weights = _lanczos(product, rng.standard_normal(sum(sizes)), min(points, sum(sizes)))
        rows += [(rate * max(x, 0.0), sum(sizes) / probes * w) for x, w in zip(values, weights)]
    return np.array(_merged(sorted(rows), points))


def _lanczos(product: Callable[[Array], Array], start: Array, steps: int) -> tuple[Array, Array]:
    """Nodes and weights of the Gauss quadrature of the spectrum that a start sees."""
    basis, alpha, beta = [start / np.linalg.norm(start)], [], []
    while True:
        v = product(basis[-1])
        alpha.append(float(basis[-1] @ v))
        for _ in range(2):
            v -= np.array(basis).T @ (np.array(basis) @ v)
        size = float(np.linalg.norm(v))
        if len(alpha) == steps or size <= 1e-10 * max(map(abs, alpha)):
            break
        beta.append(size)
        basis.append(v / size)
    values, vectors = np.linalg.eigh(np.diag(alpha) + np.diag(beta, 1) + np.diag(beta, -1))
    return values, vectors[0] ** 2


def _merged(rows: list[tuple[float, float]], most: int) -> list[tuple[float, float]]:
    """Merges rows until at most `most` are left: neighbours whose merging moves the least, with their directions and mean x."""
    while len(rows) > most:
        costs = [(b[0] - a[0]) ** 2 * a[1] * b[1] / (a[1] + b[1]) if a[1] + b[1] else 0 for a, b in zip(rows, rows[1:])]
        i = int(np.argmin(costs))
        (x, m), (y, n) = rows[i], rows[i + 1]
        rows[i : i + 2] = [((x * m + y * n) / (m + n) if m + n else x, m + n)]
    return rows
