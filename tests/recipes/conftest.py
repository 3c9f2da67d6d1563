"""The toy recipe is there for the tests of this folder, and for them alone."""

import pytest
from toy_recipe import TOY

from graphheat import recipes


@pytest.fixture(scope="module")
def toy():
    recipes.register(TOY)
    yield TOY
    recipes.unregister("toy")
