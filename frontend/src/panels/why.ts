/** The panel of reasons: what a label rests on. */

import { bar, count, h, percent, plural, swatch, weightText, words } from "../dom";
import type { Explorer } from "../explorer";
import { FEATURES, HOPS, NO_SOURCE, SOURCES, SPLITS } from "../schema";
import type { Explanation } from "../server";
import { overview } from "./overview";
import { classChip, nodeButton, nodeCard } from "./parts";

const TRAINING = SPLITS.indexOf("train");
const MOST_CLASSES = 12;
const MOST_TRAINING = 8;

export class WhyPanel {
  readonly element = h("div", {});

  constructor(private readonly explorer: Explorer) {
    explorer.listen((changed) => {
      if (explorer.state.tab === "why" || changed.has("tab")) this.update();
    });
    this.update();
  }

  private update(): void {
    const { explorer } = this;
    const { node, tab } = explorer.state;
    if (tab !== "why") return;
    if (node === null) {
      this.element.replaceChildren(overview(explorer), explorer.scene.labelled ? "" : this.about());
      return;
    }
    if (explorer.scene.labelled) {
      const explanation = h("div", {}, ...this.ownLabels(node));
      this.element.replaceChildren(nodeCard(explorer, node), explanation, this.probabilities(node));
      // A model behind a server has reasons of its own; those of heat alone stand until they come.
      void explorer.labelling.explain?.(node).then((reasons) => {
        if (reasons && explorer.state.node === node) explanation.replaceChildren(...this.foreign(reasons));
      });
      return;
    }
    this.element.replaceChildren(
      nodeCard(explorer, node),
      this.verdict(node),
      this.probabilities(node),
      this.reasons(node) ?? h("p", { class: "hint" },
        `The page explains the ${count(explorer.scene.reasons?.nodes.length ?? 0)} least confident predictions. ` +
        "This one is not among them; here is the heat from the training nodes."),
      this.training(),
      this.about(),
    );
  }

