/** The panel in which a person labels: how far one is, the node that is asked for, and the classes. */

import { count, h, percent, plural, swatch, words } from "../dom";
import type { Changed, Explorer } from "../explorer";
import { LABELS_FILE, PREDICTIONS_FILE, saveLabels, savePredictions } from "../save";
import type { Server } from "../server";
import { ClassList } from "./class_list";
import { nounOf } from "./overview";
import { classChip, nodeButton, otherName } from "./parts";
import { ProgressCard } from "./progress";
import { ServerCard } from "./server_card";

const MOST_LINKS = 6;
const MOST_LISTED = 12;

export class LabelPanel {
  readonly element: HTMLElement;
  private readonly card = h("section", { class: "card asked", "aria-labelledby": "asked-heading" });
  private readonly list = h("section", {});
  private readonly undoButton: HTMLButtonElement;
  private readonly redoButton: HTMLButtonElement;
  /** Where the classes stand: first, as long as there is none, afterwards below. */
  private readonly start = h("div", {});
  private readonly end = h("div", {});
  private readonly classes: ClassList;
  private readonly saveButton: HTMLButtonElement;
  private readonly predictionsButton: HTMLButtonElement;
  private readonly saved = h("p", { class: "hint", role: "status" });
  private listed = MOST_LISTED;

  constructor(
    private readonly explorer: Explorer,
    server: Server | null,
  ) {
    const { labelling } = explorer;
    this.classes = new ClassList(explorer);
    this.undoButton = h("button", { type: "button", class: "small", title: "Undo (z)", click: () => this.step("undo") }, "Undo");
    this.redoButton = h("button", { type: "button", class: "small", title: "Redo (y)", click: () => this.step("redo") }, "Redo");
    this.saveButton = h("button", { type: "button", class: "small strong", title: "Your labels as CSV, a node table", click: () => {
      saveLabels(explorer);
      this.tellSaved();
    } }, "Save labels");
    this.predictionsButton = h("button", { type: "button", class: "small", title: "As CSV: every node with its label, or else its predicted class and how sure", click: () => {
      savePredictions(explorer);
      this.saved.textContent = `Saved: ${PREDICTIONS_FILE}, with a class and a confidence for every node that heat has reached.`;
    } }, "Save predictions");
    this.element = h("div", { class: "labelling" },
      new ProgressCard(explorer).element,
      server ? new ServerCard(explorer, server).element : null,
      this.start,
      this.card,
      h("div", { class: "steps" }, this.undoButton, this.redoButton, h("span", { class: "saves" }, this.predictionsButton, this.saveButton)),
      this.saved,
      this.end,
      this.list);
    this.place();
    explorer.listen((changed) => this.changed(changed));
    labelling.listen(() => (this.saved.textContent = ""));
    this.update();
  }

  private changed(changed: Changed): void {
    if (this.explorer.state.tab !== "label") return;
    // A card whose successor is still looked for stays until it is found.
    const waiting = changed.has("labels") && this.explorer.asked === null;
    if (["tab", "node", "labels", "suggested", "theme", "mine"].some((key) => changed.has(key as "tab"))) this.update(waiting);
  }

  private update(waiting = false): void {
    const { labelling, state } = this.explorer;
    if (state.tab !== "label") return;
    if (!waiting) {
      const focused = this.card.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.key : undefined;
      this.card.replaceChildren(...this.asked());
      // A button goes with its card: the one in its place takes the focus.
      if (focused) (this.card.querySelector<HTMLElement>(`[data-key="${focused}"]`) ?? this.card.querySelector("button"))?.focus();
    }
    this.place();
    this.undoButton.disabled = !labelling.answers.canUndo;
    this.redoButton.disabled = !labelling.answers.canRedo;
    this.saveButton.disabled = !labelling.answers.labelled;
    this.predictionsButton.disabled = !this.explorer.scene.predicted;
    this.list.replaceChildren(...this.given());
  }

  private place(): void {
    const box = this.explorer.labelling.answers.labelled ? this.end : this.start;
    if (this.classes.element.parentElement === box) return;
    const typing = this.classes.element.contains(document.activeElement);
    box.append(this.classes.element);
    if (typing) this.card.querySelector("button")?.focus();
    for (const each of [this.start, this.end]) each.hidden = each !== box;
  }

  /** Act on a key; false: it is not one of labelling's. */
  key(event: KeyboardEvent): boolean {
    const { explorer } = this;
    if (explorer.state.tab !== "label") return false;
    const undo = event.ctrlKey || event.metaKey;
    const name = event.key.toLowerCase();
    if (undo && name === "z") this.step(event.shiftKey ? "redo" : "undo");
    else if (undo && name === "y") this.step("redo");
    else if (undo || event.altKey) return false;
    else if (name === "z") this.step("undo");
    else if (name === "y") this.step("redo");
    else if (name === "u") this.answer("unsure");
    else if (name === "s") this.answer("skip");
    else if (name === "l" && explorer.labelling.scored) this.lookUp();
    else if (/^[1-9]$/.test(name)) this.answer("label", Number(name) - 1);
    else return false;
    event.preventDefault();
    return true;
  }

