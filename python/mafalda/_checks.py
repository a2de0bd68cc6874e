"""What load checks of a manifest beyond its hashes: that what a node uses was not changed, as far as numpy goes.

Compared are

- every key with the table of the Go program (schema.json, made by `make python`): known, of its kind, in its range
- sigma with mu; noise_std with mu, clip and adjacency; epsilon and delta with mu (exactly, a Gaussian mechanism)
- of batches that are drawn in secret: groups, rounds, probability and noise multiplier with each other and with noise_std
- C⁻¹ with the parameters of C, and the sensitivity of C with sens_squared, up to LONGEST steps (under min-sep that it is
  not below what records in turn have)
- the numbers in the sentences of contract with the keys

What else a manifest claims is checked by `mafalda noise serve` before the first row of real noise, and by `mafalda
verify`: the accountant's epsilon for secret batches, sensitivities of all strategies, and what attackers learn of shared
noise. verify alone checks what depends on the network (losses, bounds, baselines, W itself).
"""

from __future__ import annotations

import itertools
import json
import math
import os
import re
from typing import Any

import numpy as np

from . import _draw, _files, _filters
from .errors import ExportError
from ._types import Array, Json

LONGEST = 2048  # steps up to which C is made of its parameters, and sensitivities are computed

_KEYS = {k["key"]: k for k in json.loads(_files.read(os.path.join(os.path.dirname(__file__), "schema.json")))}
_NEEDED: dict[str, list[str]] = {}  # keys of each object that it must have
for _key, _row in _KEYS.items():
    if _row.get("needed"):
        _NEEDED.setdefault(_key.rpartition(".")[0], []).append(_key)
_KINDS = {"object": dict, "list": list, "string": str, "bool": bool, "int": int}
_KINDS |= {"float": (int, float), "any": (str, list)}


def _check_key(value: Any, key: str, where: str) -> None:
    """An ExportError if a value is not what the table says of its key, or of a key in it; where names it."""
    row = _KEYS.get(key, {"kind": "object"})  # the manifest itself
    kind, allowed = _KINDS[row["kind"]], row.get("in")
    fits = isinstance(value, kind) and isinstance(value, bool) == (kind is bool)
    _claim(fits and not (row["kind"] == "float" and not abs(value) <= 1.7976931348623157e308), f"{where} is {value!r}, no {row['kind']}")
    _claim(allowed is None or _allows(allowed, value), f"{where} is {value!r}: must be in {allowed}")
    if isinstance(value, list):
        for inner in value:
            _check_key(inner, key + "[]", where)
    if not isinstance(value, dict):
        return
    names, prefix = key + ".*", key + "." if key else ""
    for name, inner in value.items():
        at = names if names in _KEYS else prefix + name
        _claim(at in _KEYS, f"{where} has the key {name!r}, which this version does not know")
        _check_key(inner, at, prefix + name)
    for needed in _NEEDED.get(key, []):
        name = needed[len(prefix) :]
        if name not in value:  # absent is zero, which may not be allowed
            of, range_ = _KEYS[needed]["kind"], _KEYS[needed].get("in")
            may = of not in ("object", "list") and (range_ is None or _allows(range_, "" if of == "string" else 0))
            _claim(may, f"{where} has no {name!r}")


def _allows(allowed: str, value: Any) -> bool:
    """Whether a value is one of the words, or in the interval, that are allowed."""
    if isinstance(value, str):
        return value in allowed.split()
    low, high = (float(end or "inf") for end in allowed[1:-1].split(","))
    return (low < value or allowed[0] == "[" and low == value) and (value < high or allowed[-1] == "]" and high == value)


