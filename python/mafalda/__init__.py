"""Optimal noise correlations for private decentralized learning: plan, account, train. numpy is enough; torch and opacus are optional.

    plan = mafalda.optimize(networkx_graph, steps=380, epsilon=8, delta=1e-6)   # the program does the mathematics
    plan.loss, plan.lower_bound, plan.C, plan.W, plan.baselines
    mafalda.account(plan, attackers="all"); plan.verify(); plan.report("out.html")

And what a node does with an export: batches, clipping, noise and gossip.

    import mafalda

    plan = mafalda.load("out")                                            # checked: hashes, names, the inverse, the noise level
    sampler = plan.sampler(len(records), node="Medici", state="batches")  # batches that keep the promise
    noise = plan.noise("Medici", dim, state="noise")                      # real rows, from `mafalda noise serve`
    for step, batch in sampler.items(noise.next):
        message = (clipped_sum(batch) + noise.row(step)) / sampler.expected
        ...
        model = plan.mix(model, received)                                 # W

With torch, plan.make_private does clipping, noise and the division: see mafalda.torch. docs/nodes.md is the contract in
one page: what a node must do, must not do, and what happens if it does.
"""

from . import keys
from ._commands import (
    account,
    advise,
    audit,
    average,
    benchmark,
    epsilon,
    graph,
    optimize,
    partpsp,
    plot,
    report,
    sampling,
    simulate,
    smoothness,
    spent,
    verify,
)
from ._curvature import estimate_curvature
from .errors import (
    BudgetError,
    ExportError,
    MafaldaError,
    ParticipationError,
    PeersError,
    ProcessError,
    ProgramError,
    ServerError,
    StepError,
)
from ._estimated import SmoothnessEstimate, estimate_smoothness
from ._export import Level, Pair
from ._ledger import Ledger
from ._mix import flat, set_flat
from ._noise import Noise, Place
from ._plan import Plan, Spent, load
from ._results import Result
from ._sampler import Sampler
from ._served import noise_at

__version__ = "0.1.0"

__all__ = [
    "BudgetError",
    "ExportError",
    "Ledger",
    "Level",
    "MafaldaError",
    "Noise",
    "Pair",
    "ParticipationError",
    "PeersError",
    "Place",
    "Plan",
    "ProcessError",
    "ProgramError",
    "Result",
    "Sampler",
    "ServerError",
    "SmoothnessEstimate",
    "Spent",
    "StepError",
    "account",
    "advise",
    "audit",
    "average",
    "benchmark",
    "epsilon",
    "estimate_curvature",
    "estimate_smoothness",
    "flat",
    "graph",
    "keys",
    "load",
    "noise_at",
    "optimize",
    "partpsp",
    "plot",
    "report",
    "sampling",
    "set_flat",
    "simulate",
    "smoothness",
    "spent",
    "verify",
]
