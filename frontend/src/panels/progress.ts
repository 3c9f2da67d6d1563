/** How far one is: what is known, how sure the rest is, and, where that can be estimated, how much of it is right. */

import { count, h, percent, plural, svg } from "../dom";
import type { Explorer } from "../explorer";
import { knowledge, nounOf } from "./overview";

const GOAL = 10; // labels that a visitor is invited to give
const WIDTH = 380;
const HEIGHT = 58;

export class ProgressCard {
  readonly element = h("section", { class: "progress", "aria-label": "How far you are" });

  constructor(private readonly explorer: Explorer) {
    explorer.listen((changed) => {
      if (explorer.state.tab === "label" && ["tab", "labels", "theme", "mine"].some((key) => changed.has(key as "tab"))) this.update();
    });
    this.update();
  }

  private update(): void {
    const { explorer } = this;
    if (explorer.state.tab !== "label") return;
    const { labelling } = explorer;
    const parts: (HTMLElement | null)[] = [];
    const score = labelling.score();
    const noun = nounOf(explorer);
    if (score) parts.push(h("h2", {}, `Label ten ${noun}. How far do you get?`));
    else if (!labelling.answers.labelled && labelling.loaded === 1) parts.push(h("h2", {}, `Label a few ${noun}, and heat labels the rest`));
    if (labelling.answers.labelled) parts.push(h("p", { class: score ? "hint" : "known" }, knowledge(explorer)));
    else parts.push(h("p", { class: "hint" }, labelling.classes.length
      ? `Take the one suggested, or click any node. Each answer spreads along the edges at once.`
      : `First name the classes, below. Then take the one suggested, or click any node.`));
    if (score) parts.splice(1, score.labels ? 0 : 1, ...this.scored(score.labels, score.right, score.others));
    if (!labelling.kept) parts.push(h("p", { class: "wrong", role: "alert" }, "This browser keeps nothing for this file: save the labels before you close it."));
    this.element.replaceChildren(...parts.filter((part): part is HTMLElement => part !== null));
  }

  /** A score against the actual classes, beside what anybody would get. */
  private scored(labels: number, right: number, others: number): HTMLElement[] {
    const { explorer } = this;
    const { own } = explorer;
    const noun = nounOf(explorer);
    if (!labels) {
      return [h("p", { class: "hint" }, `You decide which ${noun} are worth a label; press l to look one's class up. ` +
        `Your score is how many of the others heat then gets right.`)];
    }
    const counts = new Map<number, number>();
    for (const code of own.labels) if (code >= 0) counts.set(code, (counts.get(code) ?? 0) + 1);
    const guess = Math.max(...counts.values()) / [...counts.values()].reduce((a, b) => a + b, 0);
    const { run } = own.header;
    const trained = own.split.filter((code) => code === 1).length;
    const lines: HTMLElement[] = [h("p", { class: "score" },
      h("b", {}, percent(right / Math.max(1, others))), ` of the other ${count(others)} ${noun} are right`,
      labels < GOAL ? `, with ${plural(labels, "label")}: ${GOAL - labels} to go.` : `, with ${plural(labels, "label")}.`)];
    lines.push(this.curve(guess, run?.test_accuracy ?? null));
    if (run && run.test_accuracy !== null) {
      lines.push(h("p", { class: "hint" }, `The largest class alone would be ${percent(guess, 0)}; recipe ${run.recipe}, ` +
        `which also reads the features, gets ${percent(run.test_accuracy)} from ${count(trained)} labels.`));
    }
    return lines;
  }

  private curve(guess: number, run: number | null): HTMLElement {
    const points = [...this.explorer.labelling.course.entries()].sort((a, b) => a[0] - b[0]);
    const most = Math.max(GOAL, ...points.map(([labels]) => labels));
    const x = (labels: number): number => 26 + (labels / most) * (WIDTH - 34);
    const y = (share: number): number => 6 + (1 - share) * (HEIGHT - 22);
    const line = (share: number, className: string): SVGElement =>
      svg("line", { x1: x(0), x2: x(most), y1: y(share), y2: y(share), class: className });
    const text = (at: number, down: number, word: string, anchor: string): SVGElement =>
      svg("text", { x: at, y: down, "text-anchor": anchor, class: "tick" }, word);
    const path = points.map(([labels, share]) => `${x(labels).toFixed(1)} ${y(share).toFixed(1)}`).join("L");
    return h("figure", { class: "course" }, svg("svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Share that is right, by labels: ${points.map(([labels, share]) => `${labels}: ${percent(share, 0)}`).join(", ")}` },
      svg("line", { x1: x(0), x2: x(0), y1: y(0), y2: y(1), class: "axis" }),
      svg("line", { x1: x(0), x2: x(most), y1: y(0), y2: y(0), class: "axis" }),
      line(guess, "mark-line"), run === null ? null : line(run, "mark-line"),
      text(x(0) - 4, y(1) + 8, "1", "end"), text(x(0) - 4, y(0), "0", "end"),
      text(x(most), HEIGHT - 3, plural(most, "label"), "end"), text(x(0), HEIGHT - 3, "0", "start"),
      svg("path", { class: "curve curve-heat", d: points.length > 1 ? `M${path}` : "" }),
      ...points.map(([labels, share]) => svg("circle", { cx: x(labels), cy: y(share), r: 3, class: "mark" }))));
  }
}
