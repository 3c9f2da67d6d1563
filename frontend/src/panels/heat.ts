/** The panel of heat: whom it reaches, by weight and by hops. */

import { bar, count, h, plural, weightText, words } from "../dom";
import type { Explorer } from "../explorer";
import { Neighbourhood, orderName } from "../neighbourhood";
import type { Controls } from "./controls";
import { FilterChart, RingChart } from "./charts";
import { overview } from "./overview";
import { classChip, nodeButton, nodeCard, otherName } from "./parts";

const ROWS = 25;
const MOST_RINGS = 8;

export class HeatPanel {
  readonly element: HTMLElement;
  private readonly head = h("div", {});
  private readonly stats = h("dl", { class: "stats" });
  private readonly story = h("p", { class: "story" });
  private readonly ballBox: HTMLElement;
  private readonly ballText = h("p", { class: "hint" });
  private readonly rings = h("div", {});
  private readonly list = h("div", {});
  private readonly first: HTMLElement;
  private readonly ringChart: HTMLElement;
  private readonly idea = h("div", { class: "idea" },
    h("p", {}, "Heat flows from a node along the edges for a time s; the nodes that receive at least eps of it are its neighbours."),
    h("p", {}, "Heat is a low-pass filter: it keeps what is smooth over the graph (small λ) and damps the rest."),
    h("p", {}, "The larger s, the fewer frequencies pass, and the farther a neighbourhood reaches."),
    h("p", {}, "GCN and ChebyNet are not low-pass: they let the highest frequencies through again."));
  private readonly found: HTMLElement;
  private readonly controls: HTMLElement;
  private rows = ROWS;

  constructor(
    private readonly explorer: Explorer,
    controls: Controls,
    exportCsv: () => void,
  ) {
    this.ballBox = h("div", { class: "segments", role: "group", "aria-label": "Outline a hop neighbourhood" },
      ...[0, 1, 2, 3].map((ball) =>
        h("button", { type: "button", "data-ball": ball, click: () => explorer.set({ ball }) },
          ball ? `${ball} hop${ball > 1 ? "s" : ""}` : "none")));
    this.ringChart = new RingChart(explorer).element;
    this.first = h("div", {}, this.stats, this.story);
    this.found = h(
      "div",
      {},
      h("div", { class: "outline-row" }, h("span", {}, "Outline in the graph:"), this.ballBox),
      this.ballText,
      this.rings,
      h("div", { class: "list-head" },
        h("h3", { id: "neighbours-heading" }, "Neighbours by weight"),
        h("button", { type: "button", class: "small", click: exportCsv }, "Save CSV")),
      this.list,
    );
    this.controls = controls.element;
    this.element = h("div", {}, this.head, this.controls, this.first, this.ringChart, this.found,
      h("details", { class: "more" }, h("summary", {}, "More: heat as a filter"),
        h("div", { class: "charts" }, this.idea, new FilterChart(explorer).element)));
    explorer.listen((changed) => {
      if (changed.has("node")) this.rows = ROWS;
      if (explorer.state.tab === "heat") this.update();
    });
    this.update();
  }

  private update(): void {
    const { explorer } = this;
    const { near } = explorer;
    for (const part of [this.found, this.first, this.ringChart, this.controls]) part.hidden = near === null;
    if (near === null) {
      this.head.replaceChildren(overview(explorer));
      return;
    }
    this.head.replaceChildren(nodeCard(explorer, near.index));
    const stat = (name: string, value: string, hint: string): HTMLElement =>
      h("div", { title: hint }, h("dt", {}, name), h("dd", {}, value));
    this.stats.replaceChildren(
      stat("neighbours", count(near.neighbours.length), "nodes that receive at least eps of the heat"),
      stat("range", plural(near.range, "hop"), "distance of the farthest neighbour (the paper's Table 3)"),
      stat("maximum range", plural(near.maxRange, "hop"), "distance of the farthest node that has a path (Table 3)"),
      stat("stays", weightText(near.selfWeight), "self weight: the heat that is still at the source"),
    );
    this.story.replaceChildren(...this.comparison(near));
    this.story.classList.toggle("found", near.case !== null);
    this.showBall(near);
    this.rings.replaceChildren(this.ringTable(near));
    this.list.replaceChildren(this.table(near), this.more(near));
  }

