/**
 * What to label next: the node whose answer would reach most of what is still open.
 *
 * A node is open as far as no label's heat covers it or its classes are nearly even; H u then tells,
 * by one diffusion, how much of that the heat from each node would reach. Without labels this is heat
 * coverage alone; later it is weighed by the node's own uncertainty.
 */

import type { Spread, Spreading } from "./spreading";

const START = 10; // diffusion time before labels choose one
const COVERED = 0.02; // heat of labels at which a node counts as half covered
const REACHED = 1e-3; // heat at which a node counts as reached

export interface Suggestion {
  node: number;
  /** Whether no label's heat has come here. */
  fresh: boolean;
  /** The two most probable classes with their shares; none before there are predictions. */
  classes: [number, number][];
  /** How many others its heat reaches. */
  reach: number;
  /** The reason, where it comes with the suggestion. */
  why?: string;
}

export function suggest(
  spreading: Spreading,
  spread: Spread | null,
  labelled: readonly number[],
  answered: (node: number) => boolean,
  n: number,
): Suggestion | null {
  const s = spread?.s ?? START;
  const classes = spread ? spread.probabilities.length / n : 0;
  const open = new Float64Array(n).fill(1);
  const unsure = new Float64Array(n).fill(1);
  if (spread) {
    const sources = new Float64Array(n);
    for (const node of labelled) sources[node] = 1;
    const warm = spreading.diffuse(sources, START);
    for (let i = 0; i < n; i++) {
      const heat = Math.max(warm[i], 0);
      const [first, second] = topTwo(spread.probabilities, i, classes);
      const even = classes > 1 ? 1 - (first[1] - second[1]) : 0;
      const bare = COVERED / (COVERED + heat);
      unsure[i] = 1 - (1 - bare) * (1 - even);
      open[i] = answered(i) ? 0 : unsure[i];
    }
  }
  const gain = spreading.diffuse(open, START);
  let best = -1;
  let most = -Infinity;
  for (let i = 0; i < n; i++) {
    const score = gain[i] * unsure[i];
    if (score > most && !answered(i)) [best, most] = [i, score];
  }
  if (best < 0) return null;
  const heat = spreading.heatOf(best, s);
  let reach = 0;
  for (let i = 0; i < n; i++) if (i !== best && heat[i] >= REACHED) reach++;
  const fresh = !spread || !spread.reached[best];
  return { node: best, fresh, classes: spread && classes > 1 && !fresh ? topTwo(spread.probabilities, best, classes) : [], reach };
}

function topTwo(p: Float64Array, row: number, classes: number): [number, number][] {
  let [first, second] = [-1, -1];
  for (let c = 0; c < classes; c++) {
    const value = p[row * classes + c];
    if (first < 0 || value > p[row * classes + first]) [first, second] = [c, first];
    else if (second < 0 || value > p[row * classes + second]) second = c;
  }
  return [[first, p[row * classes + first]], [second, second < 0 ? 0 : p[row * classes + second]]];
}
