"""The program's figures once more, with matplotlib: an SVG has the numbers of its curves."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from .errors import MafaldaError
from ._types import Array, Json

MEASURED = 12  # places of values up to which each has its tick


def curves(name: str, svg: str, ax: Any = None) -> Any:
    """Draws a figure of curves on axes, which it returns: of one plot one, of several a list from the top."""
    text = re.search("<metadata>(.+?)</metadata>", svg)
    if text is None:
        raise MafaldaError(f"{name} has no curves: figures has it as SVG")
    found = json.loads(text[1])
    places = _places(ax, len(found["plots"]), 1)
    for at, plot in zip(places, found["plots"]):
        _draw(at, **plot)
    if len(places) == 1:
        return places[0]
    if ax is None:
        places[0].figure.suptitle(found["title"], wrap=True, fontsize="medium")
    return places


def matrices(named: dict[str, Array], ax: Any = None) -> Any:
    """Draws matrices side by side, in the signed square root of what each is of its largest magnitude."""
    places = _places(ax, 1, len(named))
    for at, (name, values) in zip(places, named.items()):
        largest = np.abs(values).max()
        image = at.imshow(np.sign(values) * np.sqrt(np.abs(values) / largest), cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
        at.set(xlabel="column (step)", ylabel="row (step)")
        at.set_title(f"{name},\nlargest magnitude {largest:.3g}", fontsize="medium")
    bar = at.figure.colorbar(image, ax=places, label="share of the largest magnitude")
    bar.set_ticks([-1, -0.5, 0, 0.5, 1], labels=["-1", "-0.25", "0", "0.25", "1"])
    return places


def _places(ax: Any, rows: int, columns: int) -> list[Any]:
    """Rows times columns of axes: new ones, or those that are given."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MafaldaError("matplotlib is not installed (pip install matplotlib), and figures has the pictures as SVG") from None
    if ax is None:
        ax = pyplot.subplots(rows, columns, figsize=(1.4 + 5 * columns, 4 * rows), layout="constrained")[1]
    places = list(np.ravel(ax))
    if len(places) != rows * columns:
        raise MafaldaError(f"this figure has {rows * columns} plots: ax is as many axes, not {len(places)}")
    return places


def _draw(
    ax: Any, *, title: str, x: str, y: str, log_x: bool, log_y: bool, dots: bool, marks: bool, curves: list[Json],
    max_y: float | None = None, rows: list[str] | None = None, **_: Any
) -> None:
    for c in curves:
        at, values, colour = c["x"], c["y"], c["colour"]
        style = "" if dots else "--" if c.get("dashed") else ":" if c.get("dotted") else "-"
        ax.plot(at, values, label=c["name"], color=colour, linestyle=style, marker="o" if dots or marks or len(at) == 1 else "", markersize=4)
        if "low" in c:
            low = np.maximum(c["low"], np.array(values) / 10) if log_y else c["low"]  # what is lower goes on below the frame
            ax.fill_between(at, low, c["high"], color=colour, alpha=0.16, linewidth=0)
        for *place, label in zip(at, values, c.get("labels", [])):
            ax.annotate(label, place, xytext=(6, 0), textcoords="offset points", verticalalignment="center")
    ax.set(xscale="log" if log_x else "linear", yscale="log" if log_y else "linear")
    measured = sorted({value for c in curves for value in c["x"]})
    if marks and len(measured) <= MEASURED:
        ax.set_xticks(measured, [f"{value:g}" for value in measured])
        ax.set_xticks([], minor=True)
    ax.set_xlabel(x, wrap=True)
    ax.set_ylabel(y, wrap=True)
    ax.set_title(title, wrap=True, fontsize="medium")
    ax.grid(alpha=0.3)
    if rows:
        ax.set_yticks(range(len(rows)), rows)
    if max_y:
        ax.set_ylim(top=max_y)
    if len(curves) > 1:
        ax.legend(fontsize="small")
