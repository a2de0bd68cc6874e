"""The program's figures once more, with matplotlib: an SVG has the numbers of its curves."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from .errors import MafaldaError

MEASURED = 12  # places of values up to which each has its tick


def curves(name: str, svg: str, ax: Any = None) -> Any:
    """Draws a figure of curves on axes, which it returns: of one plot one, of several a list from the top."""
    text = re.search("<metadata>(.+?)</metadata>", svg)
    if text is None:
        raise MafaldaError(f"{name} has no curves: figures has it as SVG")
    found = json.loads(text[1])
    places = axes_of(ax, len(found["plots"]))
    for at, plot in zip(places, found["plots"]):
        _draw(at, plot)
    if len(places) == 1:
        return places[0]
    if ax is None:
        places[0].figure.suptitle(found["title"], wrap=True, fontsize="medium")
    return places


def matrices(named: dict[str, np.ndarray], ax: Any = None) -> Any:
    """Draws matrices side by side, in the signed square root of what each is of its largest magnitude."""
    places = axes_of(ax, len(named), columns=True)
    for at, (name, values) in zip(places, named.items()):
        largest = np.abs(values).max()
        image = at.imshow(np.sign(values) * np.sqrt(np.abs(values) / largest), cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
        at.set(xlabel="column (step of the independent noise)", ylabel="row (step)")
        at.set_title(f"{name},\nlargest magnitude {largest:.3g}", fontsize="medium")
    bar = at.figure.colorbar(image, ax=places, label="share of the largest magnitude")
    bar.set_ticks([-1, -0.5, 0, 0.5, 1], labels=["-1", "-0.25", "0", "0.25", "1"])
    return places


def axes_of(ax: Any, count: int, columns: bool = False) -> list[Any]:
    """So many axes: new ones, or those that are given."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MafaldaError("matplotlib is not installed (pip install matplotlib), and figures has the pictures as SVG") from None
    if ax is None:
        shape = {"ncols": count, "figsize": (5 * count, 4)} if columns else {"nrows": count, "figsize": (6.4, 4 * count)}
        ax = pyplot.subplots(squeeze=False, layout="constrained", **shape)[1]
    places = list(np.ravel(ax))
    if len(places) != count:
        raise MafaldaError(f"this figure has {count} plots: ax is as many axes, not {len(places)}")
    return places


def _draw(ax: Any, plot: dict[str, Any]) -> None:
    for c in plot["curves"]:
        style = "" if plot["dots"] else "--" if c.get("dashed") else ":" if c.get("dotted") else "-"
        marker = "o" if plot["dots"] or plot["marks"] or len(c["x"]) == 1 else ""
        ax.plot(c["x"], c["y"], label=c["name"], color=c["colour"], linestyle=style, marker=marker, markersize=4)
        if "low" in c:
            low = np.maximum(c["low"], np.array(c["y"]) / 10) if plot["log_y"] else c["low"]  # what is lower goes on below the frame
            ax.fill_between(c["x"], low, c["high"], color=c["colour"], alpha=0.16, linewidth=0)
        for at in zip(c["x"], c["y"], c.get("labels", [])):
            ax.annotate(at[2], at[:2], xytext=(6, 0), textcoords="offset points", verticalalignment="center")
    ax.set_xscale("log" if plot["log_x"] else "linear")
    ax.set_yscale("log" if plot["log_y"] else "linear")
    measured = sorted({x for c in plot["curves"] for x in c["x"]})
    if plot["marks"] and len(measured) <= MEASURED:
        ax.set_xticks(measured, [f"{x:g}" for x in measured])
        ax.set_xticks([], minor=True)
    ax.set_xlabel(plot["x"], wrap=True)
    ax.set_ylabel(plot["y"], wrap=True)
    ax.set_title(plot["title"], wrap=True, fontsize="medium")
    ax.grid(alpha=0.3)
    if "rows" in plot:
        ax.set_yticks(range(len(plot["rows"])), plot["rows"])
    if "max_y" in plot:
        ax.set_ylim(top=plot["max_y"])
    if len(plot["curves"]) > 1:
        ax.legend(fontsize="small")