  /** What the reader's own labels give a node: p ∝ (heat of each class)^γ, and which labels send it. */
  private ownLabels(node: number): HTMLElement[] {
    const { explorer } = this;
    const { scene, labelling, theme } = explorer;
    const guess = scene.predicted![node];
    if (scene.labels[node] >= 0) return [h("p", { class: "story" }, "You gave it this class.")];
    const sources = labelling.sources(node);
    const total = sources.reduce((sum, { heat }) => sum + heat, 0);
    const sure = percent(scene.confidence![node], 0);
    if (!(total > 0) || (labelling.spread && !labelling.spread.reached[node])) {
      return [h("p", { class: "story" }, "No heat of your labels comes here yet. A label near it would tell.")];
    }
    const of = sources.filter((each) => each.code === guess && each.heat > 0);
    const shown = sources.filter((each) => each.heat >= 1e-3 * total).slice(0, MOST_TRAINING);
    return [
      h("p", { class: "story" }, "Predicted ", classChip(explorer, guess), ", ", h("b", {}, `${sure} sure`), ": ",
        percent(of.reduce((sum, { heat }) => sum + heat, 0) / total, 0), " of the heat that reaches it comes from ",
        of.length > 1 ? `${plural(of.length, "label")} of that class, most from ` : "", of.length ? nodeButton(explorer, of[0].node) : "others", "."),
      h("table", { class: "list" },
        h("caption", {}, `Your labels whose heat reaches it (s = ${labelling.spread!.s})`),
        h("thead", { class: "for-readers" }, h("tr", {}, ...["label", "class", "share of the heat", "bar"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...shown.map(({ node: source, code, heat }) => h("tr", {},
          h("th", { scope: "row" }, nodeButton(explorer, source)),
          h("td", {}, classChip(explorer, code)),
          h("td", { class: "number" }, percent(heat / total, 0)),
          h("td", { class: "bar-cell wide" }, bar(heat / total, explorer.classColours.of(code, theme))))))),
    ];
  }

  private foreign({ sentences, sources, features }: Explanation): HTMLElement[] {
    const { explorer } = this;
    const most = Math.max(1e-9, ...[...sources, ...features].map(([, share]) => Math.abs(share)));
    const rows = (head: string, names: Node[], shares: number[]): HTMLElement | null => names.length
      ? h("table", { class: "list" }, h("caption", {}, head), h("tbody", {}, ...names.map((name, k) => h("tr", {},
          h("th", { scope: "row" }, name), h("td", { class: "number" }, signed(shares[k])),
          h("td", { class: "bar-cell wide" }, bar(Math.abs(shares[k]) / most, explorer.theme.accent))))))
      : null;
    const { n } = explorer.scene;
    const known = sources.filter(([source]) => source >= 0 && source < n).slice(0, MOST_TRAINING);
    return [
      h("div", { class: "story" }, ...sentences.map((sentence) => h("p", {}, words(sentence)))),
      rows("Nodes that gave most", known.map(([source]) => nodeButton(explorer, source)), known.map(([, share]) => share)),
      rows("Features that mattered", features.slice(0, FEATURES).map(([name]) => words(name)), features.map(([, share]) => share)),
    ].filter((part): part is HTMLElement => part !== null);
  }

  private verdict(node: number): HTMLElement {
    const { scene } = this.explorer;
    const c = scene.classes.length;
    const guess = scene.predicted![node];
    const raw = scene.probabilities![node * c + guess];
    const truth = scene.labels[node];
    return h(
      "p",
      { class: "story" },
      "Predicted ", classChip(this.explorer, guess), ` with ${scene.confidenceName} `,
      h("b", {}, percent(scene.confidence![node])),
      scene.header.run!.temperature === null ? "." : ` (${percent(raw)} before temperature scaling).`,
      truth < 0 ? null : h("span", { class: truth === guess ? "right" : "wrong" }, " Actual: ", words(scene.classes[truth]), "."),
    );
  }

  private probabilities(node: number): HTMLElement {
    const { explorer } = this;
    const { scene, theme } = explorer;
    const c = scene.classes.length;
    const order = scene.classes.map((_, k) => k);
    const p = (k: number): number => scene.calibrated![node * c + k];
    order.sort((a, b) => p(b) - p(a) || a - b);
    const inSet = (k: number): boolean => scene.sets !== null && scene.sets[node * c + k] === 1;
    const size = order.filter(inSet).length;
    const { run } = scene.header;
    const alpha = run?.alpha;
    return h(
      "div",
      {},
      h("table", { class: "list" },
        h("caption", {}, scene.labelled || !run || run.temperature === null ? "Probability per class" : "Calibrated probability per class"),
        h("thead", { class: "for-readers" }, h("tr", {},
          ...["class", "probability", "bar", "in the prediction set"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...order.slice(0, MOST_CLASSES).map((k) =>
          h("tr", { class: k === scene.labels[node] ? "marked" : null },
            h("th", { scope: "row" }, swatch(explorer.classColours.of(k, theme)), words(scene.classes[k]),
              k === scene.labels[node] ? h("span", { class: "tag" }, scene.labelled ? "your label" : "actual") : null),
            h("td", { class: "number" }, p(k).toFixed(3)),
            h("td", { class: "bar-cell wide" }, bar(p(k), explorer.classColours.of(k, theme))),
            h("td", {}, scene.sets === null ? "" : inSet(k) ? h("span", { class: "tag set" }, "in set") : ""),
          )))),
      scene.sets === null || alpha === undefined ? null : h("p", { class: "hint" },
        `Prediction set: ${plural(size, "class", "classes")}. Such sets contain the actual class of ` +
        `${percent(1 - alpha, 0)} of nodes like the validation nodes.`),
    );
  }

  /** Contributions of the sources to the logits of the two most probable classes. */
  private reasons(node: number): HTMLElement | null {
    const { explorer } = this;
    const { scene, theme } = explorer;
    const reasons = scene.reasons;
    const row = reasons?.row.get(node);
    if (!reasons || row === undefined) return null;
    const k = SOURCES;
    const [first, second] = [reasons.classes[2 * row], reasons.classes[2 * row + 1]];
    const given = (at: number, code: number): number => reasons.given[(row * k + at) * 2 + code];
    const places = Array.from({ length: k }, (_, at) => at).filter((at) => reasons.sources[row * k + at] !== NO_SOURCE);
    const rest = [reasons.rest[2 * row], reasons.rest[2 * row + 1]];
    const most = Math.max(1e-9, ...places.map((at) => Math.max(Math.abs(given(at, 0)), Math.abs(given(at, 1)))));
    const sum = [0, 1].map((code) => places.reduce((total, at) => total + given(at, code), rest[code]));
    const cell = (value: number, code: number): HTMLElement =>
      h("td", { class: "number signed" }, diverging(value / most, explorer.classColours.of(code, theme)),
        h("span", {}, signed(value)));
    const hops = explorer.near?.hops;
    return h(
      "div",
      {},
      h("table", { class: "list reasons" },
        h("caption", {}, (reasons.features ? "Contributions of the sources' features" : "Contributions of labelled nodes, by their heat,") +
          " to the logits of the two most probable classes"),
        h("thead", {}, h("tr", {},
          h("th", { scope: "col" }, "source"),
          h("th", { scope: "col" }, "hops"),
          h("th", { scope: "col", class: "number" }, words(scene.classes[first])),
          h("th", { scope: "col", class: "number" }, words(scene.classes[second])))),
        h("tbody", {}, ...places.map((at) => {
          const source = reasons.sources[row * k + at];
          return h("tr", {},
            h("th", { scope: "row" }, nodeButton(explorer, source),
              scene.split[source] === TRAINING ? this.trainingTag(source) : null),
            h("td", { class: "number" }, hops ? (hops[source] === 0 ? "itself" : String(hops[source])) : ""),
            cell(given(at, 0), first), cell(given(at, 1), second));
        })),
        h("tfoot", {},
          h("tr", {}, h("th", { scope: "row" }, "all other sources"), h("td", {}), cell(rest[0], first), cell(rest[1], second)),
          h("tr", { class: "sum" }, h("th", { scope: "row" }, "logit"), h("td", {}),
            h("td", { class: "number" }, signed(sum[0])), h("td", { class: "number" }, signed(sum[1]))))),
      this.features(row, first, second),
      this.byHop(row, first, second),
    );
  }

  /** The features that gave most to the two classes, over all sources. */
  private features(row: number, first: number, second: number): HTMLElement | null {
    const { explorer } = this;
    const { scene, theme } = explorer;
    const held = scene.reasons!.features;
    if (!held) return null;
    const places = Array.from({ length: FEATURES }, (_, at) => row * FEATURES + at).filter((at) => held.places[at] !== NO_SOURCE);
    if (!places.length) return null;
    const most = Math.max(1e-9, ...places.map((at) => Math.max(Math.abs(held.given[2 * at]), Math.abs(held.given[2 * at + 1]))));
    const cell = (value: number, code: number): HTMLElement =>
      h("td", { class: "number signed" }, diverging(value / most, explorer.classColours.of(code, theme)),
        h("span", {}, signed(value)));
    return h("table", { class: "list features" },
      h("caption", {}, "Features that mattered, over all sources"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "feature"),
        ...[first, second].map((code) => h("th", { scope: "col", class: "number" }, words(scene.classes[code]))))),
      h("tbody", {}, ...places.map((at) => h("tr", {},
        h("th", { scope: "row" }, words(scene.features[held.places[at]])),
        cell(held.given[2 * at], first), cell(held.given[2 * at + 1], second)))));
  }

  private trainingTag(source: number): HTMLElement {
    const { explorer } = this;
    const code = explorer.scene.labels[source];
    const name = explorer.scene.classes[code] ?? "";
    return h("span", { class: "tag", title: `training node, ${name}` },
      swatch(explorer.classColours.of(code, explorer.theme)), "training", h("span", { class: "for-readers" }, `, ${name}`));
  }

  private byHop(row: number, first: number, second: number): HTMLElement {
    const { explorer } = this;
    const reasons = explorer.scene.reasons!;
    const m = HOPS;
    const value = (code: number, hop: number): number => reasons.hops[(row * 2 + code) * m + hop];
    return h("table", { class: "list compact" },
      h("caption", {}, "Contributions by distance in hops"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "class"),
        ...Array.from({ length: m }, (_, hop) =>
          h("th", { scope: "col", class: "number" }, hop === 0 ? "itself" : hop === m - 1 ? `${hop}+` : `${hop}`)))),
      h("tbody", {}, ...[first, second].map((code, at) =>
        h("tr", {}, h("th", { scope: "row" }, swatch(explorer.classColours.of(code, explorer.theme)), words(explorer.scene.classes[code])),
          ...Array.from({ length: m }, (_, hop) => h("td", { class: "number" }, signed(value(at, hop), 2)))))));
  }

