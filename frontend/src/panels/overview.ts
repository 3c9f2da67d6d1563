/** What a page opens with: what is known, what this graph is, and what to do. */

import { count, h, percent, plural, words } from "../dom";
import type { Explorer } from "../explorer";
import { SPLITS } from "../schema";
import { nodeButton } from "./parts";

const TRAINING = SPLITS.indexOf("train");

/** What nodes are, in the plural. */
export function nounOf(explorer: Explorer): string {
  return explorer.own.header.noun ?? "nodes";
}

/** "60 known, 4,940 predicted, on average 78 % sure." */
export function knowledge(explorer: Explorer): string {
  const { scene } = explorer;
  let known = 0;
  let [predicted, sure, unreached] = [0, 0, 0];
  for (let i = 0; i < scene.n; i++) {
    const training = scene.predicted ? scene.split[i] === TRAINING && scene.labels[i] >= 0 : scene.labels[i] >= 0;
    if (training) known++;
    else if (scene.predicted && scene.predicted[i] < 0) unreached++;
    else if (scene.confidence) {
      predicted++;
      sure += scene.confidence[i];
    }
  }
  if (!known && !predicted) return "Nothing is labelled yet.";
  if (!predicted) return `${count(known)} of ${count(scene.n)} known.`;
  const rest = unreached ? `; heat has not reached ${count(unreached)} yet` : "";
  return `${count(known)} known, ${count(predicted)} predicted, on average ${percent(sure / predicted, 0)} sure${rest}.`;
}

export function overview(explorer: Explorer): HTMLElement {
  const { scene, own } = explorer;
  const { header } = own;
  const noun = nounOf(explorer);
  const degree = (i: number): number => scene.adjacency.starts[i + 1] - scene.adjacency.starts[i];
  let hub = 0;
  for (let i = 1; i < scene.n; i++) if (degree(i) > degree(hub)) hub = i;
  const { run } = header;
  const classes = scene.classes.length;
  const colours = { predicted: "Colours are the predicted classes.", label: "Colours are the known classes." } as Record<string, string>;
  const starts: HTMLElement[] = [];
  if (scene.reasons) starts.push(h("li", {}, "Least sure of: ", nodeButton(explorer, scene.reasons.nodes[0]), ". See why it got its label."));
  starts.push(h("li", {}, "Most linked: ", nodeButton(explorer, hub), ". See whom its heat reaches."));
  return h(
    "div",
    { class: "card welcome" },
    h("h2", {}, knowledge(explorer)),
    h("p", {}, words(header.title), ` has ${header.noun ? `${count(scene.n)} ${noun}` : plural(scene.n, "node")}, ${plural(header.edges, "edge")}` +
      `${classes ? ` and ${plural(classes, "class", "classes")}` : ""}. ${colours[explorer.state.mode] ?? ""}`),
    h("button", { type: "button", class: "invite", click: () => explorer.set({ tab: "label" }) },
      explorer.labelling.scored ? `Label ten ${noun}. How far do you get?` : scene.classes.length ? `Label more ${noun}` : `Label ${noun} by hand`),
    h("p", {}, `Click any of the ${noun}, or search by name${classes ? " or class" : ""}.`),
    h("ul", { class: "starts" }, ...starts),
    run ? h("p", { class: "run" }, `Predictions of recipe ${run.recipe}` +
      (run.test_accuracy === null ? "." : `, ${percent(run.test_accuracy)} right on the test nodes.`)) : null,
  );
}
