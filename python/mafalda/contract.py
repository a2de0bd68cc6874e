"""What a node must do, in words: those of the manifest, or, for exports of versions that wrote none, made of its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .plan import Plan


def contract(plan: "Plan") -> str:
    """One sentence a line: batches, neighbouring datasets, the order of the step, the steps."""
    said = plan.manifest.get("contract")
    if said is not None:
        return "\n".join(said)
    lines = [_batches(plan), _neighbours(plan)]
    lines.append(
        f"There are T = {plan.steps} steps; row t of the noise is for step t and for no other. What is missed is missed, with its batch."
    )
    if plan.clip is not None:
        lines.append(
            f"Every record's gradient is clipped to norm {plan.clip:g} on its own; then sum, noise, division by a public size, in this order."
        )
    return "\n".join(lines)


def _batches(plan: "Plan") -> str:
    sampling = plan.manifest.get("sampling", {})
    if plan.scheme == "poisson":
        return (
            f"Batches are drawn in secret: every record is put once into one of {sampling['groups']} groups, and step t takes every record of "
            f"group t mod {sampling['groups']} with probability {sampling['probability']:g}; draws and sizes stay secret, and empty batches count."
        )
    if plan.scheme == "bins":
        return (
            f"Batches are drawn in secret: every record is put once, independently and uniformly, into one of {sampling['groups']} bins, and step t "
            f"takes all of bin t mod {sampling['groups']}; the draw and the sizes stay secret."
        )
    if plan.schema == "cyclic":
        return f"Batches are made once and never reshuffled: step t uses batch t mod {plan.b}, so that a record takes part at most {plan.k} times, {plan.b} steps apart."
    if plan.schema == "single":
        return "Every record is in one step only."
    if plan.schema == "min-sep":
        return f"A record takes part at most {plan.k} times, in steps that are at least {plan.b} apart."
    return "The steps of a record are all in one of the patterns of the manifest."


def _neighbours(plan: "Plan") -> str:
    if plan.manifest.get("privacy", {}).get("adjacency") == "replace-one":
        return "The guarantee is for datasets that differ in one record, which is another one in its place."
    return "The guarantee is for datasets that differ in one record, which is there or has nothing in its place."
