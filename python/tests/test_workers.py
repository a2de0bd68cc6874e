"""Workers of a DataLoader have no noise."""

import pytest
from conftest import program_of

import mafalda

torch = pytest.importorskip("torch")


class Noisy(torch.utils.data.Dataset):
    """Records that have noise added where they are loaded: in a worker, which is a fork."""

    def __init__(self, noise):
        self.noise = noise

    def __len__(self):
        return 8

    def __getitem__(self, i):
        return torch.from_numpy(self.noise.row())


@pytest.mark.parametrize("way", ["simulated", "fake"])
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_worker_draws_no_noise(out, tmp_path, way, start):
    plan = mafalda.load(out)
    options = {"seed": 1} if way == "simulated" else {"state": tmp_path / "state", "binary": program_of(way, tmp_path)}
    with plan.noise("a", 50, **options) as noise:
        first = noise.row(0)
        with pytest.raises(mafalda.ProcessError):
            list(torch.utils.data.DataLoader(Noisy(noise), batch_size=2, num_workers=2, multiprocessing_context=start))
        assert noise.next == 1 and (noise.row(0) == first).all()


@pytest.mark.parametrize("way", ["simulated", "fake"])
def test_noise_goes_on_beside_workers(out, tmp_path, way):
    """Workers that load records, and end, leave the noise of their parent alone."""
    plan = mafalda.load(out)
    options = {"seed": 1} if way == "simulated" else {"state": tmp_path / "state", "binary": program_of(way, tmp_path)}
    with plan.noise("a", 50, **options) as noise:
        rows = []
        for _ in torch.utils.data.DataLoader(torch.arange(24), batch_size=2, num_workers=2):
            rows.append(noise.row().tobytes())
        assert noise.next == 12 and len(set(rows)) == 12
