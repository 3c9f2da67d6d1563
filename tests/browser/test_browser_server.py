"""The page of `graphheat label`: tabs that follow one another, and models that take over."""

import threading
from contextlib import contextmanager

import numpy as np
import pytest
from helpers.label_client import serving
from helpers.polling import until

from graphheat.datasets import block_model
from graphheat.explorer import page_text
from graphheat.graph import Graph
from graphheat.labeling import session as session_module
from graphheat.labeling.trainer import Trained

KNOWN = block_model(60, 2, homophily=0.9, features=6, seed=0)
BLANK = Graph.from_scipy(KNOWN.adjacency, KNOWN.features, name="blocks")
CLASSES = ("tea", "coffee")
WAIT = 60_000  # milliseconds; a busy machine draws slowly


@contextmanager
def opened(browser, client, tabs=1):
    """Open the served page in some tabs of one browser; what they log or throw fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    context.set_default_timeout(WAIT)
    trouble = []
    pages = []
    for _ in range(tabs):
        page = context.new_page()
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.goto(client.address)
        page.wait_for_selector("html[data-ready]")
        until(page, "graphheat.labelling.classes.length === 2")
        pages.append(page)
    yield pages
    context.close()
    assert not trouble


def give(page, node):
    page.evaluate(f"graphheat.labelling.give({node}, 'label', {int(KNOWN.labels[node])})")


@pytest.fixture(scope="module")
def served_page():
    pytest.importorskip("starlette")
    return page_text(BLANK, server=True)


def test_a_label_given_in_one_tab_appears_in_the_other(browser, served_page, tmp_path):
    answer = "graphheat.labelling.answers.of({})?.code"
    with (
        serving(BLANK, tmp_path / "labels.sqlite", page=served_page, classes=CLASSES) as (
            client, session,
        ),
        opened(browser, client, tabs=2) as (one, other),
    ):  # fmt: skip
        until(one, "graphheat.explorer.asked !== null")
        asked = one.evaluate("graphheat.explorer.asked")
        one.locator("body").press("1")
        until(other, f"{answer.format(asked)} === 0")
        until(other, "document.querySelector('.progress').innerText.includes('1 known')")
        assert session.answers.count == 1
        elsewhere = (asked + 7) % BLANK.n
        give(other, elsewhere)
        code = int(KNOWN.labels[elsewhere])
        until(one, f"{answer.format(elsewhere)} === {code}")
        until(one, f"graphheat.scene.predicted[{elsewhere}] === {code}")
        one.locator("body").press("z")  # this tab's answer, whatever the other answered since
        until(other, f"{answer.format(asked)} === undefined")
        assert other.evaluate(answer.format(elsewhere)) == code
        other.evaluate("graphheat.labelling.addClasses('water')")
        until(one, "graphheat.labelling.classes.join() === 'tea,coffee,water'")
        one.reload()
        one.wait_for_selector("html[data-ready]")
        until(one, f"{answer.format(elsewhere)} === {code}")
    assert session.answers.count == 1


class SlowNetworks:
    """Stands for the process that trains: ends when ``done`` is set, sure of the first class."""

    done = threading.Event()

    def __init__(self, graph, **options):
        self.n = graph.n

    def train(self, codes, classes):
        assert self.done.wait(60)
        probabilities = np.tile(np.array([0.9, 0.1], dtype=np.float32), (self.n, 1))
        return Trained(probabilities, loss=0.25, linear_loss=0.5)

    def close(self):
        self.done.set()


def test_the_default_takes_over_when_it_is_better_and_the_page_says_so(
    browser, served_page, tmp_path, monkeypatch
):
    monkeypatch.setattr(session_module, "Trainer", SlowNetworks)
    monkeypatch.setattr(session_module, "QUIET", 0.05)
    SlowNetworks.done.clear()
    path = tmp_path / "labels.sqlite"
    with (
        serving(BLANK, path, page=served_page, classes=CLASSES, networks=True) as (client, _),
        opened(browser, client) as (page,),
    ):
        card = page.locator(".server")
        for code in (0, 1):
            for node in np.flatnonzero(KNOWN.labels == code)[:3].tolist():
                give(page, node)
        card.get_by_text("The linear model predicts; a better one is being trained").wait_for()
        until(page, "graphheat.scene.predicted?.includes(1)")
        SlowNetworks.done.set()
        card.get_by_text("The default model (auto) predicts").wait_for()
        card.get_by_text("Networks took over: asked of the 6 labels with each left out").wait_for()
        # A person's word stands; of the others the new model speaks.
        until(page, "graphheat.scene.predicted.filter((code) => code === 1).length === 3")
        SlowNetworks.done.clear()
        give(page, int(np.flatnonzero(KNOWN.labels == 1)[5]))
        card.get_by_text("The linear model predicts").wait_for()  # it answers first
        SlowNetworks.done.set()
        card.get_by_text("Networks took over: asked of the 7 labels").wait_for()
        assert page.evaluate("graphheat.labelling.answers.labelled") == 7


def test_the_way_ends_with_a_run_and_a_table(browser, served_page, tmp_path):
    written = []

    def write(graph):
        written.append(int((graph.labels >= 0).sum()))
        return {"run": "runs/<b>x</b>", "table": "runs/x/labels.csv"}

    with (
        serving(
            BLANK, tmp_path / "labels.sqlite", page=served_page, classes=CLASSES, write=write
        ) as (client, _),
        opened(browser, client) as (page,),
    ):
        finish = page.get_by_role("button", name="Write the run and the table")
        finish.click()
        page.get_by_text("A run needs labels of two classes").wait_for()
        for node in (int(np.flatnonzero(KNOWN.labels == code)[0]) for code in (0, 1)):
            give(page, node)
        until(page, "graphheat.labelling.answers.labelled === 2")
        finish.click()
        page.get_by_text("Written: the run in runs/<b>x</b>").wait_for()
        assert written == [2]
        assert page.locator("main b", has_text="x").count() == 0


def test_an_answer_waits_for_the_token_of_a_server_that_was_started_anew(
    browser, served_page, tmp_path
):
    with (
        serving(BLANK, tmp_path / "labels.sqlite", page=served_page, classes=CLASSES) as (
            client, session,
        ),
        opened(browser, client) as (page,),
    ):  # fmt: skip
        sentence = "Open the address that the terminal shows, with its token."
        page.route("**/label", lambda route: route.fulfill(status=401, json={"error": sentence}))
        give(page, 3)
        page.get_by_text(sentence).wait_for()
        page.get_by_text("1 answer waits to be sent; keep this tab open.").wait_for()
        assert session.answers.count == 0
        page.unroute("**/label")  # the new token came with another tab
        until(page, "graphheat.labelling.answers.labelled === 1")
        page.get_by_text(sentence).wait_for(state="detached")
        assert session.answers.of == {3: (int(KNOWN.labels[3]), "label")}