  private step(which: "undo" | "redo"): void {
    const node = this.explorer.labelling[which]();
    if (node !== null && which === "undo") this.explorer.set({ node });
    else if (node !== null) this.explorer.set({ node: null });
  }

  private answer(kind: "label" | "unsure" | "skip", code = -1): void {
    const { explorer } = this;
    const { asked, labelling } = explorer;
    if (asked === null || (kind === "label" && code >= labelling.classes.length)) return;
    explorer.set({ node: null });
    labelling.give(asked, kind, code);
  }

  private lookUp(): void {
    const { asked, own } = this.explorer;
    if (asked !== null && own.labels[asked] >= 0) this.answer("label", own.labels[asked]);
  }

  // ------------------------------------------------------------------ the card

  private asked(): (HTMLElement | string)[] {
    const { explorer } = this;
    const { labelling, asked, scene } = explorer;
    if (labelling.loaded < 1) return [h("p", { class: "hint", role: "status" }, `Spreading the known labels: ${percent(labelling.loaded, 0)}`)];
    if (asked === null) return [h("h2", { id: "asked-heading" }, "Every node has an answer"), h("p", {}, "Save the labels, or click a node to change one.")];
    const other = otherName(explorer, asked);
    const { classes } = labelling;
    const parts: (HTMLElement | string)[] = [
      h("p", { class: "why-asked" }, this.reason(asked)),
      h("h2", { id: "asked-heading", tabindex: "-1" }, words(explorer.nodeName(asked))),
    ];
    if (other) parts.push(h("p", { class: "title" }, words(other)));
    if (!classes.length) {
      parts.push(h("p", { class: "story" }, "Name the classes first; then give this one its class, by its button",
        h("span", { class: "keys" }, " or the keys 1 to 9"), "."), this.links(asked));
      return parts;
    }
    const now = labelling.answers.of(asked);
    const longest = Math.max(...scene.classes.map((name) => name.length));
    const width = longest > 13 ? "answers long" : longest > 9 ? "answers middling" : "answers";
    parts.push(h("div", { class: width, role: "group", "aria-label": "Its class" }, ...classes.map((_, code) => {
      const pressed = now?.kind === "label" && now.code === code;
      const share = scene.probabilities && now?.kind !== "label" ? scene.probabilities[asked * classes.length + code] : null;
      return h("button", {
        type: "button", class: "answer", "data-key": code, "aria-pressed": String(pressed), click: () => this.answer("label", code),
        "aria-keyshortcuts": code < 9 ? String(code + 1) : null,
      },
      code < 9 ? h("kbd", { "aria-hidden": "true" }, String(code + 1)) : h("kbd", { "aria-hidden": "true" }, " "),
      swatch(explorer.classColours.of(code, explorer.theme)), words(scene.classes[code]),
      share === null ? null : h("span", { class: "amount", title: "What heat makes of it" }, percent(share, 0)));
    })));
    const plain = (name: string, key: string, title: string, act: () => void, pressed = false): HTMLElement =>
      h("button", { type: "button", class: "small", "data-key": key, title, "aria-pressed": String(pressed), click: act, "aria-keyshortcuts": key },
        h("kbd", { "aria-hidden": "true" }, key), ` ${name}`);
    parts.push(h("div", { class: "steps" },
      plain("Unsure", "u", "Leave it without a label: nobody can tell", () => this.answer("unsure"), now?.kind === "unsure"),
      plain("Skip", "s", "Ask for another one; this one stays open", () => this.answer("skip"), now?.kind === "skip"),
      labelling.scored ? plain("Look it up", "l", "Take its actual class, which this graph knows", () => this.lookUp()) : "",
      now ? h("button", { type: "button", class: "small", "data-key": "remove", click: () => {
        explorer.set({ node: null });
        labelling.give(asked, "remove");
      } }, "Take it back") : ""), this.links(asked));
    return parts.filter((part) => part !== "");
  }

