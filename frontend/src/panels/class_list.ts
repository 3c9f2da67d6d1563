/** The classes: named, renamed, and how many labels and nodes each has. */

import { count, h, swatch, words } from "../dom";
import type { Explorer } from "../explorer";

export class ClassList {
  readonly element: HTMLElement;
  private readonly list = h("ol", { class: "class-list" });
  private readonly input: HTMLInputElement;
  private readonly trouble = h("p", { class: "wrong", role: "alert", hidden: true });
  private renaming = -1;

  constructor(private readonly explorer: Explorer) {
    this.input = h("input", {
      type: "text", id: "new-class", autocomplete: "off", maxlength: 2000, placeholder: "e.g. coffee, tea, water",
      keydown: (event: KeyboardEvent) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        this.add();
      },
    });
    this.element = h("section", { class: "classes" },
      h("h3", { id: "classes-heading" }, "Classes"),
      this.list,
      h("label", { for: "new-class" }, "Name a class, or several with commas between them"),
      h("div", { class: "steps" }, this.input, h("button", { type: "button", class: "small", click: () => this.add() }, "Add")),
      this.trouble);
    explorer.listen((changed) => {
      if (explorer.state.tab === "label" && ["tab", "labels", "theme", "mine"].some((key) => changed.has(key as "tab"))) this.update();
    });
    this.update();
  }

  private add(): void {
    const wrong = this.explorer.labelling.addClasses(this.input.value);
    this.say(wrong);
    if (wrong) return;
    this.input.value = "";
    document.querySelector<HTMLElement>(".answer")?.focus(); // the keys 1 to 9 answer from here on
  }

  private say(wrong: string | null): void {
    this.trouble.hidden = wrong === null;
    this.trouble.textContent = wrong ?? "";
  }

  private update(): void {
    const { explorer } = this;
    const { scene, labelling } = explorer;
    const labels = new Array<number>(labelling.classes.length).fill(0);
    for (const code of scene.labels) if (code >= 0 && code < labels.length) labels[code]++;
    this.list.replaceChildren(...labelling.classes.map((name, code) => h("li", {},
      swatch(explorer.classColours.of(code, explorer.theme)),
      this.renaming === code ? this.editor(code, name) : words(scene.classes[code] ?? name),
      h("span", { class: "amount" }, count(labels[code])),
      this.renaming === code ? null : h("button", {
        type: "button", class: "plain rename", "aria-label": `Rename ${name}`, title: "Rename",
        click: () => {
          this.renaming = code;
          this.update();
          this.list.querySelector("input")?.select();
        },
      }, "✎"))));
  }

  private editor(code: number, name: string): HTMLElement {
    const end = (text: string | null): void => {
      if (this.renaming < 0) return;
      this.renaming = -1;
      this.say(text === null ? null : this.explorer.labelling.rename(code, text));
      this.update();
    };
    const input: HTMLInputElement = h("input", {
      type: "text", value: name, "aria-label": `New name of ${name}`,
      keydown: (event: KeyboardEvent) => {
        if (event.key === "Enter") end(input.value);
        else if (event.key === "Escape") {
          event.stopPropagation();
          end(null);
        }
      },
      blur: () => end(input.value),
    });
    return input;
  }
}
