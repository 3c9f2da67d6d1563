"""The page's data are declared once: what is packed is held against it, and so is the page."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from graphheat.datasets import block_model
from graphheat.explorer.data import page_data
from graphheat.explorer.part import choose_part
from graphheat.explorer.schema import ARRAYS, BLOCKS, check

ROOT = Path(__file__).parents[2]
GRAPH = block_model(30, 3, labels_per_class=2, seed=0)
PART = choose_part(GRAPH, 3.0)


@pytest.fixture
def data():
    places = np.full((30, 2), 0.5)
    return page_data(GRAPH, PART, places, run=None, title="x", s=3.0, eps=1e-4)


@pytest.fixture(scope="module")
def script():
    path = ROOT / "scripts" / "make_schema.py"
    spec = importlib.util.spec_from_file_location("make_schema", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_s_declarations_are_those_of_python(script):
    written = (ROOT / "frontend" / "src" / "schema.ts").read_text(encoding="utf-8")
    assert written == script.typescript(), "run scripts/make_schema.py, then `make frontend`"


def test_every_block_has_a_name_and_a_type_of_its_own():
    assert len({block.name for block in BLOCKS}) == len(BLOCKS)
    assert {block.type for block in BLOCKS} <= ARRAYS.keys()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h, b: h.pop("edges"), "header lacks 'edges'"),
        (lambda h, b: h.update(colour="red"), "has no 'colour'"),
        (lambda h, b: h.update(title=3), "'title' of the page's header must be"),
        (lambda h, b: h.update(s=float("nan")), "'s' of the page's header must be"),
        (lambda h, b: h.update(run={"recipe": "paper"}), "run lacks 'seed'"),
        (lambda h, b: b.pop("labels"), "lack the block 'labels'"),
        (lambda h, b: b.update(z=b["x"]), "no block 'z'"),
        (lambda h, b: b.update(x=b["x"].astype(np.uint8)), "'x' must be uint16"),
        (lambda h, b: b.update(x=b["x"][1:]), r"of shape \(30,\); it is uint16 of shape \(29,\)"),
        (lambda h, b: b.update(why_nodes=b["x"]), "belongs to a run; there is none"),
    ],
)
def test_what_is_not_as_declared_is_refused(data, change, message):
    header, blocks = data
    check(header, blocks)
    change(header, blocks)
    with pytest.raises(ValueError, match=message):
        check(header, blocks)
