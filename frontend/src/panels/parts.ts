/** Pieces that several panels show. */

import { count, h, swatch, words } from "../dom";
import type { Explorer } from "../explorer";
import { SPLIT_NAMES } from "../colours";

export function nodeButton(explorer: Explorer, node: number): HTMLElement {
  return h(
    "button",
    { type: "button", class: "link", "data-node": node, click: () => explorer.select(node) },
    words(explorer.nodeName(node)),
  );
}

export function classChip(explorer: Explorer, code: number): HTMLElement {
  if (code < 0) return h("span", { class: "chip quiet" }, explorer.scene.labelled ? "not reached" : "unlabelled");
  return h(
    "span",
    { class: "chip" },
    swatch(explorer.classColours.of(code, explorer.theme)),
    words(explorer.scene.classes[code]),
  );
}

/** The other name of a node: its id where it is called by its title, and the reverse. */
export function otherName(explorer: Explorer, node: number): string | null {
  const { ids, titles } = explorer.scene;
  const name = explorer.nodeName(node);
  return [ids[node], titles?.[node]].find((other) => other && other !== name) ?? null;
}

/** What is known of the chosen node, at the head of a panel. */
export function nodeCard(explorer: Explorer, node: number): HTMLElement {
  const { scene } = explorer;
  const other = otherName(explorer, node);
  const degree = scene.adjacency.starts[node + 1] - scene.adjacency.starts[node];
  const facts: (HTMLElement | string)[] = [];
  const mine = scene.labelled && scene.labels[node] >= 0;
  if (scene.predicted && scene.predicted[node] >= 0 && !mine) facts.push(h("span", {}, "Predicted: ", classChip(explorer, scene.predicted[node])));
  if (scene.labels[node] >= 0) facts.push(h("span", {}, mine ? "Your label: " : "Actual: ", classChip(explorer, scene.labels[node])));
  if (scene.split[node] > 0 && !mine) facts.push(h("span", {}, `${SPLIT_NAMES[scene.split[node]]} node`));
  facts.push(h("span", {}, `${count(degree)} edge${degree === 1 ? "" : "s"}`));
  return h(
    "div",
    { class: "card" },
    h("div", { class: "card-head" },
      h("h2", { tabindex: "-1", id: "node-heading" }, "Node ", words(explorer.nodeName(node))),
      h("button", { type: "button", class: "plain", title: "Clear the source (Esc)", "aria-label": "Clear the source of heat",
        click: () => explorer.select(null) }, "×")),
    other ? h("p", { class: "title" }, words(other)) : null,
    h("p", { class: "facts" }, ...facts),
  );
}
