"""Compares mafalda's accountants with independent ones, on random cases: never below, and how far above.

    pip install dp-accounting
    python accounting/compare/compare.py poisson|replace|truncated|allocation|bins --mafalda PATH
        [--cases 60] [--seed 31]

poisson, replace (replace-one neighbours) and truncated are compared with the upper bounds of dp_accounting ("connect
the dots"), and with its lower ones, which no ε may be below. dp_accounting has no random allocation: allocation is
compared with integrals over all outcomes of one block of up to three steps, of which the innermost has a closed form
(several blocks, by samples: `go test ./accounting/allocation`). bins with C = I are
one block of random allocation, by the same integrals; other strategies are compared by `go test ./accounting/bins`.
"""

import argparse
import json
import math
import random
import statistics
import subprocess

import numpy as np
from scipy.special import log_ndtr, ndtr


# relative error of an epsilon by integration: twice the distances change it by up to 1.3e-5 (three steps), in second order
INTEGRAL = 1e-5


def option(mean, sigma, strike):
    """E (a W - K)+ for a lognormal W of mean one, a > 0 (Black and Scholes); strike is log(K/a), or -inf for K <= 0."""
    low = np.isneginf(strike)
    d = (-strike + sigma**2 / 2) / sigma
    with np.errstate(over="ignore", invalid="ignore"):
        value = ndtr(d) - np.exp(np.minimum(strike, 700) + log_ndtr(d - sigma))
    return mean * np.where(low, 0, value)


def grid(dims, sigma, points):
    """Outcomes of so many lognormal numbers of mean one, row by row, with weights: the trapezoid rule is nearly
    exact."""
    x = np.linspace(-9, 9, points)
    w = np.exp(-x * x / 2)
    w /= w.sum()
    mesh = np.stack(np.meshgrid(*[x] * dims, indexing="ij")).reshape(dims, -1)
    weights = w
    for _ in range(dims - 1):
        weights = np.multiply.outer(weights, w)
    return np.exp(sigma * mesh - sigma**2 / 2), weights.reshape(-1)


def allocation_delta(choices, rounds, noise, epsilon):
    """The delta of rounds blocks of so many steps, the larger of both directions: E (L - e^eps)+, E (1 - e^eps L)+
    under Q."""
    sigma, dims = 1 / noise, choices * rounds - 1
    if dims == 0:
        base, share, weights = np.zeros(1), np.ones(1), np.ones(1)
    else:
        w, weights = grid(dims, sigma, {1: 20000, 2: 1500}[dims])
        last = w[choices * (rounds - 1) :].sum(0)  # of the block of the innermost integral
        others = np.prod([w[r * choices : (r + 1) * choices].mean(0) for r in range(rounds - 1)], axis=0)
        base, share = others * last / choices, others / choices  # L = base + share W
    results = []
    for strike in (math.exp(epsilon), math.exp(-epsilon)):
        left = strike - base
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.where(left > 0, np.log(np.maximum(left, 1e-300) / share), -np.inf)
        call = np.where(left > 0, option(share, sigma, at), share - left)
        if strike < 1:  # (1 - e^eps L)+ = e^eps (K - L)+, and calls less puts are E L - K = base + share - K
            put = np.where(left > 0, np.maximum(call - share + left, 0), 0)
            results.append(math.exp(epsilon) * float(weights @ put))
        else:
            results.append(float(weights @ call))
    return max(results)


def exact_epsilon(delta_of, delta, near):
    """The epsilon of a decreasing delta(epsilon), from one near it: log delta is nearly a line there."""
    step = 1e-3 * near
    here, there = math.log(delta_of(near) / delta), math.log(delta_of(near - step) / delta)
    return near - step * here / (here - there)