def check(m: Json) -> None:
    """Kinds, ranges, and what can be compared without the matrices."""
    _check_key(m, "", "the manifest")
    _claim("workload_spec" in m and "contract" in m, "the manifest has no 'workload_spec', or no 'contract'")
    p, k, b, steps = m["participation"], m["participation"]["k"], m["participation"]["b"], m["steps"]
    _claim((p["schema"] == "patterns") == ("patterns" in p), "patterns belong to the schema of this name")
    _claim((p["schema"] == "people") == ("person_batches" in p), "person_batches belong to the schema people")
    _claim(p["schema"] != "silo" or k == steps and b == 1, "a silo is in every step")
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
    _claim(("trust" in m) == ("space" in m), "trust and space belong together")
    if "space" in m:
        _claim("graph" in m and "per_node" not in m, "space needs a graph whose nodes have one strategy")
    if "curvature" in m:
        c = m["curvature"]
        _claim(0 < len(c["x"]) == len(c["directions"]), "curvature needs as many directions as second derivatives")
    _check_privacy(m)
    _check_budgets(m)
    _check_contract(m)


def _claim(true: bool, says: str) -> None:
    if not true:
        raise ExportError(says)


def _check_privacy(m: Json) -> None:
    p, sampling = m.get("privacy"), m.get("sampling")
    if p is None:
        _claim(sampling is None, "there is a sampling without privacy")
        return
    _check_level(p)
    if sampling is not None and sampling["scheme"] != "cyclic":
        _check_sampling(m, p, sampling)
        return
    _claim(sampling is None or sampling == {"scheme": "cyclic"}, "sampling cyclic has nothing but its scheme")
    _check_noise(m, p)


def _check_level(p: Json) -> None:
    _claim(1e-280 <= p["noise_std"] <= 1e280, f"a noise level of {p['noise_std']}")
    _claim(("epsilon" in p) == ("delta" in p), "privacy has one of epsilon and delta, which belong together")


def _check_budgets(m: Json) -> None:
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
        own = {**level, "adjacency": p["adjacency"]}
        try:
            _check_level(own)
            if "space" in m:  # all nodes have one Z, of which nodes.csv and pairs.csv have the shares: check_space
                std = own["noise_std"]
                _claim(std == p["noise_std"], f"noise_std is {std}, and {p['noise_std']} at all nodes")
                # less may be learned of a strict node than of others
                own["noise_std"] *= min(1.0, level["clip"] / p["clip"] * (p["mu"] / level["mu"]))
            _check_noise(m, own)
        except ExportError as e:
            raise ExportError(f"the budget of {level['node']!r}: {e}") from None
    strictest = (min(level["mu"] for level in levels), max(level["clip"] for level in levels))
    _claim((p["mu"], p["clip"]) == strictest, "privacy is not the strictest of the budgets")


def _check_noise(m: Json, p: Json) -> None:
    """The noise of a Gaussian mechanism, and (epsilon, delta), from mu, clip and adjacency."""
    std, clip = p["noise_std"], p["clip"]
    _claim("mu" in p, "privacy has no mu")
    mu = p["mu"]
    _claim(abs(p.get("sigma", 1 / mu) * mu - 1) <= 1e-12, "privacy.sigma is not 1/mu")
    contribution = (2 if p["adjacency"] == "replace-one" else 1) * clip * math.sqrt(m["sens_squared"])
    _claim(std * mu >= contribution * (1 - 1e-12), f"noise_std is {std}, which is less than mu = {mu} takes")
    _claim(std * mu <= contribution * (1 + 1e-8), f"noise_std is {std}, which is not what mu = {mu} takes")
    if "delta" in p:
        epsilon, delta = p["epsilon"], p["delta"]
        lost, rounding = _gaussian_delta(mu, epsilon)
        _claim(lost <= delta + rounding, f"epsilon = {epsilon} is less than mu = {mu} gives away")
        more = _gaussian_delta(mu * (1 + 1e-6), epsilon)[0]
        _claim(more >= delta * (1 - 1e-6) or epsilon == 0, "epsilon and delta are not those of mu")


def _gaussian_delta(mu: float, epsilon: float) -> tuple[float, float]:
    """δ of a μ-GDP mechanism, Φ(-x) - e^ε Φ(-y) for x = ε/μ - μ/2 and y = ε/μ + μ/2, and how far rounding may put it
    off."""
    x, y = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    tail, mills = math.erfc(x / math.sqrt(2)) / 2, y
    if y < 8:
        inner = math.exp(epsilon) * math.erfc(y / math.sqrt(2)) / 2
    else:  # e^ε Φ(-y) is φ(x) times Mills' ratio of y, a continued fraction
        for n in range(30, 0, -1):
            mills = y + n / mills
        inner = math.exp(-x * x / 2) / (mills * math.sqrt(2 * math.pi))
    return tail - inner, 1e-15 * min(4 + y * y, 1e9) * tail