  /** Heat from the training nodes, by class: it is symmetric, so the source's own row tells. */
  private training(): HTMLElement {
    const { explorer } = this;
    const { scene, near, theme } = explorer;
    if (!near) return h("div", {});
    const byClass = new Float64Array(scene.classes.length);
    const nodes: number[] = [];
    for (let i = 0; i < scene.n; i++) {
      if (scene.split[i] !== TRAINING || i === near.index || scene.labels[i] < 0 || near.heat[i] <= 0) continue;
      byClass[scene.labels[i]] += near.heat[i];
      if (near.heat[i] >= near.eps) nodes.push(i);
    }
    nodes.sort((a, b) => near.heat[b] - near.heat[a] || a - b);
    const order = Array.from(byClass.keys()).sort((a, b) => byClass[b] - byClass[a] || a - b);
    const top = Math.max(byClass[order[0]] ?? 0, 1e-12);
    return h(
      "div",
      {},
      h("table", { class: "list" },
        h("caption", {}, `Heat from training nodes, by class (s = ${Number(near.s.toFixed(2))})`),
        h("tbody", {}, ...order.slice(0, MOST_CLASSES).map((code) =>
          h("tr", {},
            h("th", { scope: "row" }, swatch(explorer.classColours.of(code, theme)), words(scene.classes[code])),
            h("td", { class: "number" }, weightText(byClass[code])),
            h("td", { class: "bar-cell wide" }, bar(byClass[code] / top, explorer.classColours.of(code, theme))))))),
      nodes.length
        ? h("p", { class: "hint" }, "Nearest in heat: ", ...nodes.slice(0, MOST_TRAINING).flatMap((node, k) => [
            k ? ", " : "", nodeButton(explorer, node),
            ` (${weightText(near.heat[node])}, ${plural(near.hops[node], "hop")})`]), ".")
        : h("p", { class: "hint" }, "No training node gives it eps of heat or more: its own features decide."),
    );
  }

