"""The file of a linear run."""

import numpy as np
from helpers.linear import linear_run
from helpers.same_run import assert_same_run

from graphheat.datasets import block_model
from graphheat.linear import LinearRun

GRAPH = block_model(300, 3, seed=0)


def test_save_and_load_keep_the_grid_too(tmp_path):
    run = linear_run(GRAPH, threads=1)
    assert len(run.search) > 0
    run.save(tmp_path / "run.safetensors")
    back = LinearRun.load(tmp_path / "run.safetensors")
    assert_same_run(back, run)
    assert back.search.frame().equals(run.search.frame())
    np.testing.assert_allclose(back.probabilities_on(GRAPH), run.probabilities, atol=1e-9)
