/** The panel of nodes: the confusion matrix as a filter, and which nodes to label next. */

import { count, h, percent, plural, words } from "../dom";
import type { Explorer } from "../explorer";
import { SPLIT_NAMES } from "../colours";
import { SPLITS } from "../schema";
import { saveNodes } from "../save";
import { classChip, nodeButton, otherName } from "./parts";

const ROWS = 40;
const MOST_CLASSES = 24;
const MOST_SUSPECTS = 10;
const TRAINING = SPLITS.indexOf("train");

export class NodesPanel {
  readonly element = h("div", {});
  private split: number; // −1: every labelled node
  private rows = ROWS;

  constructor(private readonly explorer: Explorer) {
    const { split, labels } = explorer.scene;
    this.split = -1;
    const { filter } = explorer.state;
    if (filter?.kind === "cell") this.split = filter.split;
    else for (const name of ["validation", "test"] as const) {
      if (split.some((code, i) => SPLITS[code] === name && labels[i] >= 0)) this.split = SPLITS.indexOf(name);
    }
    explorer.listen((changed) => {
      if (changed.has("filter")) this.rows = ROWS;
      if (explorer.state.tab === "nodes" && ["tab", "filter", "theme", "mode", "node", "labels"].some((key) => changed.has(key as "tab"))) this.update();
    });
    this.update();
  }

  private update(): void {
    if (this.explorer.state.tab !== "nodes") return;
    const { scene } = this.explorer;
    // Of the reader's own labels nothing is known to hold predictions against.
    const labelled = scene.predicted !== null && !scene.labelled && scene.labels.some((code) => code >= 0);
    this.element.replaceChildren(labelled ? this.confusion() : h("div", {}), this.suspects() ?? h("div", {}), this.list());
  }

  private counts(): { cells: Uint32Array; total: number; right: number } {
    const { scene } = this.explorer;
    const c = scene.classes.length;
    const cells = new Uint32Array(c * c);
    let [total, right] = [0, 0];
    for (let i = 0; i < scene.n; i++) {
      if (scene.labels[i] < 0 || (this.split >= 0 && scene.split[i] !== this.split)) continue;
      cells[scene.labels[i] * c + scene.predicted![i]]++;
      total++;
      if (scene.labels[i] === scene.predicted![i]) right++;
    }
    return { cells, total, right };
  }

  private confusion(): HTMLElement {
    const { explorer } = this;
    const { scene } = explorer;
    const { cells, total, right } = this.counts();
    const c = scene.classes.length;
    const splits = [-1, 1, 2, 3].filter((split) => split < 0 || scene.split.includes(split));
    const choose = h("div", { class: "segments", role: "group", "aria-label": "Nodes to count" },
      ...splits.map((split) => h("button", { type: "button", "aria-pressed": String(split === this.split),
        click: () => {
          this.split = split;
          const { filter } = explorer.state;
          if (filter?.kind === "cell") explorer.set({ filter: { ...filter, split } });
          this.update();
        } }, split < 0 ? "all" : SPLIT_NAMES[split])));
    const press = (truth: number, guess: number): void => {
      const { filter } = explorer.state;
      const same = filter?.kind === "cell" && filter.truth === truth && filter.guess === guess && filter.split === this.split;
      explorer.set({ filter: same ? null : { kind: "cell", truth, guess, split: this.split }, node: null });
    };
    return h("section", {},
      h("div", { class: "list-head" }, h("h3", {}, "Confusion matrix"), choose),
      h("p", { class: "hint" }, (total ? `Accuracy ${percent(right / total)}: ` : "") + `${count(right)} of ${plural(total, "node")} correct. Click a cell to see its nodes.`),
      c > MOST_CLASSES ? this.pairs(cells, press) : this.matrix(cells, press));
  }

  private matrix(cells: Uint32Array, press: (truth: number, guess: number) => void): HTMLElement {
    const { explorer } = this;
    const { scene } = explorer;
    const c = scene.classes.length;
    const { filter } = explorer.state;
    const rowSum = (truth: number): number => cells.subarray(truth * c, truth * c + c).reduce((a, b) => a + b, 0);
    return h("div", { class: "matrix-box" }, h("table", { class: "matrix" },
      h("caption", { class: "for-readers" }, "Rows: actual classes. Columns: predicted classes."),
      h("thead", {}, h("tr", {}, h("td", { class: "corner" }, "actual ↓ predicted →"),
        ...scene.classes.map((name, guess) => h("th", { scope: "col", title: name },
          h("span", { class: "dot-label" }, coloured(explorer, guess), h("span", { class: "for-readers" }, name)))))),
      h("tbody", {}, ...scene.classes.map((name, truth) => {
        const sum = Math.max(1, rowSum(truth));
        return h("tr", {},
          h("th", { scope: "row", title: name }, coloured(explorer, truth), words(name)),
          ...scene.classes.map((guessed, guess) => {
            const value = cells[truth * c + guess];
            const share = value / sum;
            const pressed = filter?.kind === "cell" && filter.truth === truth && filter.guess === guess;
            const cell = h("button", {
              type: "button", disabled: value === 0, "aria-pressed": String(pressed),
              "aria-label": `${value} of ${name} predicted as ${guessed}`,
              click: () => press(truth, guess),
            }, value ? count(value) : "");
            const tint = truth === guess ? explorer.theme.classes[4] : explorer.theme.classes[5];
            if (value) cell.style.backgroundColor = `${tint}${Math.round(30 + 190 * Math.sqrt(share)).toString(16).padStart(2, "0")}`;
            cell.classList.toggle("strong", share > 0.3);
            return h("td", {}, cell);
          }));
      }))));
  }

