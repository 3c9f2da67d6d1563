"""A graph in a notebook: the page as a widget, and labels that arrive in Python (anywidget).

The page is shown in a frame of its own, which has no access to the notebook. Labels are given by
buttons above it, or by the page itself where it tells them; either way they are in ``labels``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphheat.errors import GraphHeatError, MissingDependencyError
from graphheat.explorer import page_text
from graphheat.graph import Graph
from graphheat.labeling.answers import Answers
from graphheat.labeling.journal import Entry, Kind
from graphheat.labeling.label_reach import Reach
from graphheat.labeling.suggestion import suggest

try:
    import anywidget
    import traitlets
except ModuleNotFoundError as error:
    raise MissingDependencyError(
        "The widgets of notebooks need anywidget: pip install 'graphheat[notebook]'."
    ) from error

SUGGESTED = 5
HEIGHT = 640  # pixels of the page
# Everything from outside is set as text; the page's own policy holds within its frame.
SCRIPT = """
function render({ model, el }) {
  const make = (tag, text) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const bar = make("div");
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Label a node");
  bar.style.cssText = "display:flex;flex-wrap:wrap;gap:.4em;align-items:center;padding:.4em 0";
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.title = "graph";
  frame.style.cssText = `width:100%;height:${model.get("height")}px;border:1px solid #8884`;
  frame.srcdoc = model.get("page");
  const order = [];
  const answer = (row) => {
    order.push(row[0]);
    model.set("answers", [...model.get("answers").filter((each) => each[0] !== row[0]), row]);
    model.save_changes();
  };
  const draw = () => {
    bar.replaceChildren();
    if (!model.get("labels_here")) return;
    const asked = model.get("asked");
    const count = model.get("answers").filter((each) => each[2] === "label").length;
    const head = make("span", asked.length ? asked[0].name : "No node is left to ask about.");
    head.style.fontWeight = "600";
    bar.append(head);
    if (asked.length) {
      bar.append(make("span", asked[0].why));
      model.get("classes").forEach((name, code) => {
        const button = make("button", name);
        button.onclick = () => answer([asked[0].index, code, "label"]);
        bar.append(button);
      });
      for (const kind of ["unsure", "skip"]) {
        const button = make("button", kind);
        button.onclick = () => answer([asked[0].index, null, kind]);
        bar.append(button);
      }
    }
    const undo = make("button", "undo");
    undo.disabled = !order.length;
    undo.onclick = () => {
      const last = order.pop();
      model.set("answers", model.get("answers").filter((each) => each[0] !== last));
      model.save_changes();
    };
    const name = document.createElement("input");
    name.placeholder = "new class";
    name.setAttribute("aria-label", "Name of a new class");
    name.maxLength = 200;
    name.onkeydown = (event) => {
      event.stopPropagation();
      const word = name.value.trim();
      if (event.key !== "Enter" || !word || model.get("classes").includes(word)) return;
      model.set("classes", [...model.get("classes"), word]);
      model.save_changes();
    };
    bar.append(undo, name, make("span", `${count} labelled`));
    if (model.get("error")) bar.append(make("span", model.get("error")));
  };
  const hear = (event) => {
    const posted = event.data;
    if (event.source !== frame.contentWindow || posted?.graphheat !== "labels") return;
    model.set("classes", posted.classes);
    model.set("answers", posted.labels);
    model.save_changes();
  };
  window.addEventListener("message", hear);
  for (const name of ["asked", "classes", "answers", "error"]) model.on(`change:${name}`, draw);
  draw();
  el.append(bar, frame);
  return () => window.removeEventListener("message", hear);
}
export default { render };
"""


class GraphWidget(anywidget.AnyWidget):
    """A graph on a page, in a notebook.

    Parameters
    ----------
    graph
        What is shown.
    labelling
        Whether it can be labelled.
    classes
        Names of classes to begin with, beside the graph's.
    height
        Of the page, in pixels.

    Attributes
    ----------
    answers
        [row number, class code or None, ``"label"``, ``"unsure"`` or ``"skip"``], of every node
        that was answered; what is malformed is not taken, and ``error`` says so.
    """

    _esm = SCRIPT
    page = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(HEIGHT).tag(sync=True)
    labels_here = traitlets.Bool(False).tag(sync=True)
    classes = traitlets.List(traitlets.Unicode()).tag(sync=True)
    answers: traitlets.List[Any] = traitlets.List().tag(sync=True)
    asked: traitlets.List[Any] = traitlets.List().tag(sync=True)
    error = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self,
        graph: Graph,
        *,
        labelling: bool = False,
        classes: Sequence[str] = (),
        height: int = HEIGHT,
    ) -> None:
        self._own = graph
        start = Answers(graph, classes)
        super().__init__(
            page=page_text(graph),
            height=height,
            labels_here=labelling,
            classes=start.names,
            answers=start.rows() if labelling else [],
        )
        self._reach = Reach(graph) if labelling else None
        self.observe(self._follow, names=["answers", "classes"])
        self._follow()

    @property
    def labels(self) -> dict[Any, str]:
        """Node id → class name, as they were given so far."""
        held = self._held()
        ids = self._own.nodes.tolist()
        return {
            ids[index]: str(held.classes[code])
            for index, (code, answer) in sorted(held.of.items())
            if answer == "label"
        }

    @property
    def graph(self) -> Graph:
        """The graph with the labels so far, all of which train."""
        return self._held().labelled()

    def _held(self) -> Answers:
        held = Answers(self._own)
        held.of.clear()
        for code, name in enumerate(self.classes):
            if code >= len(held.classes):
                held.take(held.check(Entry("", "class", text=name)))
            elif name != held.names[code]:
                held.take(held.check(Entry("", "rename", code=code, text=name)))
        for row in self.answers:
            held.take(held.check(_entry(row)))
        return held

    def _follow(self, _: Any = None) -> None:
        if not self.labels_here or self._reach is None:
            return
        try:
            held = self._held()
            passed = [self._own.nodes.tolist()[index] for index in held.of]
            found = suggest(held.labelled(), SUGGESTED, exclude=passed, reach=self._reach)
        except GraphHeatError as error:
            self.error = str(error)
            return
        self.error = ""
        self.asked = [
            {"index": each.index, "name": each.title or str(each.node), "why": each.why}
            for each in found
        ]


def _entry(row: Any) -> Entry:
    well = isinstance(row, list | tuple) and len(row) == 3 and row[2] in ("label", "unsure", "skip")
    if not well or isinstance(row[0], bool) or isinstance(row[1], bool):
        raise GraphHeatError(f"An answer must be [row, class, kind]; got {str(row)[:60]}.")
    kind: Kind = row[2]
    return Entry("", kind, node=row[0], code=row[1])
