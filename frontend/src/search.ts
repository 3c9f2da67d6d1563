/** Finding a node by its id or title, or a class by its name. */

import { h, words } from "./dom";
import type { Explorer } from "./explorer";
import { classChip, otherName } from "./panels/parts";

const MOST = 8;

export class Search {
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;
  private readonly results: HTMLElement;
  /** Nodes; a class is −1 − its code. */
  private found: number[] = [];
  private active = -1;
  private readonly ids: string[];
  private readonly titles: string[] | null;

  constructor(private readonly explorer: Explorer) {
    const { scene } = explorer;
    this.ids = scene.ids.map((id) => id.toLowerCase());
    this.titles = scene.titles?.map((title) => title.toLowerCase()) ?? null;
    this.input = h("input", {
      type: "search", id: "search", placeholder: scene.titles ? "Search id, title or class" : "Search id or class", autocomplete: "off",
      spellcheck: "false", role: "combobox", "aria-expanded": "false", "aria-controls": "results",
      "aria-autocomplete": "list", "aria-label": "Search a node by id or title, or a class by name",
      input: () => this.look(),
      keydown: (event: KeyboardEvent) => this.key(event),
      blur: () => window.setTimeout(() => this.close(), 150),
    });
    this.results = h("ul", { id: "results", role: "listbox", class: "results", hidden: true, "aria-label": "Nodes and classes found" });
    this.element = h("div", { class: "search" }, this.input, this.results);
  }

  private look(): void {
    const wanted = this.input.value.trim().toLowerCase();
    const ranked: [number, number][] = [];
    if (wanted) {
      for (let i = 0; i < this.ids.length; i++) {
        const rank = this.rank(i, wanted);
        if (rank < 9) ranked.push([rank, i]);
      }
      this.explorer.scene.classes.forEach((name, code) => {
        const at = name.toLowerCase().indexOf(wanted);
        // A class that begins so stands above the nodes that merely contain it.
        if (at >= 0) ranked.push([name.length === wanted.length ? 0.5 : at === 0 ? 1.5 : 3.5, -1 - code]);
      });
    }
    ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    this.found = ranked.slice(0, MOST).map(([, node]) => node);
    this.active = this.found.length ? 0 : -1;
    this.show(wanted !== "");
  }

  /** The smaller, the better; 9 = not at all. */
  private rank(node: number, wanted: string): number {
    const id = this.ids[node];
    const title = this.titles?.[node] ?? "";
    if (id === wanted) return 0;
    if (title === wanted) return 1;
    if (id.startsWith(wanted)) return 2;
    if (title.startsWith(wanted)) return 3;
    if (title.includes(wanted)) return 4;
    return id.includes(wanted) ? 5 : 9;
  }

  private show(asked: boolean): void {
    this.results.hidden = !asked;
    this.input.setAttribute("aria-expanded", String(asked));
    if (!this.found.length) {
      this.results.replaceChildren(h("li", { class: "none" }, "No node has this id or title, and no class this name."));
      this.input.removeAttribute("aria-activedescendant");
      return;
    }
    this.results.replaceChildren(...this.found.map((node, k) => {
      const other = node < 0 ? null : otherName(this.explorer, node);
      return h("li", {
        role: "option", id: `result-${k}`, "aria-selected": String(k === this.active),
        mousedown: (event: MouseEvent) => {
          event.preventDefault();
          this.choose(node);
        },
      }, node < 0 ? classChip(this.explorer, -1 - node) : words(this.explorer.nodeName(node)),
      node < 0 ? h("span", { class: "subtitle" }, "class") : null, other ? words(other, "subtitle") : null);
    }));
    this.input.setAttribute("aria-activedescendant", `result-${this.active}`);
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Enter") {
      event.preventDefault();
      if (this.active >= 0) this.choose(this.found[this.active]);
    } else if (event.key === "Escape") {
      event.stopPropagation();
      this.input.value = "";
      this.close();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && this.found.length) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : this.found.length - 1;
      this.active = (this.active + step) % this.found.length;
      this.show(true);
    }
  }

  private choose(node: number): void {
    this.input.value = "";
    this.close();
    if (node < 0) this.explorer.set({ filter: { kind: "class", code: -1 - node }, node: null });
    else this.explorer.select(node);
  }

  private close(): void {
    this.results.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
  }
}
