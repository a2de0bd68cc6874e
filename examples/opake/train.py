"""Opake with the correlations of a plan: its clipping, its noise function and its generators, our C, σ and ε.

    pip install ./python 'opake[dpftrl]' && python train.py     # from the repository; Opake needs torch 2.9

Opake's keys have 64 bits, and the one here is a number, for a simulation. Real noise comes from plan.noise(node, dim, state="FILE").
"""
import opake.random
import torch
from opake.api.dpftrl.noise._streaming_matrix import StreamingMatrix
from opake.dpftrl.clipping import clipped_grad
from opake.dpftrl.noise import mf_gaussian_noise
from opake.types import ClippedPytree

import mafalda


class PlanStrategy:
    """The C of a plan as a strategy of Opake: its sensitivity, and a stream of rows of C⁻¹Z."""

    def __init__(self, plan):
        self.inverse, self._sensitivity = plan.inverse().tolist(), plan.manifest["sens_squared"] ** 0.5

    def sensitivity(self, **_):
        return self._sensitivity

    def streaming_matrix(self, **_):
        def row(z, earlier):
            earlier = [*earlier, z]
            return sum(weight * x for weight, x in zip(self.inverse[len(earlier) - 1], earlier)), earlier

        return StreamingMatrix.from_array_implementation(lambda like: [], row)


def noise_of(plan, like, key):
    multiplier = plan.noise_std / plan.clip  # of Z, where Opake's calibration would find one for its own C
    return mf_gaussian_noise(like, PlanStrategy(plan), n_steps=plan.steps, noise_multiplier=multiplier, key=opake.random.key(key))


def main():
    plan = mafalda.optimize(workload="prefix", steps=24, k=6, epsilon=8, delta=1e-5, no_baselines=True)
    nothing, rows, (noise, state) = torch.zeros(20_000), [], noise_of(plan, torch.zeros(20_000), key=3)
    for _ in range(plan.steps):
        row, state = noise(ClippedPytree(pytree=nothing, max_norm=plan.clip), state)
        rows.append(row.pytree)
    z = torch.from_numpy(plan.C / plan.noise_std).float() @ torch.stack(rows)
    assert (z @ z.T / 20_000 - torch.eye(plan.steps)).abs().max() < 0.06, "C·rows are not independent"  # 6 standard errors
    torch.manual_seed(0)
    x, model = torch.randn(2000, 6), torch.zeros(6)
    y, sampler = x @ torch.arange(6.0) / 6, plan.sampler(2000)
    gradient, clipping = clipped_grad(lambda m, a, b: ((a @ m - b) ** 2).mean(), clipping_norm=plan.clip, batch_argnums=(1, 2))
    noise, state = noise_of(plan, model, key=1)
    for step in range(plan.steps):
        batch = sampler.batch(step)  # in the order of the plan: Opake's Poisson samplers are another mechanism
        clipped, clipping = gradient(model, x[batch], y[batch], state=clipping)
        noisy, state = noise(clipped, state)
        model = model - 0.5 * noisy.pytree / sampler.expected
    print(f"loss {((x @ model - y) ** 2).mean():.4f}, ε = {plan.epsilon():.4g}: tell their accountants {plan.mu:.4g}-GDP, one Gaussian")


main()
