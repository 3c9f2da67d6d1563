/** Colours that colour-blind readers tell apart, for light and for dark. */

import type { Scene } from "./data";
import { SPLITS } from "./schema";

export type Mode = "predicted" | "label" | "confidence" | "split" | "right" | "heat" | "plain";

export interface Theme {
  dark: boolean;
  background: string;
  ink: string;
  node: string;
  dimNode: string;
  edge: string;
  dimEdge: string;
  accent: string;
  ball: string;
  classes: string[];
  other: string;
  heat: string[];
  confidence: string[];
}

// Okabe and Ito's, the yellow darkened for white paper.
const LIGHT: Theme = {
  dark: false,
  background: "#ffffff",
  ink: "#1b2430",
  node: "#6b7785",
  dimNode: "#e3e7ec",
  edge: "#c3ccd6",
  dimEdge: "#eef1f4",
  accent: "#0072b2",
  ball: "#0072b2",
  classes: ["#e69f00", "#56b4e9", "#009e73", "#d6bd00", "#0072b2", "#d55e00", "#cc79a7", "#333333"],
  other: "#9aa3ad",
  // Inferno, from its bright to its dark end.
  heat: ["#fcd85a", "#fb9b06", "#ed6925", "#cf4446", "#a52c60", "#781c6d", "#3b0f70"],
  confidence: ["#fde725", "#7ad151", "#22a884", "#2a788e", "#414487", "#440154"],
};

const DARK: Theme = {
  dark: true,
  background: "#10151c",
  ink: "#e8edf3",
  node: "#8c98a6",
  dimNode: "#2a333e",
  edge: "#38434f",
  dimEdge: "#1a212a",
  accent: "#56b4e9",
  ball: "#56b4e9",
  classes: ["#e69f00", "#56b4e9", "#1fbf92", "#f0e442", "#4593d8", "#e8702a", "#dd8fbb", "#e5e5e5"],
  other: "#6b7683",
  heat: ["#6a2c91", "#a52c60", "#cf4446", "#ed6925", "#fb9b06", "#f7d13d", "#fcffa4"],
  confidence: ["#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#a0da39", "#fde725"],
};

export function themeOf(dark: boolean): Theme {
  return dark ? DARK : LIGHT;
}

/** Return a colour that has stepped back towards the background. */
export function faded(colour: string, theme: Theme, part = 0.72): string {
  return scaleColour([colour, theme.background], part);
}

function channel(hex: string, at: number): number {
  return parseInt(hex.slice(at, at + 2), 16);
}

/** Return the colour at t in [0, 1] of a scale of evenly spaced colours. */
export function scaleColour(scale: string[], t: number): string {
  const place = Math.max(0, Math.min(1, t)) * (scale.length - 1);
  const low = Math.min(Math.floor(place), scale.length - 2);
  const part = place - low;
  const mixed = [1, 3, 5].map((at) =>
    Math.round(channel(scale[low], at) * (1 - part) + channel(scale[low + 1], at) * part),
  );
  return `#${mixed.map((v) => v.toString(16).padStart(2, "0")).join("")}`;
}

/** Return the colours of a scale at 256 even steps, each made once. */
export function scaleSteps(scale: string[]): (t: number) => string {
  const made: string[] = [];
  return (t) => {
    const step = Math.round(255 * Math.max(0, Math.min(1, t)));
    return (made[step] ??= scaleColour(scale, step / 255));
  };
}

/** Colours of the classes: the most frequent get one each, the others share a grey. */
export class ClassColours {
  private readonly rank: Int32Array;

  constructor(scene: Scene) {
    const counts = new Array<number>(scene.classes.length).fill(0);
    for (let i = 0; i < scene.n; i++) {
      const code = scene.predicted ? scene.predicted[i] : scene.labels[i];
      if (code >= 0) counts[code]++;
    }
    const places = LIGHT.classes.length;
    this.rank = new Int32Array(counts.length).fill(-1);
    if (scene.labelled) {
      // Colours stay where they are while labels come in.
      for (let k = 0; k < Math.min(places, counts.length); k++) this.rank[k] = k;
    } else if (counts.length <= places) this.rank.forEach((_, k) => (this.rank[k] = k));
    else {
      const order = counts.map((_, k) => k).sort((a, b) => counts[b] - counts[a] || a - b);
      order.slice(0, places).forEach((code, k) => (this.rank[code] = k));
    }
  }

  of(code: number, theme: Theme): string {
    const rank = code < 0 ? -1 : this.rank[code];
    return rank < 0 ? theme.other : theme.classes[rank];
  }
}

/** What readers call the codes of SPLITS. */
export const SPLIT_NAMES = SPLITS.map((name) => ({ "": "not in the split", train: "training", validation: "validation", test: "test" })[name]);

export function splitColour(code: number, theme: Theme): string {
  return { "": theme.other, train: theme.classes[5], validation: theme.classes[0], test: theme.classes[1] }[SPLITS[code]];
}

/** 0 = wrong, 1 = right, −1 = not known. */
export function rightness(scene: Scene, node: number): number {
  if (!scene.predicted || scene.labels[node] < 0) return -1;
  return scene.predicted[node] === scene.labels[node] ? 1 : 0;
}

export function rightColour(value: number, theme: Theme): string {
  return value < 0 ? theme.other : value === 1 ? theme.classes[4] : theme.classes[5];
}

/** Where a weight stands between the threshold and the heaviest neighbour, in [0, 1]. */
export function heatPlace(weight: number, eps: number, top: number): number {
  const floor = Math.max(eps, 1e-8);
  if (!(top > floor)) return 1;
  return Math.max(0, Math.min(1, Math.log(weight / floor) / Math.log(top / floor)));
}