  private pairs(cells: Uint32Array, press: (truth: number, guess: number) => void): HTMLElement {
    const { classes } = this.explorer.scene;
    const c = classes.length;
    const order = Array.from(cells.keys()).filter((k) => cells[k] && Math.floor(k / c) !== k % c);
    order.sort((a, b) => cells[b] - cells[a] || a - b);
    return h("ul", { class: "pairs" }, ...order.slice(0, 20).map((k) =>
      h("li", {}, h("button", { type: "button", class: "link", click: () => press(Math.floor(k / c), k % c) },
        words(classes[Math.floor(k / c)]), " predicted as ", words(classes[k % c])), ` ${count(cells[k])}`)));
  }

  /** Known labels that heat from the other labels contradicts. */
  private suspects(): HTMLElement | null {
    const { explorer } = this;
    const { suspects, labels } = explorer.scene;
    if (!suspects || explorer.state.filter) return null; // a filter asks for its nodes
    const wrong = suspects.odds.filter((odds) => odds > 0.5).length;
    const shown = Array.from(suspects.nodes.subarray(0, MOST_SUSPECTS));
    return h("section", { class: "suspects" }, h("details", { open: wrong > 0 },
      h("summary", { id: "suspects-heading" }, h("b", {}, `Labels that look wrong: ${count(wrong)}`)),
      h("p", { class: "hint" }, `Each training label is left out in turn and predicted from the others. They contradict ` +
        `${plural(suspects.nodes.length, "label")}; those above 50 % are more likely wrong than right.`),
      h("table", { class: "list", "aria-labelledby": "suspects-heading" },
        h("thead", {}, h("tr", {}, ...["node", "label", "suggested"].map((name) => h("th", { scope: "col" }, name)),
          h("th", { scope: "col", class: "number" }, "p wrong"))),
        h("tbody", {}, ...shown.map((node, at) => {
          const other = otherName(explorer, node);
          return h("tr", { class: suspects.odds[at] > 0.5 ? "marked" : null },
            h("th", { scope: "row" }, nodeButton(explorer, node), other ? words(other, "subtitle") : null),
            h("td", {}, classChip(explorer, labels[node])),
            h("td", {}, classChip(explorer, suspects.suggested[at])),
            h("td", { class: "number" }, percent(suspects.odds[at])));
        })))));
  }

  private list(): HTMLElement {
    const { explorer } = this;
    const { scene } = explorer;
    const { filter } = explorer.state;
    const nodes: number[] = [];
    for (let i = 0; i < scene.n; i++) {
      if (filter ? explorer.matches(filter, i) : !scene.predicted || scene.split[i] !== TRAINING) nodes.push(i);
    }
    const degree = (i: number): number => scene.adjacency.starts[i + 1] - scene.adjacency.starts[i];
    const { confidence } = scene;
    nodes.sort(confidence ? (a, b) => confidence[a] - confidence[b] || a - b : (a, b) => degree(b) - degree(a) || a - b);
    const heading = filter ? "Filtered nodes" : confidence ? "Least confident first" : "Highest degree first";
    const shown = nodes.slice(0, this.rows);
    return h("section", {},
      h("div", { class: "list-head" }, h("h3", { id: "nodes-heading" }, heading), h("span", { class: "hint" }, plural(nodes.length, "node")),
        h("button", { type: "button", class: "small", click: () => saveNodes(explorer, nodes) }, "Save CSV")),
      !filter && confidence ? h("p", { class: "hint" }, "Candidates to label next: the predictions of lowest confidence.") : null,
      h("table", { class: "list", "aria-labelledby": "nodes-heading" },
        h("thead", {}, h("tr", {},
          h("th", { scope: "col" }, "node"),
          scene.classes.length ? h("th", { scope: "col" }, scene.predicted ? "predicted" : "class") : null,
          scene.predicted ? h("th", { scope: "col" }, "actual") : null,
          h("th", { scope: "col", class: "number" }, confidence ? "confidence" : "degree"))),
        h("tbody", {}, ...shown.map((node) => {
          const other = otherName(explorer, node);
          return h("tr", {},
            h("th", { scope: "row" }, nodeButton(explorer, node), other ? words(other, "subtitle") : null),
            scene.classes.length ? h("td", {}, classChip(explorer, (scene.predicted ?? scene.labels)[node])) : null,
            scene.predicted ? h("td", {}, scene.labels[node] < 0 ? "" : classChip(explorer, scene.labels[node])) : null,
            h("td", { class: "number" }, confidence ? confidence[node].toFixed(3) : count(degree(node))));
        }))),
      nodes.length > this.rows ? h("button", { type: "button", class: "small", click: () => {
        this.rows += 100;
        this.update();
      } }, `Show more (${count(nodes.length - this.rows)} left)`) : null);
  }
}

function coloured(explorer: Explorer, code: number): HTMLElement {
  const dot = h("span", { class: "swatch", "aria-hidden": "true" });
  dot.style.backgroundColor = explorer.classColours.of(code, explorer.theme);
  return dot;
}
