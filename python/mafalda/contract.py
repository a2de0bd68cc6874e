"""What a node must do, in words: those of the manifest, or, for exports of versions that wrote none, made of its numbers."""

from __future__ import annotations

from typing import Any


def contract(manifest: dict[str, Any]) -> str:
    """One sentence a line: batches, neighbouring datasets, the order of the step, the steps."""
    said = manifest.get("contract")
    if said is not None:
        return "\n".join(said)
    lines = [_batches(manifest), _neighbours(manifest)]
    lines.append(
        f"There are T = {manifest['steps']} steps; row t of the noise is for step t and for no other. What is missed is missed, with its batch."
    )
    clip = manifest.get("privacy", {}).get("clip")
    if clip is not None:
        lines.append(
            f"Every record's gradient is clipped to norm {clip:g} on its own; then sum, noise, division by a public size, in this order."
        )
    return "\n".join(lines)


def _batches(manifest: dict[str, Any]) -> str:
    sampling, participation = manifest.get("sampling", {}), manifest["participation"]
    scheme, schema = sampling.get("scheme", "cyclic"), participation["schema"]
    if scheme == "poisson":
        return (
            f"Batches are drawn in secret: every record is put once into one of {sampling['groups']} groups, and step t takes every record of "
            f"group t mod {sampling['groups']} with probability {sampling['probability']:g}; draws and sizes stay secret, and empty batches count."
        )
    if scheme == "allocation":
        return (
            f"Batches are drawn in secret: every record is put once into one of {sampling['groups']} groups, and takes part in one step, drawn at "
            f"random, of each of the {sampling['rounds']} blocks of its group's steps; draws and sizes stay secret, and empty batches count."
        )
    if scheme == "bins":
        return (
            f"Batches are drawn in secret: every record is put once, independently and uniformly, into one of {sampling['groups']} bins, and step t "
            f"takes all of bin t mod {sampling['groups']}; the draw and the sizes stay secret."
        )
    if schema == "cyclic":
        return f"Batches are made once and never reshuffled: step t uses batch t mod {participation['b']}, so that a record takes part at most {participation['k']} times, {participation['b']} steps apart."
    if schema == "single":
        return "Every record is in one step only."
    if schema == "min-sep":
        return f"A record takes part at most {participation['k']} times, in steps that are at least {participation['b']} apart."
    return "The steps of a record are all in one of the patterns of the manifest."


def _neighbours(manifest: dict[str, Any]) -> str:
    if manifest.get("privacy", {}).get("adjacency") == "replace-one":
        return "The guarantee is for datasets that differ in one record, which is another one in its place."
    return "The guarantee is for datasets that differ in one record, which is there or has nothing in its place."
