"""The gossip step: a node's model becomes Σ W[u,v]·(model of v)."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from .errors import ExportError
from ._export import Export
from ._watch import known_change, refuse_changed
from ._types import Array


def mix_models(
    plan: Export,
    model: Any,
    received: Mapping[str, Any],
    *,
    node: str | None = None,
    step: int | None = None,
    missing: str = "self",
) -> Any:
    """The gossip step: the average of a node's model and those it received (by label), with the weights of W.

    model is a flat float array, of which the average is returned as a new one, or a torch module or a list of
    parameters (private.parameters: those that are trained), which are replaced in place (and returned). Those
    received are flat arrays of as many numbers (mafalda.flat), or of bytes of them in the model's dtype.

    missing says what happens with the weight of neighbours whose models did not come:
        self    the node's own model has it: W keeps the sums of its columns where links fail in both directions, and
                noise goes on cancelling between nodes
        share   who is there shares it, in proportion (what optimize(graph_changes="failures:…") assumes)
        error   an ExportError
    Models of nodes that are no neighbours are an ExportError: something is wired wrongly.
    """
    node = plan.check_node(node, needed=True)
    if missing not in ("share", "self", "error"):
        raise ValueError(f"missing={missing!r}: self, share or error")
    weights = plan.neighbours(node, step)
    strangers = [label for label in received if label not in weights]
    if strangers:
        raise ExportError(f"a model of {strangers[0]!r} came, which is no neighbour of {node!r}")
    lost = sum(w for label, w in weights.items() if label not in received)
    if lost and missing == "error":
        raise ExportError(f"no model came of {', '.join(repr(label) for label in weights if label not in received)}")
    own = plan.weight(node, step) + (lost if missing == "self" else 0)

    def average(mine: Array) -> Array:
        total = own * mine
        for label, w in weights.items():
            if label in received:
                theirs = received[label]
                raw = isinstance(theirs, (bytes, bytearray, memoryview))
                theirs = np.frombuffer(theirs, dtype=mine.dtype) if raw else np.asarray(theirs)
                if theirs.shape != mine.shape:
                    raise ExportError(f"the model of {label!r} has {theirs.size} numbers, this one {mine.size}")
                total = total + w * theirs
        if missing == "share" and lost:
            if not lost < 1:
                return mine.copy()
            total = total / (1 - lost)
        return total.astype(mine.dtype, copy=False)

    if hasattr(model, "parameters") or isinstance(model, (list, tuple)) and all(hasattr(p, "requires_grad") for p in model):
        set_flat(model, average(flat(model)))
        return model
    return average(np.asarray(model))


def flat(model: Any) -> Array:
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


def set_flat(model: Any, values: Array) -> None:
    """Puts a flat array into the parameters of a torch module or of a list."""
    import torch

    parameters = parameters_of(model)
    source, sizes = torch.from_numpy(np.array(values)), [p.numel() for p in parameters]
    if source.numel() != sum(sizes):
        raise ExportError(
            f"{source.numel()} numbers, for another number of parameters: has the model changed its size?"
        )
    with torch.no_grad(), known_change(parameters):
        for p, part in zip(parameters, source.split(sizes)):
            p.copy_(part.view_as(p))


def parameters_of(model: Any) -> list[Any]:
    """The parameters of a torch module, or of a list."""
    return list(model.parameters() if hasattr(model, "parameters") else model)