class Cases:
    def __init__(self, options):
        self.options, self.random = options, random.Random(options.seed)

    def log(self, low, high):
        return math.exp(self.random.uniform(math.log(low), math.log(high)))

    def mafalda(self, sampling, noise, delta, *flags):
        command = [self.options.mafalda, "epsilon", "--sampling", sampling, "--noise-multiplier", str(noise), "--delta", str(delta),
                   *flags, "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        return json.loads(done.stdout)["epsilon"] if done.returncode == 0 else None

    def poisson(self, adjacency="zero-out"):
        from dp_accounting.pld import privacy_loss_distribution as pld

        q, s, n = self.log(2e-3, 1), self.log(0.6, 8), int(self.log(1, 1000))
        delta = 10 ** self.random.uniform(-8, -3)
        own = self.mafalda(f"poisson:probability={q},rounds={n}", s, delta, "--adjacency", adjacency)
        if own is None or not 0.01 < own < 60:
            return None
        neighbours = (pld.NeighborRel.REPLACE_ONE if adjacency == "replace-one" else pld.NeighborRel.ADD_OR_REMOVE_ONE)
        interval = max(1e-5, own / 6e3)

        def theirs(upper):
            return pld.from_gaussian_mechanism(s, sampling_prob=q, neighboring_relation=neighbours, use_connect_dots=upper,
                                               pessimistic_estimate=upper, value_discretization_interval=interval
                                               ).self_compose(n).get_epsilon_for_delta(delta)

        return f"q={q:.3g} s={s:.3g} n={n} delta={delta:.1g}", own, theirs(False), theirs(True)

    def replace(self):
        return self.poisson("replace-one")

    def truncated(self):
        from dp_accounting.pld import privacy_loss_distribution as pld

        records = self.random.choice([100, 1000, 10000])
        q, s, n = min(max(self.log(2e-3, 1), 5 / records), 0.5), self.log(0.6, 8), int(self.log(1, 1000))
        delta = 10 ** self.random.uniform(-8, -3)
        largest = int(records * q + self.random.uniform(5, 8) * math.sqrt(records * q * (1 - q))) + 1
        own = self.mafalda(f"truncated:probability={q},rounds={n},records={records},max={largest}", s, delta)
        if own is None or not 0.01 < own < 60:
            return None
        theirs = pld.from_truncated_subsampled_gaussian_mechanism(
            records, q, largest, s, value_discretization_interval=max(1e-5, own / 6e3), use_connect_dots=True
        ).self_compose(n).get_epsilon_for_delta(delta)
        return f"q={q:.3g} s={s:.3g} n={n} delta={delta:.1g} B={largest} of {records}", own, None, theirs

    def allocation(self, shapes=((1, 1), (1, 3), (2, 1), (3, 1))):
        choices, rounds = self.random.choice(shapes)
        s, delta = self.log(0.4, 4), 10 ** self.random.uniform(-8, -2)
        own = self.mafalda(f"allocation:choices={choices},rounds={rounds}", s, delta)
        if own is None or not 0.01 < own < 60:
            return None
        if choices == 1:  # one Gaussian mechanism of sqrt(rounds) times the mean
            choices, s, name = 1, s / math.sqrt(rounds), f"{rounds} rounds of one step"
        else:
            name = f"a round of {choices} steps"
        exact = exact_epsilon(lambda e: allocation_delta(choices, 1, s, e), delta, own)
        return f"{name}, s={s:.3g} delta={delta:.1g}", own, exact * (1 - INTEGRAL), exact

    def bins(self):
        return self.allocation(((2, 1), (3, 1)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scheme", choices=["poisson", "replace", "truncated", "allocation", "bins"])
    parser.add_argument("--mafalda", default="mafalda")
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=31)
    options = parser.parse_args()
    cases, above, below = Cases(options), [], 0
    while len(above) < options.cases:
        case = getattr(cases, options.scheme)()
        if case is None:
            continue
        name, own, lower, upper = case
        above.append(own / upper - 1)
        below += lower is not None and own < lower
        print(f"{name}: epsilon {own:.7g}, theirs {'' if lower is None else f'{lower:.7g} to '}{upper:.7g}, above {above[-1]:.2e}",
              flush=True)
    print(f"{options.scheme}: {len(above)} cases, {below} below; above their upper bound by {min(above):.2e} to {max(above):.2e}, "
          f"median {statistics.median(above):.2e}")


if __name__ == "__main__":
    main()
