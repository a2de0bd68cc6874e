"""The bound for ε from one run beside jax_privacy's, on the scores of centralized runs: what docs/auditing.md says was
measured.

    pip install jax-privacy
    MAFALDA=… python audited_centrally.py                        # prefix workload; C = I, banded and dense; three seeds each

jax_privacy's auditor (CanaryScoreAuditor.epsilon_one_run_fdp) gets the same scores three times: with mafalda's guesses
(the canaries of the highest scores in, those of the lowest out), its thresholds and its share of the confidence; with
one-sided guesses at these thresholds; and as it is by itself. ε is at least (T = 160, ε = 8, 1,000 canaries; jax_privacy 2.0.0)

    strategy          seed   audit      jax_privacy, the same guesses   one-sided, the same thresholds   by itself
    C = I             0      4.891235   4.891235                        4.265                            3.988
                      1      3.646966   3.646966                        3.114                            2.839
                      2      3.545583   3.545582                        3.318                            2.934
    banded, 8 bands   0      3.099305   3.099305                        2.965                            2.936
                      1      1.939475   1.939475                        1.473                            1.407
                      2      2.160430   2.160430                        1.985                            1.958
    dense             0      3.099305   3.099305                        2.965                            2.610
                      1      2.055078   2.055078                        1.384                            1.350
                      2      2.623226   2.623226                        2.078                            1.771
"""

from __future__ import annotations

import argparse
import os
import tempfile

import numpy as np
from audited_seeds import audit, trained
from jax_privacy.auditing import CanaryScoreAuditor, Explicit

import mafalda

CLASSES = {"identity": {"strategy": "banded:bandwidth=1"}, "banded": {"strategy": "banded:bandwidth=8"}, "dense": {}}
SHARES = (1, 2, 4, 8, 16)  # mafalda guesses so many parts of the coins, the surest ones


def bounds(scores, coins, delta, alpha):
    """jax_privacy's bounds for the same scores: with mafalda's guesses, one-sided at its thresholds, and by itself."""
    count, each = len(scores), alpha / len(SHARES)
    rank = np.argsort(np.argsort(scores, kind="stable"), kind="stable")
    sure = np.maximum(rank - count // 2 + 1, count - count // 2 - rank)  # how far a guess is from the middle, from 1 on
    right = (rank >= count // 2) == coins
    guesses = CanaryScoreAuditor(sure[right], sure[~right])  # a right guess is one of a canary that is in
    same = [Explicit(count // 2 - count // share // 2 + 0.5) for share in SHARES]
    plain = CanaryScoreAuditor(scores[coins], scores[~coins])
    high = [Explicit(np.sort(scores)[count - count // share // 2]) for share in SHARES]
    return (
        max(guesses.epsilon_one_run_fdp(each, delta, threshold_strategy=at) for at in same),
        max(plain.epsilon_one_run_fdp(each, delta, threshold_strategy=at) for at in high),
        plain.epsilon_one_run_fdp(alpha, delta),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--parameters", type=int, default=20_000)
    parser.add_argument("--canaries", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=160)
    options = parser.parse_args()
    privacy = {"k": options.steps // 8, "epsilon": 8, "delta": 1e-5, "no_baselines": True}
    farthest = 0.0
    for name, strategy in CLASSES.items():
        with tempfile.TemporaryDirectory() as work:
            out = os.path.join(work, "plan")
            plan = mafalda.optimize(workload="prefix", steps=options.steps, **privacy, out=out, **strategy)
            for seed in range(options.seeds):
                with tempfile.TemporaryDirectory() as folder:
                    run = trained(plan, folder, "honest", seed, options.parameters, options.canaries, node="")
                    found = audit(plan, *run)
                scores, coins = np.array(found.scores), np.array(found.coins)
                same, one_sided, alone = bounds(scores, coins, found.delta, 1 - found.confidence)
                farthest = max(farthest, abs(same - found.lower_epsilon))
                print(
                    f"{name:8} seed {seed}  mu {found.mu:.3f} ± {found.mu_error:.3f}, claimed {found.claimed_mu:.3f}  epsilon ≥ "
                    f"{found.lower_epsilon:.6f}; jax_privacy: same guesses {same:.6f}, one-sided {one_sided:.3f}, by itself {alone:.3f}",
                    flush=True,
                )
    print(f"the same guesses: at most {farthest:.1g} apart", flush=True)


if __name__ == "__main__":
    main()
