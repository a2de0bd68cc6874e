"""What load checks of a manifest beyond its hashes: kinds and ranges of its numbers, and that they agree.

A manifest whose numbers do not agree was changed, or is of a version that means something else by them. Compared are:

- every key is known, of its kind and in its range
- sigma with mu; noise_std with mu, clip and adjacency; epsilon and delta with mu (exactly, a Gaussian mechanism)
- of batches that are drawn in secret: groups, rounds, probability and noise multiplier with each other and with
  noise_std; that delta is not below what so many rounds give away, a bound that follows the truth to a percent in
  epsilon; for bins not below what half-spaces tell apart, a bound that the truth is above
- C with its parameters, and its sensitivity with sens_squared (Sensitivity.exact says when it is only a bound)
- the numbers in the sentences of contract with the keys

Not checked here, and checked by `mafalda verify`, and where they matter by `mafalda noise serve` before the first row:
the accountant's epsilon for secret batches to all digits, the samples that confirm bins, sensitivities of T > LONGEST
steps of dense and banded strategies, and of others where check_series says so, or of min-sep strategies of more than b
bands, all that depends on the network (losses, bounds, baselines, W itself).
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from typing import Any, Callable, NamedTuple, Tuple

import numpy as np

from . import filters
from .errors import ExportError

LONGEST = 2048  # steps up to which C is made of its parameters, and sensitivities are computed
MOST_STEPS = 1 << 20
MOST_PRODUCTS = 1e8  # of coefficients, k·T, that the sensitivity of a series may take
CELLS = 512  # of distributions of privacy losses
MOST_SERIES = 1 << 17  # steps of a series whose coefficients are computed


class List(NamedTuple):
    """A list of values of one kind."""

    of: Any


_RATES = (str, List(float))  # either

_SAMPLING = {
    "scheme": str,
    "groups": int,
    "probability": float,
    "rounds": int,
    "max_batch": int,
    "records": int,
    "overflow": float,
    "noise_multiplier": float,
    "epsilon": float,
    "epsilon_lower": float,
    "delta": float,
    "candidates": List({"bandwidth": int, "noise_multiplier": float, "error_at_privacy": float, "optimized_for": str}),
    "lower_bound": float,
    "failure_probability": float,
    "samples": int,
    "seed": int,
    "confirmations": int,
    "confirmed_delta": float,
    "noise_multiplier_estimate": float,
}

_GRAPH = {
    "source": str,
    "sha256": str,
    "seed": int,
    "nodes": int,
    "edges": int,
    "dropped_nodes": int,
    "directed": bool,
    "gossip": str,
    "gossip_file": str,
    "gossip_sha256": str,
    "sequence_file": str,
    "sequence_sha256": str,
}

_MANIFEST = {
    "version": str,
    "graph": _GRAPH,
    "workload": str,
    "workload_spec": {
        "kind": str,
        "momentum": float,
        "nesterov": bool,
        "learning_rates": _RATES,
        "weight_decay": float,
        "local_steps": int,
        "gossip_rounds": int,
        "gradient_tracking": bool,
        "weights": _RATES,
        "node_failures": float,
        "link_failures": float,
        "random_neighbours": int,
        "graph_sequence": {"networks": int, "sha256": str, "source": str},
        "missed_steps": float,
        "carry": bool,
    },
    "curvature": {"risk": str, "x": List(float), "directions": List(float)},
    "family": {"graphs": List(_GRAPH), "weights": List(float), "ratios": List(float), "bound": float},
    "objective": str,
    "objective_weights": List(float),
    "steps": int,
    "gram": dict,
    "participation": {
        "schema": str,
        "k": int,
        "b": int,
        "source": str,
        "patterns": List(List(int)),
        "person_batches": int,
    },
    "trust": str,
    "space": {
        "secrets": {"source": str, "sha256": str, "pairs": int},
        "coalitions": {"size": int, "source": str, "sets": List(List(str))},
        "largest_pair": float,
        "worst": {"attacker": List(str), "victim": str, "value": float},
        "gap_space": float,
        "gap_time": float,
    },
    "strategy": {
        "class": str,
        "bandwidth": int,
        "buffers": int,
        "diagonals": List(List(float)),
        "coefficients": List(float),
        "column_scales": List(float),
        "scale": float,
        "sections": List(List(float)),
        "theta": List(List(float)),
        "omega": List(List(float)),
        "ratio": float,
        "class_bound": float,
        "class_gap": float,
        "memory_floats": int,
        "flops_per_step": int,
    },
    "per_node": {"groups": int, "distinct": int, "layers": List(int), "losses": List(float), "group_bound": float},
    "sens_squared": float,
    "sens_kind": str,
    **dict.fromkeys(("squared_error", "loss", "rmse", "shared_loss", "ldp_loss", "joint_lower_bound"), float),
    **dict.fromkeys(("lower_bound", "gap", "tolerance"), float),
    "lower_bound_of": str,
    "iterations": int,
    "status": str,
    "history": list,
    "baselines": dict,
    "plain_strategy_loss": float,
    "uncurved_strategy_loss": float,
    "privacy": {
        "mu": float,
        "sigma": float,
        "epsilon": float,
        "delta": float,
        "clip": float,
        "adjacency": str,
        "noise_std": float,
    },
    "budgets": List({"node": str, "mu": float, "epsilon": float, "delta": float, "clip": float, "noise_std": float}),
    "one_level_loss": float,
    "one_batch_loss": float,
    "error_at_privacy": float,
    "cyclic_error_at_privacy": float,
    "sampling": _SAMPLING,
    "contract": List(str),
    "seconds": float,
    "peak_bytes": int,
    "command": List(str),
    "files": dict,
}


def check(m: dict[str, Any]) -> None:
    """Kinds, ranges, and what can be compared without the matrices."""
    _kind(m, _MANIFEST, "the manifest")
    for block, keys in (
        (m, ("steps", "workload_spec", "strategy", "participation", "files", "sens_squared", "sens_kind", "contract")),
        (m.get("strategy", {}), ("class",)),
        (m.get("participation", {}), ("schema", "k", "b")),
        (m.get("privacy"), ("clip", "adjacency", "noise_std")),
        (m.get("sampling"), ("scheme",)),
        (m.get("graph"), ("nodes",)),
        (m.get("per_node"), ("layers",)),
        (m.get("space"), ("coalitions", "worst")),
        (m.get("space", {}).get("worst"), ("attacker", "victim", "value")),
    ):
        for key in keys:
            _claim(block is None or key in block, f"the manifest has no {key!r}")
    p, k, b, steps = m["participation"], m["participation"]["k"], m["participation"]["b"], m["steps"]
    _claim(1 <= steps <= MOST_STEPS and k >= 1 and b >= 1, f"steps {steps}, k {k}, b {b}")
    known = ("cyclic", "single", "min-sep", "patterns", "people")
    _claim(p["schema"] in known, f"the schema {p['schema']!r} is not known")
    _claim((p["schema"] == "patterns") == ("patterns" in p), "patterns belong to the schema of this name")
    _claim((p["schema"] == "people") == (p.get("person_batches", 0) >= 1), "person_batches belong to the schema people")
    several = p.get("person_batches", 0) >= 2
    _claim("one_batch_loss" not in m or several, "one_batch_loss is of people in several batches")
    in_turn = p["schema"] != "people" or steps <= k * b and p["person_batches"] <= b
    _claim(in_turn, "persons need batches in turn, m of b at most")
    if "patterns" in p:
        _claim(
            p["patterns"] != [] and all(q and 0 <= min(q) and max(q) < steps for q in p["patterns"]),
            "a pattern is empty, or has steps that there are not",
        )
    else:
        _claim((k - 1) * b < steps, f"k = {k} times, b = {b} apart, are more than {steps} steps")
    _claim(abs(m["sens_squared"] - 1) <= 1e-6, f"sens_squared is {m['sens_squared']}: strategies are exported with 1")
    _claim(m["sens_kind"] in ("exact", "bound"), f"the sens_kind {m['sens_kind']!r} is not known")
    _claim(("trust" in m) == ("space" in m) and m.get("trust", "secldp") == "secldp", "trust and space belong together")
    if "space" in m:
        worst = m["space"].get("worst", {}).get("value", 1)
        _claim(0 < worst <= 1, f"space.worst.value is {worst}: shared noise is exported with 1 at most")
        _claim("graph" in m and "per_node" not in m, "space needs a graph whose nodes have one strategy")
    _claim(all(isinstance(h, str) for h in m["files"].values()), "a file has no SHA-256")
    estimated = m.get("lower_bound", 0) > 0 and m.get("gram", {}).get("method", "exact") != "exact"
    _claim(m.get("lower_bound_of") == ("estimate" if estimated else None), "lower_bound_of is not as gram says")
    if "curvature" in m:
        c = {"risk": "", "x": [], "directions": [], **m["curvature"]}
        _claim(c["risk"] in ("excess", "distance", "worst"), f"the risk {c['risk']!r} is not known")
        _claim(0 < len(c["x"]) == len(c["directions"]), "curvature needs as many directions as second derivatives")
        _claim(min(c["x"] + c["directions"]) >= 0, "a second derivative of curvature is negative")
        _claim(c["risk"] != "worst" or "family" in m, "family is missing")
    if "family" in m:
        f = {"graphs": [], "weights": [], "ratios": [], **m["family"]}
        _claim(not ("graph" in m and f["graphs"]), "family is of several graphs, and there is one")
        problems = len(f["graphs"]) or len(m.get("curvature", {}).get("x", []))
        _claim(0 < problems == len(f["ratios"]) and len(f["weights"]) == len(f["graphs"]), "family needs a ratio for each problem")
    _check_strategy(m)
    _check_privacy(m)
    _check_budgets(m)
    _check_contract(m)


def _kind(value: Any, kind: Any, where: str) -> None:
    """An ExportError if a value is of another kind than the table says, or has keys that it does not have."""
    if isinstance(kind, dict):
        _claim(isinstance(value, dict), f"{where} is no object")
        for key, inner in value.items():
            _claim(key in kind, f"{where} has the key {key!r}, which this version does not know")
            _kind(inner, kind[key], key if where == "the manifest" else f"{where}.{key}")
    elif isinstance(kind, List):
        _claim(isinstance(value, list), f"{where} is no list")
        for inner in value:
            _kind(inner, kind.of, where)
    elif isinstance(kind, tuple):
        _kind(value, str if isinstance(value, str) else kind[1], where)
    elif kind is float:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        _claim(number and abs(value) <= 1.7976931348623157e308, f"{where} is {value!r}, and no finite number")
    elif kind is int:
        _claim(isinstance(value, int) and not isinstance(value, bool), f"{where} is {value!r}, and no whole number")
    else:
        _claim(isinstance(value, kind), f"{where} is {value!r}, which is of the wrong kind")


def _claim(true: bool, says: str) -> None:
    if not true:
        raise ExportError(says)


def _check_strategy(m: dict[str, Any]) -> None:
    s, steps = m["strategy"], m["steps"]
    kind, width = s["class"], s.get("bandwidth", 0)
    _claim(kind in filters.CLASSES, f"the strategy class {kind!r} is not known")
    if kind == "dense":
        _claim(not {"bandwidth", "diagonals", "coefficients", "sections"} & s.keys(), "a dense strategy has parameters")
    elif kind in ("blt", "comb"):
        s = {"sections": [], **s} if kind == "comb" else s  # a comb alone has none
        _claim(s.get("scale", 0) > 0 and "sections" in s, f"a {kind} strategy has no scale, or no sections")
        _claim(len(s["sections"]) <= steps and all(len(q) == 4 for q in s["sections"]), "a section has 4 numbers")
        buffers = sum(1 if q[1] == q[3] == 0 else 2 for q in s["sections"])
        _claim(s.get("buffers", buffers) <= steps, f"a {kind} strategy of more buffers than steps")
        if kind == "comb":
            _claim(1 <= width < steps, "a comb has a period below T")
            _claim(len(s.get("coefficients", [])) == 2, "a comb has two coefficients")
            e = s.get("column_scales", [1.0])
            _claim(1 <= len(e) <= 8, "the column_scales of a comb have 1 to 8 coefficients")
            values = [filters.polynomial(e, t, steps) for t in range(steps)]
            _claim(
                1 / 1.7976931348623157e308 < min(values) and max(values) < math.inf and not math.isnan(sum(values)),
                "the column_scales of a comb are not positive and finite in all steps",
            )
    elif kind == "banded":
        d = s.get("diagonals", [])
        _claim(1 <= width == len(d) <= steps, "a banded strategy has as many diagonals as bands")
        _claim([len(q) for q in d] == [steps - i for i in range(width)], "diagonals of a wrong length")
        _claim(min(d[0]) > 0, "the diagonal of C is not positive")
    else:
        c, columns = s.get("coefficients", []), s.get("column_scales", [1.0] * steps)
        _claim(1 <= width == len(c) <= steps and c[0] > 0, f"a {kind} strategy has as many coefficients as bands")
        _claim(len(columns) == steps and min(columns) > 0, "column_scales are one a step, and positive")


def _check_privacy(m: dict[str, Any]) -> None:
    p, sampling = m.get("privacy"), m.get("sampling")
    secret = sampling is not None and sampling["scheme"] != "cyclic"
    if p is None:
        _claim(sampling is None, "there is a sampling without privacy")
        return
    _check_level(p)
    if secret:
        _check_sampling(m, p, sampling)
        return
    _claim(sampling is None or sampling == {"scheme": "cyclic"}, "sampling cyclic has nothing but its scheme")
    _check_noise(m, p)


def _check_level(p: dict[str, Any]) -> None:
    """Ranges of a privacy level."""
    std, clip = p["noise_std"], p["clip"]
    _claim(1e-280 <= std <= 1e280, f"a noise level of {std}")
    _claim(clip > 0, f"privacy.clip is {clip}")
    _claim(p["adjacency"] in ("zero-out", "replace-one"), f"the adjacency {p['adjacency']!r} is not known")
    _claim(("epsilon" in p) == ("delta" in p), "privacy has one of epsilon and delta, which belong together")
    if "delta" in p:
        _claim(0 < p["delta"] < 1 and p["epsilon"] >= 0, "privacy.delta or privacy.epsilon is out of range")


def _check_budgets(m: dict[str, Any]) -> None:
    """The levels of single nodes: every noise level follows from its own, and privacy is strict enough for all."""
    levels, p = m.get("budgets"), m.get("privacy")
    if levels is None:
        _claim("one_level_loss" not in m, "one_level_loss is for budgets")
        return
    nodes = m.get("graph", {}).get("nodes")
    there = p is not None and len(levels) == nodes
    _claim(there, f"there are {len(levels)} budgets for {nodes} nodes, and privacy for them all")
    scheme = m.get("sampling", {}).get("scheme", "cyclic")
    _claim(scheme == "cyclic", "budgets are for batches in turn")
    _claim("space" not in m or "one_level_loss" not in m, "one_level_loss is for nodes that share no noise")
    for level in levels:
        for key in ("node", "mu", "clip", "noise_std"):
            _claim(key in level, f"a budget has no {key!r}")
        own = {**level, "adjacency": p["adjacency"]}
        try:
            _check_level(own)
            if "space" in m:  # all nodes have one Z, of which nodes.csv and pairs.csv have the shares: check_space
                std = own["noise_std"]
                _claim(std == p["noise_std"], f"noise_std is {std}, and {p['noise_std']} at all nodes")
                own["noise_std"] *= math.sqrt(budget_weight(m, level))
            _check_noise(m, own)
        except ExportError as e:
            raise ExportError(f"the budget of {level['node']!r}: {e}") from None
    strictest = (min(level["mu"] for level in levels), max(level["clip"] for level in levels))
    _claim((p["mu"], p["clip"]) == strictest, "privacy is not the strictest of the budgets")


def budget_weight(m: dict[str, Any], level: dict[str, Any]) -> float:
    """How much it counts what is learned of a node of this level: at a strict node 1, and less at others."""
    p = m["privacy"]
    return float(min(1.0, level["clip"] / p["clip"] * (p["mu"] / level["mu"])) ** 2)


def _check_noise(m: dict[str, Any], p: dict[str, Any]) -> None:
    """The noise of a Gaussian mechanism, and (epsilon, delta), from mu, clip and adjacency."""
    std, clip = p["noise_std"], p["clip"]
    _claim("mu" in p, "privacy has no mu")
    mu = p["mu"]
    _claim(mu > 0, f"privacy.mu is {mu}")
    _claim(abs(p.get("sigma", 1 / mu) * mu - 1) <= 1e-12, "privacy.sigma is not 1/mu")
    contribution = (2 if p["adjacency"] == "replace-one" else 1) * clip * math.sqrt(m["sens_squared"])
    _claim(std * mu >= contribution * (1 - 1e-12), f"noise_std is {std}, which is less than mu = {mu} takes")
    _claim(std * mu <= contribution * (1 + 1e-8), f"noise_std is {std}, which is not what mu = {mu} takes")
    if "delta" in p:
        least = _gaussian_delta(mu * (1 - 1e-9), p["epsilon"])
        _claim(least <= p["delta"] * (1 + 1e-6), f"epsilon = {p['epsilon']} is less than mu = {mu} gives away")
        more = _gaussian_delta(mu * (1 + 1e-6), p["epsilon"])
        _claim(more >= p["delta"] * (1 - 1e-6) or p["epsilon"] == 0, "epsilon and delta are not those of mu")


def _gaussian_delta(mu: float, epsilon: float) -> float:
    """δ of a μ-GDP mechanism: Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ)."""
    x, y = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    tail = math.erfc(y / math.sqrt(2))
    if tail < 1e-300:  # e^ε Φ(-y) by its asymptotic series, φ(x)/y·(1 - 1/y²+…): below δ, and close
        return math.erfc(x / math.sqrt(2)) / 2 - math.exp(-x * x / 2) / (y * math.sqrt(2 * math.pi))
    return math.erfc(x / math.sqrt(2)) / 2 - math.exp(epsilon + math.log(tail / 2))


def _check_sampling(m: dict[str, Any], p: dict[str, Any], s: dict[str, Any]) -> None:
    steps, scheme = m["steps"], s["scheme"]
    schemes = ("poisson", "bins", "allocation", "truncated")
    _claim(scheme in schemes, f"the sampling {scheme!r} is not known to this version")
    for key in ("groups", "probability", "rounds", "noise_multiplier", "epsilon", "delta"):
        _claim(key in s, f"sampling has no {key}")
    _claim("delta" in p and "mu" not in p and "sigma" not in p, f"sampling {scheme} has epsilon and delta, not mu")
    known = p["adjacency"] == "zero-out" or scheme in ("poisson", "truncated") and "space" not in m
    _claim(known, f"sampling {scheme} is accounted for under zero-out")
    _claim("per_node" not in m, f"sampling {scheme} takes one strategy")
    _claim(m["participation"]["schema"] in ("cyclic", "single"), f"sampling {scheme} takes cyclic participation")
    groups, rounds, noise = s["groups"], s["rounds"], s["noise_multiplier"]
    _claim(1 <= groups <= steps, f"sampling.groups is {groups}, of {steps} steps")
    wanted = m["participation"]["k"] if scheme == "allocation" else -(-steps // groups)
    _claim(rounds == wanted, f"{groups} groups have no {rounds} rounds")
    _claim(0 < s["probability"] <= 1, f"sampling.probability is {s['probability']}")
    _claim(noise > 0, f"sampling.noise_multiplier is {noise}")
    _claim(s["delta"] == p["delta"], f"sampling.delta is {s['delta']}, privacy.delta {p['delta']}")
    _claim(0 <= s["epsilon"] <= p["epsilon"], f"sampling.epsilon is {s['epsilon']}, privacy.epsilon {p['epsilon']}")
    want = noise * p["clip"]
    _claim(
        want * (1 - 1e-15) <= p["noise_std"] <= want * (1 + 1e-9),
        f"noise_std is {p['noise_std']}, where a noise multiplier of {noise} with clip {p['clip']} takes {want}",
    )
    candidates = s.get("candidates", [])
    _claim(
        not candidates or any(c.get("noise_multiplier") == noise for c in candidates),
        "the noise multiplier is none of the candidates'",
    )
    least = s.get("lower_bound", 0)
    _claim(0 <= least <= m.get("error_at_privacy", 0) * (1 + 1e-9), f"a lower bound of {least} is above the error")
    b, k = m["participation"]["b"], m["participation"]["k"]
    if scheme == "bins":
        _claim(s["probability"] == 1, "a record of a bin is in every batch of it")
        _claim(groups == b and rounds == k, f"{groups} bins, a record in {rounds} steps, for k = {k} and b = {b}")
        _claim(s.get("confirmed_delta", s["delta"]) <= s["delta"], "the confirmed delta is larger than delta")
        return
    width = m["strategy"].get("bandwidth", 0)
    _claim(m["strategy"]["class"] == "banded" and width <= groups, f"{groups} groups take as many bands at most")
    _claim(m["sens_squared"] <= 1, f"columns have a squared norm of {m['sens_squared']}, above 1")
    _claim(s["probability"] == groups / b, f"{groups} of {b} batches are not a probability of {s['probability']}")
    delta, blocks = s["delta"], ((1, rounds),)
    if scheme == "allocation":
        _claim(k * b == steps and "epsilon_lower" not in s, "a record takes part exactly k times in T = k·b steps")
        short, longer = divmod(steps // groups, k)
        blocks = tuple((c, n) for c, n in ((short + 1, longer), (short, k - longer)) if n)
    _claim(s.get("epsilon_lower", 0) <= s["epsilon"], "sampling.epsilon_lower is above epsilon")
    if scheme == "truncated":
        for key in ("max_batch", "records", "overflow"):
            _claim(key in s and s[key] >= (0 if key == "overflow" else 1), f"sampling has no {key}")
        dropped = rounds * s["probability"] * binomial_tail(s["records"] - 1, s["max_batch"], s["probability"] / groups)
        counted = dropped * (1 - 1e-6) <= s["overflow"] < delta
        _claim(counted, f"records are dropped with a probability of {dropped:.3g}")
        delta -= s["overflow"]
    q = 1.0 if scheme == "allocation" else s["probability"]
    least = secret_delta(q, noise, blocks, s["epsilon"])
    _claim(
        least <= delta * (1 + 1e-6),
        f"with a noise multiplier of {noise} delta is at least {least:.3g} for epsilon = {s['epsilon']}, not {delta}",
    )


def binomial_tail(n: int, k: int, p: float) -> float:
    """P(Bin(n, p) ≥ k)."""
    if k > n or p >= 1:
        return float(k <= n)
    if k <= n * p:
        return 1 - binomial_tail(n, n - k + 1, 1 - p) if k > 0 else 1.0
    term = math.exp(
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(p) + (n - k) * math.log1p(-p)
    )
    total = term
    while k < n and term > 1e-17 * total:
        term *= (n - k) / (k + 1) * p / (1 - p)
        total, k = total + term, k + 1
    return total


_erfc = np.vectorize(math.erfc, otypes=[float])


Pair = Tuple[np.ndarray, np.ndarray]  # masses of cells under two distributions


def _merged(pair: Pair) -> Pair:
    """The same two distributions with fewer cells, of losses log(p/q) that are close: harder to tell apart, if anything."""
    p, q = pair
    loss = np.log(p) - np.log(q)
    much = loss[np.isfinite(loss) & (p + q > 1e-24)]
    low, high = much.min(initial=0.0), much.max(initial=0.0)
    at = (loss - low) * (CELLS / max(high - low, 1e-300))
    at = np.nan_to_num(at, nan=0).clip(0, CELLS - 1).astype(int)
    return np.bincount(at, p, CELLS), np.bincount(at, q, CELLS)


def _product(x: Pair, i: int, y: Pair, j: int) -> Pair:
    """Independent outcomes of two mechanisms, both seen."""
    return tuple(np.outer(u, v).ravel() for u, v in zip(x, y))


def _mixture(x: Pair, i: int, y: Pair, j: int) -> Pair:
    """Outcomes of i and j steps, a record being in one of all i + j steps."""
    p, q = (np.outer(u, y[1]).ravel() for u in x)
    return (i * p + j * np.outer(x[1], y[0]).ravel()) / (i + j), q


def _repeated(once: Pair, times: int, join: Callable[[Pair, int, Pair, int], Pair]) -> Pair:
    """Joins so many copies, by doubling."""
    total, size = once, 1
    for bit in f"{times:b}"[1:]:
        total, size = _merged(join(total, size, total, size)), 2 * size
        if bit == "1":
            total, size = _merged(join(total, size, once, 1)), size + 1
    return total


@functools.lru_cache(maxsize=16)
@np.errstate(all="ignore")  # of cells without mass
def secret_delta(q: float, noise: float, blocks: tuple[tuple[int, int], ...], epsilon: float) -> float:
    """A lower bound of δ for the Gaussian mechanism where a record is in one secret step of every block.

    blocks are pairs of steps and how many such blocks there are; in each the record takes part with probability q. Masses
    are of intervals, merged after every step: what the merged outcomes tell, the outcomes tell, too.
    """
    x = np.linspace(-12 * noise, 1 + 12 * noise, 4 * CELLS)

    def masses(mean: float) -> np.ndarray:
        z = np.concatenate([[-np.inf], (x - mean) / (noise * math.sqrt(2)), [np.inf]])
        return np.where(z[1:] > 0, _erfc(z[:-1]) - _erfc(z[1:]), _erfc(-z[1:]) - _erfc(-z[:-1])) / 2

    once, all_blocks = _merged((masses(1), masses(0))), None
    for steps, count in blocks:
        p, n = _repeated(once, steps, _mixture)
        some = _repeated((q * p + (1 - q) * n, n), count, _product)
        all_blocks = some if all_blocks is None else _merged(_product(all_blocks, 1, some, 1))
    p, n = all_blocks
    grow = math.exp(min(epsilon, 700))
    return float(max(np.maximum(p - grow * n, 0).sum(), np.maximum(n - grow * p, 0).sum()))


def bins_delta(c: np.ndarray, bins: int, noise: float, epsilon: float) -> float:
    """A lower bound of δ for random bins: what half-spaces across the means of some bins tell apart."""
    means = np.stack([c[:, j::bins].sum(axis=1) for j in range(bins)]) / noise
    directions = [*means[np.argsort(-np.linalg.norm(means, axis=1))[:6]], means.mean(axis=0)]
    best = 0.0
    for u in directions:
        along = means @ (u / np.linalg.norm(u))
        s = np.linspace(along.min() - 12, along.max() + 12, 600)
        tail = lambda x: _erfc(x / math.sqrt(2)) / 2  # noqa: E731
        p, q = tail(s[:, None] - along).mean(axis=1), tail(s)
        p_below, q_below = tail(along - s[:, None]).mean(axis=1), tail(-s)
        grow = math.exp(min(epsilon, 700))
        best = max(best, float((p - grow * q).max()), float((q_below - grow * p_below).max()))
    return best


def check_bins(m: dict[str, Any], c: np.ndarray) -> None:
    """An ExportError if a C cannot have the guarantee for random bins that the manifest says."""
    s = m["sampling"]
    _claim(float(c.min()) >= 0, "bins are accounted for with a C that has no negative entry")
    least = bins_delta(np.asarray(c), s["groups"], s["noise_multiplier"], s["epsilon"])
    _claim(
        least <= s["delta"] * (1 + 1e-9),
        f"with a noise multiplier of {s['noise_multiplier']} delta is at least {least:.3g} for epsilon = "
        f"{s['epsilon']}, not {s['delta']}",
    )


def matrix(strategy: dict[str, Any], steps: int) -> np.ndarray:
    """C of its parameters, T×T."""
    c, at = np.zeros((steps, steps)), np.arange(steps)
    kind = strategy["class"]
    if kind == "banded":
        for lag, diagonal in enumerate(strategy["diagonals"]):
            c[at[lag:], at[: steps - lag]] = diagonal
        return c
    for lag, v in enumerate(_series(strategy, steps)):
        c[at[lag:], at[: steps - lag]] = v
    return c * _columns(strategy, steps)


def _series(strategy: dict[str, Any], steps: int) -> np.ndarray:
    """The T coefficients of a strategy of any other class than dense and banded, before columns are scaled."""
    kind, column = strategy["class"], np.zeros(steps)
    if kind == "toeplitz":
        column[: len(strategy["coefficients"])] = strategy["coefficients"]
        return column
    if kind == "banded-inverse":
        return _divide([1.0], strategy["coefficients"], steps)
    column[0] = strategy["scale"]
    for p, q, a, b in strategy.get("sections", []):
        column = _divide(np.convolve(column, [1, -p, q])[:steps], [1, -a, b], steps)
    if kind == "comb":
        (p, a), period = strategy["coefficients"], strategy["bandwidth"]
        column[period:] -= p * column[: steps - period]
        for at in range(period, steps, period):
            column[at : at + period] += a * column[at - period : at][: steps - at]
    return column


def _columns(strategy: dict[str, Any], steps: int) -> np.ndarray:
    """The T scales of columns, ones if there are none."""
    scales = strategy.get("column_scales")
    if scales is None:
        return np.ones(steps)
    if strategy["class"] == "comb":
        return 1 / np.array([filters.polynomial(scales, t, steps) for t in range(steps)])
    return np.array(scales, dtype=float)


def _divide(numerator: Any, denominator: list[float], steps: int) -> np.ndarray:
    """The first coefficients of a quotient of power series."""
    out = np.zeros(steps)
    rest = np.array(denominator[1:])
    for t in range(steps):
        past = out[max(0, t - len(rest)) : t][::-1]
        out[t] = ((numerator[t] if t < len(numerator) else 0.0) - past @ rest[: len(past)]) / denominator[0]
    return out


class Sensitivity(NamedTuple):
    """sens² as sums of magnitudes have it; exact says whether `mafalda verify` has the same number, else one above."""

    squared: float
    exact: bool


def sensitivity(c: np.ndarray, participation: dict[str, Any]) -> Sensitivity:
    """What one record can change, squared: the largest sum of |CᵀC| over a pattern."""
    schema, steps = participation["schema"], len(c)
    k, b = participation["k"], participation["b"]
    if schema == "people":
        x, batches = np.abs(c.T @ c), min(b, steps)
        sums = np.array([[x[i::b, j::b].sum() for j in range(batches)] for i in range(batches)])
        unions = itertools.combinations(range(batches), participation["person_batches"])
        return Sensitivity(float(max(sums[np.ix_(u, u)].sum() for u in unions)), True)
    if schema == "patterns":
        sums = (np.abs(c[:, q].T @ c[:, q]).sum() for q in participation["patterns"])
        return Sensitivity(float(max(sums)), True)
    if schema == "min-sep" and k > 1:
        norms = (np.asarray(c) ** 2).sum(axis=0)
        banded = not np.tril(c, -b).any()  # columns b apart have no rows in common
        if banded:
            return Sensitivity(_heaviest(norms, k, b), True)
    worst = 0.0
    for offset in range(min(b, steps)):
        x = np.abs(c[:, offset::b].T @ c[:, offset::b])
        sums = np.zeros((len(x) + 1, len(x) + 1))
        sums[1:, 1:] = x.cumsum(axis=0).cumsum(axis=1)
        for i in range(max(len(x) - k, 0) + 1):
            j = min(i + k, len(x))
            worst = max(worst, float(sums[j, j] - sums[i, j] - sums[j, i] + sums[i, i]))
    return Sensitivity(worst, schema != "min-sep" or k == 1)


def series_sensitivity(c: np.ndarray, d: np.ndarray, k: int, b: int) -> float:
    """sens² of C[t,s] = c[t-s]·d[s], k times exactly b apart, as sums of magnitudes have it, never less for rounding.

    It takes O(kT). X[t-eb,t] = d[t-eb] d[t] A_e(T-1-t) with the partial sums A_e of c[j] c[j+eb]. Along the steps of a
    class these are summed up once for every e, so that a pattern, of the class or a part of it, has the difference of
    two such sums. Where patterns are parts, for T > kb, d is 1, and sens² is at most the sum over t of the squares of
    |c[t]| + |c[t-b]| + … of k terms, which is less for rounding.
    """
    steps, rounding = len(c), 8 * len(c) * 2.0**-53  # T roundings of every partial sum
    starts = np.arange(min(max(b, steps - (k - 1) * b), steps))
    last = starts + np.minimum(k - 1, (steps - 1 - starts) // b) * b
    sums, magnitudes = np.zeros(len(starts)), np.zeros(len(starts))
    used = int(np.flatnonzero(c)[-1]) + 1
    for e in range(min(k, (used - 1) // b + 1)):
        lag, times = e * b, 1 if e == 0 else 2
        products, weights = c[: steps - lag] * c[lag:], d[: steps - lag] * d[lag:]

        def by_class(partial: np.ndarray) -> np.ndarray:  # row by row of b steps
            x = np.zeros(-(-steps // b) * b)
            x[lag:steps] = partial[::-1] * weights
            return x.reshape(-1, b)

        along = by_class(np.abs(products.cumsum())).cumsum(axis=0).ravel()
        before = starts + lag - b
        some = along[last] - np.where(before >= 0, along[np.maximum(before, 0)], 0.0)
        sums += times * np.where(last >= starts + lag, some, 0.0)
        if steps <= k * b:
            magnitudes += times * by_class(np.abs(products).cumsum()).sum(axis=0)[: len(starts)]
    if steps <= k * b:
        return float((sums + rounding * magnitudes).max())
    rows = np.abs(c)
    for i in range(1, k):
        rows[i * b :] += np.abs(c[: steps - i * b])
    most = float((rows**2).sum()) * (1 + rounding)
    return min(most, float(sums.max()) + rounding * (2 + steps // (k * b)) * most)


def _heaviest(weights: np.ndarray, k: int, b: int) -> float:
    """The largest sum of at most k weights that are at least b apart."""
    steps = len(weights)
    best = np.zeros(steps + 1)
    for _ in range(k):
        before = np.concatenate([np.zeros(b - 1), best[: steps + 1 - b + 1]])[:steps]  # up to b steps before
        best = np.concatenate([[0.0], np.maximum.accumulate(weights + before)])
    return float(best[-1])


def check_matrix(m: dict[str, Any], c: np.ndarray) -> None:
    """An ExportError if C is not lower triangular, not that of the parameters, or of another sensitivity than said."""
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused
        _check_matrix(m, c)


def _check_matrix(m: dict[str, Any], c: np.ndarray) -> None:
    steps, s = m["steps"], m["strategy"]
    _claim(not np.triu(c, 1).any() and float(np.diagonal(c).min()) > 0, "C is not lower triangular, or singular")
    if steps > LONGEST:
        check_series(m)
        return
    if s["class"] != "dense":
        difference = float(np.linalg.norm(matrix(s, steps) - c))
        same = difference <= 1e-9 * float(np.linalg.norm(c))
        _claim(same, "the parameters of the strategy make another matrix than C")
    scheme = m.get("sampling", {}).get("scheme", "cyclic")
    participation = m["participation"]
    if scheme in ("poisson", "allocation", "truncated"):
        participation = {"schema": "single", "k": 1, "b": steps}
    if scheme == "bins":
        check_bins(m, c)
    found, said = sensitivity(c, participation), m["sens_squared"]
    _claim(found.squared <= said * (1 + 1e-9) + 1e-12, f"sens² is {found.squared}, the manifest says {said}")
    if found.exact and m["sens_kind"] == "exact" and "per_node" not in m:
        _claim(found.squared >= said * (1 - 1e-9), f"sens² is {found.squared}, the manifest says {said}")


def check_series(m: dict[str, Any]) -> None:
    """An ExportError if a strategy of more than LONGEST steps has another sensitivity than said.

    It is for strategies of few parameters whose records come in turn, T ≤ MOST_SERIES and kT ≤ MOST_PRODUCTS; with
    scaled columns for T ≤ kb. `mafalda verify` checks the others.
    """
    s, p, steps = m["strategy"], m["participation"], m["steps"]
    k, b, scheme = p["k"], p["b"], m.get("sampling", {}).get("scheme", "cyclic")
    if scheme in ("poisson", "allocation", "truncated"):
        k, b = 1, steps
    elif scheme != "cyclic" or p["schema"] not in ("cyclic", "single"):
        return
    if s["class"] in ("dense", "banded") or steps > MOST_SERIES or k * steps > MOST_PRODUCTS:
        return
    if "column_scales" in s and steps > k * b:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        found, said = series_sensitivity(_series(s, steps), _columns(s, steps), k, b), m["sens_squared"]
    _claim(found <= said * (1 + 1e-9), f"sens² is {found}, the manifest says {said}")
    if m["sens_kind"] == "exact" and "per_node" not in m:
        _claim(found >= said * (1 - 1e-9), f"sens² is {found}, the manifest says {said}")


_SENTENCES = (  # of the contract, and what their numbers are
    (r"^T = (\d+) steps", ("steps",)),
    (r"step t uses batch t mod (\d+), so that a record is in (\d+) steps at most, (\d+) apart", ("b", "k", "b")),
    (r"batch \(t mod (\d+)\) \+ (\d+)·\S+, so that a record is in (\d+) steps at most, (\d+) apart", ("b", "b", "k", "b")),
    (r"^A record takes part in at most (\d+) steps, any two of them at least (\d+) apart", ("k", "b")),
    (r"^A record may take part in every step, (\d+) in all", ("steps",)),
    (r"clipped to norm (\S+)\. ", ("clip",)),
    (r"into one of (\d+) (?:groups|batches) at random", ("groups",)),
    (r"(?:takes all of batch|group) t mod (\d+)", ("groups",)),
    (r"are cut into (\d+) blocks", ("rounds",)),
    (r"takes part with probability (\S+), independently", ("probability",)),
    (r"of more than (\d+) those .* for nodes of at most (\d+) records", ("max_batch", "records")),
)


def _check_contract(m: dict[str, Any]) -> None:
    """An ExportError if a sentence of the contract has another number than the keys; other sentences are for people."""
    numbers = {**m.get("sampling", {}), **m.get("privacy", {}), **m["participation"], "steps": m["steps"]}
    long = m["steps"] > m["participation"]["k"] * m["participation"]["b"]
    for sentence in m["contract"]:
        _claim(not long or "uses batch t mod" not in sentence, "batches in turn, T > k·b: records take part more than k times")
        for pattern, keys in _SENTENCES:
            found = re.search(pattern, sentence)
            for key, text in zip(keys, found.groups() if found else ()):
                said = float(text) if re.fullmatch(r"[0-9.]+(e[+-]?\d+)?", text) else math.nan
                same = said == numbers.get(key)
                if key == "probability":  # six digits, in older exports
                    same = abs(said / numbers.get(key, math.nan) - 1) < 1e-5
                _claim(same, f"the contract says {key} = {text}, the manifest {numbers.get(key)}")
        for words, adjacency in (("(zero-out)", "zero-out"), ("(replace-one)", "replace-one")):
            _claim(words not in sentence or numbers.get("adjacency") == adjacency, f"the contract says {words}")


def check_layers(per_node: dict[str, Any], layers: int, nodes: int) -> None:
    """An ExportError if nodes have no strategy, or a strategy no node."""
    used = per_node["layers"]
    _claim(len(used) == nodes and set(used) == set(range(layers)), f"{nodes} nodes use layers {used}, of {layers}")
    _claim("groups" in per_node or used == list(range(nodes)), "without groups node i has layer i")


def check_space(m: dict[str, Any], labels: list[str], own: list[float], shares: list[tuple[int, int, float]]) -> None:
    """An ExportError if shared noise of these variances protects less than space.worst says, or the worst is another.

    Of coalitions, single nodes are looked at (of 100 nodes at most), the listed sets, and the one that is said to be
    the worst; `mafalda verify` looks at all.
    """
    space, n = m["space"], len(labels)
    said, weights = space["worst"], np.array([budget_weight(m, level) for level in m.get("budgets", [])] or [1.0] * n)
    number = {label: i for i, label in enumerate(labels)}
    sets = [[], *space["coalitions"].get("sets", []), said["attacker"]]
    _claim(all(label in number for label in [*sum(sets, []), said["victim"]]), "space names a node that there is not")
    _claim(said["victim"] not in said["attacker"], "space.worst has the victim among the attackers")
    attackers = {frozenset(number[label] for label in labels) for labels in sets}
    if "size" in space["coalitions"] and n <= 100:
        attackers |= {frozenset([i]) for i in range(n)}
    for attacker in sorted(attackers, key=sorted):
        noise = np.diag(np.array(own))
        for u, v, variance in shares:
            if not {u, v} & attacker:
                noise[[u, v, u, v], [u, v, v, u]] += [variance, variance, -variance, -variance]
        honest = [i for i in range(n) if i not in attacker]
        if not honest:
            continue  # nobody is left to be seen
        try:
            seen = np.diagonal(np.linalg.inv(noise[np.ix_(honest, honest)])) * weights[honest]
        except np.linalg.LinAlgError:
            raise ExportError("the noise that nodes share hides nothing from somebody") from None
        worst = float(seen.max())
        _claim(float(seen.min()) > 0 and worst <= said["value"] * (1 + 1e-6), f"shared noise lets {worst} be seen")
        if attacker == frozenset(number[label] for label in said["attacker"]):
            there = float(seen[honest.index(number[said["victim"]])])
            _claim(abs(there - said["value"]) <= 1e-6, f"space.worst is {there}, the manifest says {said['value']}")