def _check_sampling(m: Json, p: Json, s: Json) -> None:
    steps, scheme, b, k = m["steps"], s["scheme"], m["participation"]["b"], m["participation"]["k"]
    truncated = ("max_batch", "records") if scheme == "truncated" else ()
    for key in ("groups", "probability", "rounds", "noise_multiplier", "epsilon", "delta", *truncated):
        _claim(key in s, f"sampling has no {key}")
    _claim("delta" in p and "mu" not in p and "sigma" not in p, f"sampling {scheme} has epsilon and delta, not mu")
    _claim("per_node" not in m, f"sampling {scheme} takes one strategy")
    _claim(m["participation"]["schema"] in ("cyclic", "single"), f"sampling {scheme} takes cyclic participation")
    groups, noise = s["groups"], s["noise_multiplier"]
    rounds = k if scheme in _draw.ROUNDS_OF_K else -(-steps // groups)
    _claim(s["rounds"] == rounds, f"{groups} groups have no {s['rounds']} rounds")
    q = 1 if scheme == "bins" else groups / b
    _claim(s["probability"] == q, f"{groups} of {b} batches are a probability of {q}, not {s['probability']}")
    _claim(scheme != "bins" or groups == b, f"{groups} bins, for b = {b}")
    _claim(scheme != "allocation" or k * b == steps, "a record takes part exactly k times in T = k·b steps")
    want = noise * p["clip"]
    _claim(
        want * (1 - 1e-15) <= p["noise_std"] <= want * (1 + 1e-9),
        f"noise_std is {p['noise_std']}, where a noise multiplier of {noise} with clip {p['clip']} takes {want}",
    )
    _claim(s["delta"] == p["delta"], f"sampling.delta is {s['delta']}, privacy.delta {p['delta']}")
    _claim(s["epsilon"] <= p["epsilon"], f"sampling.epsilon is {s['epsilon']}, privacy.epsilon {p['epsilon']}")
    if scheme != "bins":
        width = m["strategy"].get("bandwidth", 0)
        _claim(m["strategy"]["class"] == "banded" and width <= groups, f"{groups} groups take as many bands at most")
        _claim(m["sens_squared"] <= 1, f"columns have a squared norm of {m['sens_squared']}, above 1")


def noising(strategy: Json, steps: int) -> Array:
    """C⁻¹ of the parameters of C, T×T: what the filter makes of the identity."""
    try:
        rows = _filters.start(strategy, steps)
        return np.array([rows.send(row) for row in np.eye(steps)])
    except (ArithmeticError, LookupError, TypeError, ValueError) as e:
        raise ExportError(f"the parameters of the strategy are none of class {strategy['class']}: {e!r}") from e


def sensitivity(c: Array, participation: Json) -> float:
    """What one record can change, squared: the largest sum of |CᵀC| over a pattern; under min-sep over one with equal steps."""
    schema, k, b, steps = participation["schema"], participation["k"], participation["b"], len(c)
    batches = [range(i, steps, b) for i in range(min(b, steps))]
    if schema == "patterns":
        patterns = participation["patterns"]
    elif schema == "people":
        patterns = map(np.concatenate, itertools.combinations(batches, participation["person_batches"]))
    else:
        patterns = (batch[i : i + k] for batch in batches for i in range(max(len(batch) - k, 0) + 1))
    x = np.abs(c.T @ c)
    return max(float(x[np.ix_(q, q)].sum()) for q in patterns)


def check_matrix(m: Json, c: Array, inverse: Array) -> None:
    """An ExportError if C and C⁻¹ are not triangular, not those of the parameters, or of another sensitivity than said."""
    steps, s, p, said = m["steps"], m["strategy"], m["participation"], m["sens_squared"]
    _claim(not np.triu(c, 1).any() and float(np.diagonal(c).min()) > 0, "C is not lower triangular, or singular")
    with np.errstate(all="ignore"):  # what overflows is refused
        error = np.linalg.norm(c @ inverse - np.eye(steps))
        _claim(bool(error <= 1e-9) and not np.triu(inverse, 1).any(), "C_inv.npy is not the inverse of C.npy")
        if steps > LONGEST:
            return
        if s["class"] != "dense":
            apart = np.linalg.norm(noising(s, steps) - inverse) / np.linalg.norm(inverse)
            _claim(bool(apart <= 1e-9), "the parameters of the strategy make another matrix than C")
        scheme = m.get("sampling", {}).get("scheme", "cyclic")
        if scheme not in ("cyclic", "bins"):
            p = {"schema": "single", "k": 1, "b": steps}
        found = sensitivity(c, p)
    _claim(found <= said * (1 + 1e-9) + 1e-12, f"sens² is {found}, the manifest says {said}")
    exact = m["sens_kind"] == "exact" and "per_node" not in m and (p["schema"] != "min-sep" or p["k"] == 1)
    _claim(not exact or found >= said * (1 - 1e-9), f"sens² is {found}, the manifest says {said}")


def check_parameters(m: Json) -> None:
    """check_matrix for an export of parameters alone."""
    if m["steps"] <= LONGEST:
        with np.errstate(all="ignore"):
            inverse = noising(m["strategy"], m["steps"])
            try:
                c = np.linalg.inv(inverse)
            except np.linalg.LinAlgError as e:
                raise ExportError("the parameters of the strategy make no C") from e
        check_matrix(m, c, inverse)


_SENTENCES = (  # what sentences of the contract say, by key
    r"^T = (?P<steps>\d+) steps",
    r"step t uses batch t mod (?P<b>\d+)",
    r"batch \(t mod (?P<b>\d+)\)",
    r"batch \(t mod \d+\) \+ (?P<b>\d+)·",
    r"so that a record is in (?P<k>\d+) steps at most, (?P<b>\d+) apart",
    r"^A record takes part in at most (?P<k>\d+) steps, any two of them at least (?P<b>\d+) apart",
    r"^A record may take part in every step, (?P<steps>\d+) in all",
    r"clipped to norm (?P<clip>\S+)\. ",
    r"into one of (?P<groups>\d+) (?:groups|batches) at random",
    r"(?:takes all of batch|group) t mod (?P<groups>\d+)",
    r"are cut into (?P<rounds>\d+) blocks",
    r"takes part with probability (?P<probability>\S+), independently",
    r"of more than (?P<max_batch>\d+) those .* for nodes of at most (?P<records>\d+) records",
)


def _check_contract(m: Json) -> None:
    """An ExportError if a sentence of the contract has another number than the keys; other sentences are for people."""
    numbers = {**m.get("sampling", {}), **m.get("privacy", {}), **m["participation"], "steps": m["steps"]}
    long = m["steps"] > m["participation"]["k"] * m["participation"]["b"]
    for sentence in m["contract"]:
        _claim(not long or "uses batch t mod" not in sentence, "batches in turn, T > k·b: records take part more than k times")
        for found in filter(None, (re.search(pattern, sentence) for pattern in _SENTENCES)):
            for key, text in found.groupdict().items():
                said = float(text) if re.fullmatch(r"[0-9.]+(e[+-]?\d+)?", text) else math.nan
                is_ = numbers.get(key, math.nan)
                six_digits = key == "probability" and abs(said / is_ - 1) < 1e-5  # in older exports
                _claim(said == is_ or six_digits, f"the contract says {key} = {text}, the manifest {is_}")
        for adjacency in ("zero-out", "replace-one"):
            same = f"({adjacency})" not in sentence or numbers.get("adjacency") == adjacency
            _claim(same, f"the contract says ({adjacency})")


def check_layers(per_node: Json, layers: int, nodes: int) -> None:
    """An ExportError if nodes have no strategy, or a strategy no node."""
    used = per_node["layers"]
    _claim(len(used) == nodes and set(used) == set(range(layers)), f"{nodes} nodes use layers {used}, of {layers}")
    _claim("groups" in per_node or used == list(range(nodes)), "without groups node i has layer i")
