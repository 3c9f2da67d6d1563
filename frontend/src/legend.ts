/** What the colours mean; a class's entry is also a filter. */

import { SPLIT_NAMES, rightColour, rightness, splitColour } from "./colours";
import { count, h, swatch, weightText, words } from "./dom";
import type { Explorer } from "./explorer";

export class Legend {
  readonly element = h("div", { class: "legend" });

  constructor(private readonly explorer: Explorer) {
    explorer.listen(() => this.update());
    this.update();
  }

  private update(): void {
    this.element.replaceChildren(...this.entries());
  }

  private entries(): Node[] {
    const { explorer } = this;
    const { scene, theme, state } = explorer;
    switch (state.mode) {
      case "predicted":
        return this.classes(scene.predicted!);
      case "label":
        return this.classes(scene.labels);
      case "confidence":
        return [this.ramp(scene.confidenceName, theme.confidence, (1 / Math.max(1, scene.classes.length)).toFixed(2), "1")];
      case "split": {
        const codes = Array.from(scene.split);
        return SPLIT_NAMES.map((name, split) => [name, split, codes.filter((code) => code === split).length] as const)
          .filter(([, , nodes]) => nodes)
          .map(([name, split, nodes]) => this.plain(splitColour(split, theme), name, nodes));
      }
      case "right": {
        const totals = new Map<number, number>();
        for (let i = 0; i < scene.n; i++) totals.set(rightness(scene, i), (totals.get(rightness(scene, i)) ?? 0) + 1);
        return ([[1, "correct"], [0, "misclassified"], [-1, "unlabelled"]] as const)
          .filter(([value]) => totals.has(value))
          .map(([value, name]) => this.plain(rightColour(value, theme), name, totals.get(value)!));
      }
      case "heat":
        if (!explorer.heatShown) return [h("span", { class: "hint" }, "Choose a node: it becomes the source of heat.")];
        return [
          this.ramp("heat", theme.heat, weightText(Math.max(state.eps, 1e-8)), weightText(explorer.heatTop)),
          ...(scene.classes.length ? this.classes(scene.predicted ?? scene.labels) : []),
        ];
      case "plain":
        return scene.classes.length ? this.classes(scene.labels) : [];
    }
  }

  private plain(colour: string, name: string, nodes: number): HTMLElement {
    return h("span", { class: "entry" }, swatch(colour), name, h("span", { class: "amount" }, count(nodes)));
  }

  private classes(codes: Int16Array): Node[] {
    const { explorer } = this;
    const { scene, theme, state } = explorer;
    const totals = new Array<number>(scene.classes.length).fill(0);
    let unlabelled = 0;
    for (const code of codes) {
      if (code >= 0) totals[code]++;
      else unlabelled++;
    }
    const order = totals.map((_, k) => k);
    if (order.length > 12) order.sort((a, b) => totals[b] - totals[a] || a - b);
    const entries: Node[] = order.slice(0, 12).map((code) => {
      const pressed = state.filter?.kind === "class" && state.filter.code === code;
      return h("button", {
        type: "button", class: "entry", "aria-pressed": String(pressed),
        title: pressed ? "Show all classes" : "Show only this class",
        click: () => explorer.set({ filter: pressed ? null : { kind: "class", code } }),
      }, swatch(explorer.classColours.of(code, theme)), words(scene.classes[code]), h("span", { class: "amount" }, count(totals[code])));
    });
    if (order.length > 12) entries.push(h("span", { class: "entry" }, swatch(theme.other), `${order.length - 12} more classes`));
    if (unlabelled) entries.push(this.plain(theme.other, scene.labelled && codes === scene.predicted ? "not reached yet" : "unlabelled", unlabelled));
    return entries;
  }

  private ramp(name: string, scale: string[], low: string, high: string): HTMLElement {
    const strip = h("span", { class: "ramp", "aria-hidden": "true" });
    strip.style.backgroundImage = `linear-gradient(to right, ${scale.join(", ")})`;
    return h("span", { class: "entry ramp-entry" }, name, h("span", { class: "amount" }, low), strip, h("span", { class: "amount" }, high));
  }
}
