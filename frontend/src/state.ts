/** What the reader has chosen, and the same in the address. */

import type { Mode } from "./colours";
import type { Scene } from "./data";
import { SPLITS } from "./schema";

export type Tab = "label" | "heat" | "why" | "nodes";

/** Nodes of one class, or of one cell of the confusion matrix; split −1 is every labelled node. */
export type Filter = { kind: "class"; code: number } | { kind: "cell"; truth: number; guess: number; split: number };

export interface State {
  node: number | null;
  s: number;
  eps: number;
  mode: Mode;
  tab: Tab;
  ball: number;
  filter: Filter | null;
  theme: "auto" | "light" | "dark";
  /** What draws the graph; auto: WebGL, except where a plain canvas is quicker. */
  draw: "auto" | "webgl" | "canvas";
  /** Whether the reader's own labels are shown, and not what the page came with. */
  mine: boolean;
  /** Counts the changes of the reader's own labels; not in the address. */
  labels: number;
  /** Counts the nodes that were suggested; not in the address. */
  suggested: number;
}

export const MAX_S = 50;
export const SLIDER_S = 10;
export const MIN_EPS = 1e-6;
export const MAX_EPS = 0.1;

export function modesOf(scene: Scene): Mode[] {
  const modes: Mode[] = [];
  if (scene.labelled) return scene.predicted ? ["predicted", "label", "confidence", "heat"] : ["plain", "heat"];
  if (scene.predicted) modes.push("predicted");
  if (scene.labels.some((code) => code >= 0)) modes.push("label");
  if (scene.confidence) modes.push("confidence");
  if (scene.predicted && scene.labels.some((code) => code >= 0)) modes.push("right");
  if (scene.split.some((code) => code > 0)) modes.push("split");
  if (!modes.length) modes.push("plain");
  modes.push("heat");
  return modes;
}

/** Where a page opens: a graph without a label, or one that is served to be labelled, asks for labels. */
function firstTab(scene: Scene): Tab {
  return scene.header.server || (!scene.predicted && !scene.labels.some((code) => code >= 0)) ? "label" : "heat";
}

export function initial(scene: Scene): State {
  return {
    node: null,
    s: Math.min(scene.header.s, MAX_S),
    eps: scene.header.eps,
    mode: modesOf(scene)[0],
    tab: firstTab(scene),
    ball: 0,
    filter: null,
    theme: "auto",
    draw: "auto",
    mine: firstTab(scene) === "label",
    labels: 0,
    suggested: 0,
  };
}

function number(text: string | null, low: number, high: number): number | null {
  if (text === null || text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) && value >= low && value <= high ? value : null;
}

/** Return the state that an address names; what it gets wrong stays as it was. */
export function fromHash(hash: string, scene: Scene, base: State): State {
  const state = { ...base };
  let query: URLSearchParams;
  try {
    query = new URLSearchParams(hash.replace(/^#/, ""));
  } catch {
    return state;
  }
  const node = query.get("node");
  if (node !== null) {
    const index = scene.ids.indexOf(node);
    state.node = index >= 0 ? index : null;
  } else state.node = null;
  state.s = number(query.get("s"), 0, MAX_S) ?? state.s;
  state.eps = number(query.get("eps"), 0, 0.999) ?? state.eps;
  const mode = query.get("colour") as Mode | null;
  if (mode && modesOf(scene).includes(mode)) state.mode = mode;
  // An address that names s was written by a page, which leaves out the tab of heat.
  const tab = query.get("tab") ?? (query.has("s") ? "heat" : null);
  state.mine = query.has("mine") || tab === "label" || base.mine;
  if (tab === "heat" || tab === "nodes" || tab === "label" || (tab === "why" && (scene.predicted || state.mine))) state.tab = tab;
  state.ball = number(query.get("ball"), 0, 3) ?? 0;
  const theme = query.get("theme");
  if (theme === "light" || theme === "dark") state.theme = theme;
  const draw = query.get("draw");
  if (draw === "webgl" || draw === "canvas") state.draw = draw;
  const parts = (query.get("filter") ?? "").split("-");
  const [first, second] = parts.map((part) => number(part, 0, scene.classes.length - 1));
  const split = parts[2] ? SPLITS.findIndex((name) => name === parts[2]) : -1;
  state.filter = null;
  if (parts.length === 1 && first !== null) state.filter = { kind: "class", code: first };
  if (parts.length > 1 && first !== null && second !== null && scene.predicted) {
    state.filter = { kind: "cell", truth: first, guess: second, split };
  }
  return state;
}

export function toHash(state: State, scene: Scene): string {
  const query = new URLSearchParams();
  if (state.node !== null) query.set("node", scene.ids[state.node]);
  query.set("s", String(state.s));
  query.set("eps", epsText(state.eps));
  query.set("colour", state.mode);
  if (state.tab !== "heat") query.set("tab", state.tab);
  if (state.mine && state.tab !== "label") query.set("mine", "");
  if (state.ball) query.set("ball", String(state.ball));
  if (state.filter) {
    const f = state.filter;
    const split = f.kind === "cell" && f.split > 0 ? `-${SPLITS[f.split]}` : "";
    query.set("filter", f.kind === "class" ? String(f.code) : `${f.truth}-${f.guess}${split}`);
  }
  if (state.theme !== "auto") query.set("theme", state.theme);
  if (state.draw !== "auto") query.set("draw", state.draw);
  return `#${query.toString()}`;
}

export function epsText(eps: number): string {
  if (eps === 0) return "0";
  return eps >= 0.01 ? String(Number(eps.toPrecision(2))) : Number(eps.toPrecision(2)).toExponential();
}
