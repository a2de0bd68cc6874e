"""The estimate of how fast gradients change: never above what is known, near it, and said to be no guarantee."""

import math

import pytest

import mafalda

torch = pytest.importorskip("torch")


def squared(output, target):
    return (output.reshape(-1) - target.reshape(-1)).square().sum()


def regression(records=6, features=3, seed=0):
    torch.manual_seed(seed)
    model = torch.nn.Linear(features, 1).double()
    x, y = torch.randn(records, features).double(), torch.randn(records).double()
    rows = torch.cat([x, torch.ones(records, 1)], dim=1).double()
    return model, x, y, float(torch.linalg.eigvalsh(2 * rows.T @ rows)[-1])


def test_linear_regression_has_the_known_constant():
    model, x, y, beta = regression()
    before = [p.detach().clone() for p in model.parameters()]
    found = mafalda.estimate_smoothness(model, squared, [(x, y)])
    assert 0.99 * beta < found.beta <= beta * (1 + 1e-9)
    assert all(torch.equal(p, b) for p, b in zip(model.parameters(), before))
    assert found.records == 6 and found.batches == 1 and math.isinf(found.clip)
    assert found.x(0.1, divisor=6) == pytest.approx(0.1 * found.beta / 6)
    assert "no guarantee" in str(found)


@pytest.mark.parametrize("clip", [0.1, 1.0, 10.0])
def test_clipping_one_output_never_changes_gradients_faster(clip):
    model, x, y, _ = regression(seed=1)
    beta = float(2 * (x.square().sum(dim=1) + 1).sum())  # of package smoothness: 2 (|x|² + 1) a record
    found = mafalda.estimate_smoothness(model, squared, [(x, y), (x[:2], y[:2])], clip=clip, radius=0.1)
    assert found.beta <= beta and found.batches == 2 and found.records == 6


def test_randomness_of_the_model_is_no_change():
    torch.manual_seed(0)
    state = torch.random.get_rng_state()
    model = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Linear(3, 2))
    batch = (torch.randn(4, 3), torch.tensor([0, 1, 0, 1]))
    after = torch.random.get_rng_state()
    found = mafalda.estimate_smoothness(model, torch.nn.functional.cross_entropy, [batch])
    assert found.beta < 4 * 0.5 * float((4 * batch[0].square().sum(dim=1) + 1).max())
    assert torch.equal(torch.random.get_rng_state(), after) and not torch.equal(state, after)
    again = mafalda.estimate_smoothness(model, torch.nn.functional.cross_entropy, [batch])
    assert again == found


def test_wrong_arguments():
    model, x, y, _ = regression()
    with pytest.raises(ValueError, match="no batches"):
        mafalda.estimate_smoothness(model, squared, [])
    for wrong in ({"clip": 0}, {"radius": math.inf}, {"radius": math.nan}, {"starts": 0}, {"iterations": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            mafalda.estimate_smoothness(model, squared, [(x, y)], **wrong)
    with pytest.raises(ValueError, match="record in each row"):
        mafalda.estimate_smoothness(model, squared, [(x, y[:2])])
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    with pytest.raises(ValueError, match="no parameters"):
        mafalda.estimate_smoothness(model, squared, [(x, y)])
    found = mafalda.SmoothnessEstimate(1.0, 1, 1, 0.1, math.inf)
    with pytest.raises(ValueError, match="rate"):
        found.x(0.0)
