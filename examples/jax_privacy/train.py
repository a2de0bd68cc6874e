"""jax_privacy with the correlations of a plan: its clipping, its privatizer and its noise, our C, σ and ε.

    pip install ./python jax_privacy     # from the repository
    python train.py

The privatizer's key is a number here, for a simulation. One that is left out has 31 bits of a generator that is no secret:
real noise comes from plan.noise(node, dim, state="FILE"), whose row t goes to the sum in the place of update.
"""

import jax
import numpy as np
from jax_privacy import noise_addition
from jax_privacy.clipping import clipped_grad

import mafalda

RATE, FEATURES = 0.5, 6


def loss(model, x, y):
    return ((x @ model - y) ** 2).mean()


def privatizer_of(plan, key):
    """Their privatizer with our C and σ: its step without a gradient, and its first state."""
    found = noise_addition.matrix_factorization_privatizer(plan.inverse(), stddev=plan.noise_std, prng_key=key)
    return jax.jit(found.update), found.init(None)


def rows_are_those_of_the_plan(plan, key=3):
    """Whether their noise is C⁻¹Z times noise_std, by definition: Z is what jax draws for each step."""
    update, state = privatizer_of(plan, key)
    rows = []
    for _ in range(plan.steps):
        row, state = update(np.zeros(1000, np.float32), state)
        rows.append(row)
    leaf = jax.random.split(jax.random.key(key), 1)[0]
    z = np.array([jax.random.normal(jax.random.fold_in(leaf, t), 1000) for t in range(plan.steps)])
    return np.allclose(rows, plan.noise_std * plan.inverse() @ z, atol=1e-4 * plan.noise_std)


def main():
    plan = mafalda.optimize("cycle:4", steps=24, k=6, epsilon=8, delta=1e-5, no_baselines=True)
    print("rows are C⁻¹Z:", rows_are_those_of_the_plan(plan))
    draw, truth = np.random.default_rng(0), np.arange(FEATURES, dtype=np.float32) / FEATURES
    x = draw.normal(size=(len(plan.nodes), 2000, FEATURES)).astype(np.float32)
    gradients = jax.jit(jax.vmap(clipped_grad(loss, l2_clip_norm=plan.clip, batch_argnums=(1, 2))))
    models, sampler = np.zeros((len(plan.nodes), FEATURES), np.float32), plan.sampler(2000, node=plan.nodes[0])
    update, state = privatizer_of(plan, key=1)  # all nodes at once: their rows are independent, and of one C
    for step in range(plan.steps):
        batch = x[:, sampler.batch(step)]  # in the order of the plan: shuffled batches break its guarantee
        noisy, state = update(gradients(models, batch, batch @ truth), state)
        models = plan.mix_all(models - RATE * np.asarray(noisy) / sampler.expected)
    print(f"distance from the truth: {np.linalg.norm(models.mean(axis=0) - truth):.3f} of {np.linalg.norm(truth):.3f}")
    print(f"ε = {plan.epsilon():.4g} for the whole run; their accountants take it as {plan.mu:.4g}-GDP, one Gaussian mechanism")


if __name__ == "__main__":
    main()
