/** The panel of nodes: the confusion matrix as a filter, and whom to label next. */

import { count, h, percent, plural, words } from "../dom";
import type { Explorer } from "../explorer";
import { SPLIT_NAMES } from "../colours";
import { classChip, nodeButton, titleOf } from "./parts";

const ROWS = 40;
const MOST_CLASSES = 24;
const TRAINING = 1;

export class NodesPanel {
  readonly element = h("div", {});
  private role: number; // −1: every labelled node
  private rows = ROWS;

  constructor(private readonly explorer: Explorer) {
    const { roles, labels } = explorer.scene;
    this.role = -1;
    const { filter } = explorer.state;
    if (filter?.kind === "cell") this.role = filter.role;
    else for (const role of [2, 3]) if (roles.some((r, i) => r === role && labels[i] >= 0)) this.role = role;
    explorer.listen((changed) => {
      if (changed.has("filter")) this.rows = ROWS;
      if (explorer.state.tab === "nodes" && ["tab", "filter", "theme", "mode", "node"].some((key) => changed.has(key as "tab"))) this.update();
    });
    this.update();
  }

  private update(): void {
    if (this.explorer.state.tab !== "nodes") return;
    const { scene } = this.explorer;
    const labelled = scene.predicted !== null && scene.labels.some((code) => code >= 0);
    this.element.replaceChildren(labelled ? this.confusion() : h("div", {}), this.list());
  }

  private counts(): { cells: Uint32Array; total: number; right: number } {
    const { scene } = this.explorer;
    const c = scene.classes.length;
    const cells = new Uint32Array(c * c);
    let [total, right] = [0, 0];
    for (let i = 0; i < scene.n; i++) {
      if (scene.labels[i] < 0 || (this.role >= 0 && scene.roles[i] !== this.role)) continue;
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
    const roles = [-1, 1, 2, 3].filter((role) => role < 0 || scene.roles.some((r) => r === role));
    const choose = h("div", { class: "segments", role: "group", "aria-label": "Nodes to count" },
      ...roles.map((role) => h("button", { type: "button", "aria-pressed": String(role === this.role),
        click: () => {
          this.role = role;
          const { filter } = explorer.state;
          if (filter?.kind === "cell") explorer.set({ filter: { ...filter, role } });
          this.update();
        } }, role < 0 ? "all" : SPLIT_NAMES[role])));
    const press = (truth: number, guess: number): void => {
      const { filter } = explorer.state;
      const same = filter?.kind === "cell" && filter.truth === truth && filter.guess === guess && filter.role === this.role;
      explorer.set({ filter: same ? null : { kind: "cell", truth, guess, role: this.role }, node: null });
    };
    return h("section", {},
      h("div", { class: "list-head" }, h("h3", {}, "Labels against predictions"), choose),
      h("p", { class: "hint" }, `${count(right)} of ${plural(total, "node")} right` +
        (total ? ` (${percent(right / total)})` : "") + ". Click a cell to see its nodes."),
      c > MOST_CLASSES ? this.pairs(cells, press) : this.matrix(cells, press));
  }

  private matrix(cells: Uint32Array, press: (truth: number, guess: number) => void): HTMLElement {
    const { explorer } = this;
    const { scene } = explorer;
    const c = scene.classes.length;
    const { filter } = explorer.state;
    const rowSum = (truth: number): number => cells.subarray(truth * c, truth * c + c).reduce((a, b) => a + b, 0);
    return h("div", { class: "matrix-box" }, h("table", { class: "matrix" },
      h("caption", { class: "for-readers" }, "Rows: labels. Columns: predictions."),
      h("thead", {}, h("tr", {}, h("td", { class: "corner" }, "label ↓ predicted →"),
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

  private list(): HTMLElement {
    const { explorer } = this;
    const { scene } = explorer;
    const { filter } = explorer.state;
    const nodes: number[] = [];
    for (let i = 0; i < scene.n; i++) {
      if (filter ? explorer.matches(filter, i) : !scene.predicted || scene.roles[i] !== TRAINING) nodes.push(i);
    }
    const degree = (i: number): number => scene.adjacency.starts[i + 1] - scene.adjacency.starts[i];
    const { confidence } = scene;
    nodes.sort(confidence ? (a, b) => confidence[a] - confidence[b] || a - b : (a, b) => degree(b) - degree(a) || a - b);
    const heading = filter ? "Nodes of the filter" : confidence ? "Least confident first" : "Most edges first";
    const shown = nodes.slice(0, this.rows);
    return h("section", {},
      h("div", { class: "list-head" }, h("h3", { id: "nodes-heading" }, heading), h("span", { class: "hint" }, plural(nodes.length, "node"))),
      !filter && confidence ? h("p", { class: "hint" }, "Candidates to label next: what the network is least sure of.") : null,
      h("table", { class: "list", "aria-labelledby": "nodes-heading" },
        h("thead", {}, h("tr", {},
          h("th", { scope: "col" }, "node"),
          scene.classes.length ? h("th", { scope: "col" }, scene.predicted ? "predicted" : "class") : null,
          scene.predicted ? h("th", { scope: "col" }, "label") : null,
          h("th", { scope: "col", class: "number" }, confidence ? "confidence" : "edges"))),
        h("tbody", {}, ...shown.map((node) => {
          const title = titleOf(explorer, node);
          return h("tr", {},
            h("th", { scope: "row" }, nodeButton(explorer, node), title ? words(title, "subtitle") : null),
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
