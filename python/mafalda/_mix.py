"""The gossip step: a node's model becomes Σ W[u,v]·(model of v)."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from .errors import ExportError
from ._export import Export
from ._watch import known_change, refuse_changed


def mix(
    plan: Export, node: str, model: Any, received: Mapping[str, Any], step: int | None = None, missing: str = "self"
) -> Any:
    """Averages a model with those received, by label: see Plan.mix."""
    if missing not in ("share", "self", "error"):
        raise ValueError(f"missing={missing!r}: self, share or error")
    weights = plan.neighbours(node, step)
    strangers = [label for label in received if label not in weights]
    if strangers:
        raise ExportError(f"a model of {strangers[0]!r} came, which is no neighbour of {node!r}")
    lost = sum(w for label, w in weights.items() if label not in received)
    if lost and missing == "error":
        raise ExportError(f"no model came of {', '.join(repr(label) for label in weights if label not in received)}")
    own = plan.weight(node, step)
    if hasattr(model, "parameters") or isinstance(model, (list, tuple)) and all(hasattr(p, "requires_grad") for p in model):
        set_flat(model, _average(flat(model), received, weights, own, lost, missing))
        return model
    mine = np.asarray(model)
    return _average(mine, received, weights, own, lost, missing)


def _average(
    mine: np.ndarray, received: Mapping[str, Any], weights: Mapping[str, float], own: float, lost: float, missing: str
) -> np.ndarray:
    total = (own + (lost if missing == "self" else 0)) * mine
    for label, w in weights.items():
        if label in received:
            total = total + w * _as_flat(received[label], mine, label)
    if missing == "share" and lost:
        if not lost < 1:
            return mine.copy()
        total = total / (1 - lost)
    return total.astype(mine.dtype, copy=False)


def _as_flat(theirs: Any, mine: np.ndarray, label: str) -> np.ndarray:
    theirs = (
        np.frombuffer(theirs, dtype=mine.dtype)
        if isinstance(theirs, (bytes, bytearray, memoryview))
        else np.asarray(theirs)
    )
    if theirs.shape != mine.shape:
        raise ExportError(f"the model of {label!r} has {theirs.size} numbers, this one {mine.size}")
    return theirs


def flat(model: Any) -> np.ndarray:
    """The parameters of a torch module or of a list, one after the other, as a flat array on the CPU: what neighbours exchange.

    Where most of a model is frozen, give private.parameters: the others are the same everywhere.

    Those of half precision (bfloat16, float16) come as float32, in which averages are taken. A MafaldaError if the module
    is in private training, and something else has changed it: no neighbour gets that.
    """
    import torch

    parameters = parameters_of(model)
    refuse_changed(parameters)
    with torch.no_grad():
        values = torch.cat([p.detach().reshape(-1) for p in parameters])
        return values.to(torch.promote_types(values.dtype, torch.float32)).cpu().numpy()


def set_flat(model: Any, values: np.ndarray) -> None:
    """Puts a flat array into the parameters of a torch module or of a list."""
    import torch

    parameters = parameters_of(model)
    source, at = torch.from_numpy(np.array(values)), 0
    if source.numel() != sum(p.numel() for p in parameters):
        raise ExportError(
            f"{source.numel()} numbers, for another number of parameters: has the model changed its size?"
        )
    with torch.no_grad(), known_change(parameters):
        for p in parameters:
            p.copy_(source[at : at + p.numel()].view_as(p))
            at += p.numel()


def parameters_of(model: Any) -> list[Any]:
    """The parameters of a torch module, or of a list."""
    return list(model.parameters() if hasattr(model, "parameters") else model)