  /** Why this node is asked for, in a sentence. */
  private reason(asked: number): string {
    const { explorer } = this;
    const { labelling, scene } = explorer;
    const { suggestion } = labelling;
    const noun = nounOf(explorer);
    const now = labelling.answers.of(asked);
    if (now?.kind === "label") return labelling.answers.isBase(asked) ? "Known from the start. Another class replaces it." : "You labelled it. Another class replaces it.";
    if (now?.kind === "unsure") return "You were unsure. A class replaces that.";
    if (suggestion?.node !== asked) return now?.kind === "skip" ? "You skipped it." : "You chose it.";
    if (suggestion.why) return suggestion.why;
    const reach = suggestion.reach ? `heat from here reaches ${count(suggestion.reach)} ${noun}` : "it stands alone";
    if (!labelling.answers.labelled) return `A good one to start with: ${reach}.`;
    if (suggestion.fresh) return `No label's heat has come here yet, perhaps a class of its own; ${reach}.`;
    const shares = this.shares(asked) ?? suggestion.classes;
    if (shares.length < 2) return `Its answer tells most: ${reach}.`;
    const [[first, p], [second, q]] = shares;
    const name = (code: number): string => scene.classes[code];
    const torn = `${name(first)} or ${name(second)}? ${percent(p, 0)} against ${percent(q, 0)}`;
    if (!suggestion.classes.length) return `${torn}.`; // a server's, whose words were about an earlier model
    if (p - q > 0.5) return `Labels are far from here, so ${name(first)} is a guess; ${reach}.`;
    return `${torn}, and ${reach}.`;
  }

  /** The two most probable classes as the buttons show them, the first first; null: nothing is predicted. */
  private shares(node: number): [number, number][] | null {
    const { probabilities, classes } = this.explorer.scene;
    if (!probabilities) return null;
    const all = classes.map((_, code): [number, number] => [code, probabilities[node * classes.length + code]]);
    return all.sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 2);
  }

  private links(node: number): HTMLElement {
    const { explorer } = this;
    const { scene } = explorer;
    const { starts, targets, weights } = scene.adjacency;
    const found: [number, number][] = [];
    for (let p = starts[node]; p < starts[node + 1]; p++) if (targets[p] !== node) found.push([targets[p], weights[p]]);
    if (!found.length) return h("p", { class: "hint" }, "Linked to nothing: only its own label will tell.");
    // Labelled ones first: they are what a person can compare with.
    found.sort((a, b) => Number(scene.labels[b[0]] >= 0) - Number(scene.labels[a[0]] >= 0) || b[1] - a[1] || a[0] - b[0]);
    const left = found.length - MOST_LINKS;
    return h("div", { class: "links" },
      h("h3", {}, "Linked to"),
      h("ul", {}, ...found.slice(0, MOST_LINKS).map(([other]) => h("li", {},
        nodeButton(explorer, other),
        scene.predicted || scene.labels[other] >= 0
          ? h("span", { class: scene.labels[other] >= 0 ? "neighbor-class" : "neighbor-class guess" }, classChip(explorer, (scene.predicted ?? scene.labels)[other])) : null))),
      left > 0 ? h("p", { class: "hint" }, `and ${count(left)} more`) : null);
  }

  // ------------------------------------------------------------------ what was answered

  private given(): HTMLElement[] {
    const { explorer } = this;
    const { labelling } = explorer;
    const mine = [...labelling.answers.entries()].filter(([node]) => !labelling.answers.isBase(node)).reverse();
    const parts: HTMLElement[] = [];
    if (mine.length) {
      parts.push(h("h3", { id: "given-heading" }, `Your answers: ${count(mine.length)}`),
        h("ul", { class: "given", "aria-labelledby": "given-heading" }, ...mine.slice(0, this.listed).map(([node, answer]) => h("li", {},
          nodeButton(explorer, node),
          answer.kind === "label" ? classChip(explorer, answer.code) : h("span", { class: "chip quiet" }, answer.kind === "skip" ? "skipped" : "unsure")))));
      if (mine.length > this.listed) parts.push(h("button", { type: "button", class: "small", click: () => {
        this.listed += 100;
        this.update();
      } }, `Show more (${count(mine.length - this.listed)} left)`));
    }
    if (!explorer.own.header.server) parts.push(this.startOver(mine.length));
    return parts;
  }

  private startOver(mine: number): HTMLElement {
    const { explorer } = this;
    const { labelling } = explorer;
    const begin = (known: boolean, text: string): HTMLElement =>
      h("button", { type: "button", class: "small", click: () => {
        explorer.set({ node: null });
        labelling.reset(known);
      } }, text);
    return h("details", { class: "about" }, h("summary", {}, "Start over"),
      h("p", {}, mine ? `This forgets your ${plural(mine, "answer")}.` : "Nothing has been answered yet."),
      h("div", { class: "steps" },
        begin(false, "From no labels"),
        labelling.knownLabels ? begin(true, `From the ${count(labelling.knownLabels)} labels of the graph`) : null));
  }

  private tellSaved(): void {
    const { header } = this.explorer.own;
    const name = header.title.replace(/[^\w.-]+/g, "_").slice(0, 40) || "labels";
    this.saved.replaceChildren(`Saved: ${LABELS_FILE}, a node table with a row per node. Learn from it, with your edge list in the place of EDGES:`,
      h("code", { class: "command" }, `graphheat fit EDGES --nodes ${LABELS_FILE} --out runs/${name}`));
  }
}