  /** The paper's case in a sentence. */
  private comparison(near: Neighbourhood): (string | HTMLElement)[] {
    const { explorer } = this;
    if (!near.neighbours.length) return ["No other node receives eps of the heat; lower eps or raise s."];
    if (!near.case) return ["Here every first-order neighbour weighs more than any farther node."];
    const { near: close, far, farHop, overtaking } = near.case;
    const weight = (node: number): HTMLElement => h("b", {}, weightText(near.heat[node]));
    return [
      `The ${orderName(farHop)}-order neighbour `, nodeButton(explorer, far), " weighs ", weight(far),
      ", more than the first-order neighbour ", nodeButton(explorer, close), " with ", weight(close), ".",
      overtaking > 1 ? ` ${count(overtaking)} farther nodes do.` : "",
    ];
  }

  private showBall(near: Neighbourhood): void {
    const { ball } = this.explorer.state;
    for (const button of this.ballBox.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.ball) === ball));
    }
    this.ballText.hidden = ball === 0;
    let [inside, missed] = [0, 0];
    near.rings.slice(1, ball + 1).forEach((ring) => {
      inside += ring.nodes;
      missed += ring.nodes - ring.reached;
    });
    const beyond = near.neighbours.length - (inside - missed);
    this.ballText.textContent =
      `${plural(inside, "node")} within ${plural(ball, "hop")}; heat leaves out ${count(missed)} of them ` +
      `and reaches ${count(beyond)} beyond.`;
  }

  private ringTable(near: Neighbourhood): HTMLElement {
    const rings = near.rings.slice(0, Math.max(4, Math.min(near.range + 1, MOST_RINGS + 1)));
    return h(
      "table",
      { class: "rings-table" },
      h("caption", {}, "Heat by distance"),
      h("thead", {}, h("tr", {}, ...["hops", "nodes", "reached", "heat"].map((name) => h("th", { scope: "col" }, name)), h("td", {}))),
      h("tbody", {}, ...rings.map((ring) =>
        h("tr", {},
          h("th", { scope: "row" }, ring.hop === 0 ? "itself" : String(ring.hop)),
          h("td", { class: "number" }, count(ring.nodes)),
          h("td", { class: "number" }, count(ring.reached)),
          h("td", { class: "number" }, weightText(ring.heat)),
          h("td", { class: "bar-cell" }, bar(ring.reached / ring.nodes, this.explorer.theme.accent)),
        ))),
    );
  }

  private table(near: Neighbourhood): HTMLElement {
    const { explorer } = this;
    const { scene } = explorer;
    const labelled = scene.classes.length > 0;
    const top = near.neighbours.length ? near.heat[near.neighbours[0]] : 1;
    const shown = near.neighbours.subarray(0, this.rows);
    const codes = scene.predicted ?? scene.labels;
    const marked = near.case ? new Set([near.case.far, near.case.near]) : new Set<number>();
    return h(
      "table",
      { class: "list", "aria-labelledby": "neighbours-heading" },
      h("thead", {}, h("tr", {},
        h("th", { scope: "col" }, "node"),
        h("th", { scope: "col" }, "hops"),
        labelled ? h("th", { scope: "col" }, scene.predicted ? "predicted" : "class") : null,
        h("th", { scope: "col", class: "number" }, "weight"),
        h("td", {}))),
      h("tbody", {}, ...Array.from(shown, (node) => {
        const other = otherName(explorer, node);
        return h("tr", { class: marked.has(node) ? "marked" : null },
          h("th", { scope: "row" }, nodeButton(explorer, node), other ? words(other, "subtitle") : null),
          h("td", { class: "number" }, String(near.hops[node])),
          labelled ? h("td", {}, classChip(explorer, codes[node])) : null,
          h("td", { class: "number" }, weightText(near.heat[node])),
          h("td", { class: "bar-cell" }, bar(near.heat[node] / top, explorer.heatColour(near.heat[node]))));
      })),
    );
  }

  private more(near: Neighbourhood): HTMLElement {
    const left = near.neighbours.length - this.rows;
    if (left <= 0) return h("p", { class: "hint" }, "");
    return h("button", { type: "button", class: "small", click: () => {
      this.rows += 100;
      this.update();
    } }, `Show more (${count(left)} left)`);
  }
}