  private about(): HTMLElement {
    const run = this.explorer.scene.header.run!;
    const lines: string[] = [];
    lines.push(`Recipe ${run.recipe}, seed ${run.seed}, s = ${run.s}, eps = ${run.eps ?? "none"}` +
      (run.test_accuracy === null ? "" : `; test accuracy ${percent(run.test_accuracy)}`) + ".");
    if (run.temperature !== null && run.error_before !== undefined && run.error_after !== undefined) {
      lines.push(`Temperature ${run.temperature.toFixed(2)}; expected calibration error on the ${run.error_on} nodes ` +
        `${percent(run.error_before)} before, ${percent(run.error_after)} after.` +
        (run.coverage === undefined ? "" : ` Prediction sets contain the actual class of ${percent(run.coverage)} of the test nodes.`));
    } else lines.push("No validation labels: probabilities are not calibrated, and there are no prediction sets.");
    if (run.caution) lines.push(run.caution);
    return h("details", { class: "about" }, h("summary", {}, "About this run"), ...lines.map((line) => h("p", {}, line)));
  }
}

function signed(value: number, digits = 3): string {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
}

/** A bar from the middle: to the right for, to the left against. */
function diverging(share: number, colour: string): HTMLElement {
  const fill = h("span", { class: "fork-fill" });
  const width = Math.min(1, Math.abs(share)) * 50;
  fill.style.width = `${width}%`;
  fill.style.left = share < 0 ? `${50 - width}%` : "50%";
  fill.style.backgroundColor = colour;
  if (share < 0) fill.classList.add("against");
  return h("span", { class: "fork", "aria-hidden": "true" }, fill);
}
