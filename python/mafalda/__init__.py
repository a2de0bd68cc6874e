"""What a node does with an export of mafalda: batches, clipping, noise and gossip. numpy is enough; torch and opacus are optional.

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
from .errors import ExportError, MafaldaError, ParticipationError, ProcessError, ServerError, StepError
from .export import Pair
from .ledger import Ledger
from .mix import flat, set_flat
from .noise import Noise, Place
from .plan import Plan, load
from .sampler import Sampler
from .served import noise_at
from .smoothness import SmoothnessEstimate, estimate_smoothness

__version__ = "0.1.0"

__all__ = [
    "ExportError",
    "Ledger",
    "MafaldaError",
    "Noise",
    "Pair",
    "ParticipationError",
    "Place",
    "Plan",
    "ProcessError",
    "Sampler",
    "ServerError",
    "SmoothnessEstimate",
    "StepError",
    "estimate_smoothness",
    "flat",
    "keys",
    "load",
    "noise_at",
    "set_flat",
]
