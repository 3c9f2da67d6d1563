/**
 * Label spreading by heat, as `graphheat fit --recipe spreading` does it, one label at a time.
 *
 * With H = e^{-sL} of the graph with self-loops, p_vc ∝ (Σ_l H_vl Y_lc + ε π_c)^γ: the heat that the
 * labels of each class send, beside a trace of the classes' shares. Leaving a label out takes away
 * what it sends itself, so s and γ are judged on all labels. A new label costs one recurrence, whose
 * heat at the five times is added to what there was.
 *
 * D. Zhou, O. Bousquet, T. N. Lal et al.: Learning with Local and Global Consistency, NeurIPS 2004.
 */

import type { Adjacency } from "./data";
import { Diffusion, coefficients } from "./heat";
import { sharpnessOf } from "./sharpness";

export const TIMES = [1, 3, 10, 30, 100];
const DEFAULT = 2; // the place of s = 10, where no class has two labels to choose by
const TOLERANCE = 5e-8; // of the series, half of the library's 1e-7, as there
const TIE = 1e-9; // losses that differ by less are the same
const TRACE = 1e-4; // ε, as a share of what a label's own heat is on average
const MOST_CHOOSING = 256; // labels that choose s and γ
const SERIES = TIMES.map((s) => coefficients(s, TOLERANCE));

export interface Spread {
  s: number;
  sharpness: number;
  /** Row-major, n × classes. */
  probabilities: Float64Array;
  /** 1 where heat of labels outweighs the trace. */
  reached: Uint8Array;
}

interface Held {
  code: number;
  /** The label's heat on itself, by time; null: it takes no part in the choice. */
  own: Float64Array | null;
  /** Heat of the other labels on it: by time, by class. */
  others: Float64Array[];
}

export class Spreading {
  private readonly diffusion: Diffusion;
  private readonly held = new Map<number, Held>();
  /** Heat of all labels: by time, by class, by node. */
  private readonly sums: Float64Array[][] = TIMES.map(() => []);
  private classes = 0;

  constructor(adjacency: Adjacency) {
    this.diffusion = new Diffusion(adjacency, 1);
  }

  get size(): number {
    return this.held.size;
  }

  nodes(): number[] {
    return [...this.held.keys()];
  }

  codeOf(node: number): number {
    return this.held.get(node)?.code ?? -1;
  }

  /** Make room for so many classes. */
  widen(classes: number): void {
    if (classes <= this.classes) return;
    for (const byClass of this.sums) {
      while (byClass.length < classes) byClass.push(new Float64Array(this.diffusion.n));
    }
    for (const each of this.held.values()) {
      each.others = each.others.map((heat) => {
        const wider = new Float64Array(classes);
        wider.set(heat);
        return wider;
      });
    }
    this.classes = classes;
  }

  /** Give a node a class, or with −1 take its label away. */
  set(node: number, code: number): void {
    const before = this.codeOf(node);
    if (before === code) return;
    this.widen(code + 1);
    const unit = new Float64Array(this.diffusion.n);
    unit[node] = 1;
    const heat = this.diffusion.sweep(unit, SERIES);
    if (before >= 0) this.add(heat, node, before, -1);
    if (code < 0) this.held.delete(node);
    else {
      this.add(heat, node, code, 1);
      const known = this.held.get(node);
      if (known) known.code = code;
      else this.hold(node, code, heat);
    }
  }

  /** Take many labels where there is none yet: one recurrence per class, and one per label that chooses. */
  *setAll(labels: [number, number][], classes: number): Generator<number> {
    this.widen(classes);
    const columns = Array.from({ length: classes }, () => new Float64Array(this.diffusion.n));
    for (const [node, code] of labels) columns[code][node] = 1;
    for (const [code, column] of columns.entries()) {
      if (!labels.some((label) => label[1] === code)) continue;
      const heat = this.diffusion.sweep(column, SERIES);
      heat.forEach((values, t) => accumulate(this.sums[t][code], values, 1));
    }
    for (const [node, code] of labels) this.held.set(node, { code, own: null, others: [] });
    let done = 0;
    for (const [node, code] of labels.slice(0, MOST_CHOOSING)) {
      const unit = new Float64Array(this.diffusion.n);
      unit[node] = 1;
      const heat = this.diffusion.sweep(unit, SERIES);
      this.hold(node, code, heat);
      yield ++done / Math.min(labels.length, MOST_CHOOSING);
    }
  }

  private hold(node: number, code: number, heat: Float64Array[]): void {
    const choosing = [...this.held.values()].filter((each) => each.own).length;
    const others = TIMES.map(() => new Float64Array(this.classes));
    if (choosing >= MOST_CHOOSING) {
      this.held.set(node, { code, own: null, others });
      return;
    }
    for (const [other, each] of this.held) {
      if (other === node) continue;
      heat.forEach((values, t) => (others[t][each.code] += Math.max(values[other], 0)));
    }
    const own = Float64Array.from(heat, (values) => Math.max(values[node], 0));
    this.held.set(node, { code, own, others });
  }

  private add(heat: Float64Array[], node: number, code: number, sign: 1 | -1): void {
    heat.forEach((values, t) => {
      accumulate(this.sums[t][code], values, sign);
      for (const [other, each] of this.held) {
        if (other !== node && each.own) each.others[t][code] += sign * Math.max(values[other], 0);
      }
    });
  }

  /** Return what the labels say of every node; null without one. */
  spread(): Spread | null {
    const { classes, held } = this;
    const { n } = this.diffusion;
    if (!held.size) return null;
    const counts = new Float64Array(classes);
    for (const { code } of held.values()) counts[code]++;
    const prior = counts.map((count) => (count + 1e-3) / (held.size + 1e-3 * classes));
    const chooser = [...held.values()].filter((each) => each.own);
    const floors = TIMES.map((_, t) => {
      const own = chooser.reduce((sum, each) => sum + each.own![t], 0) / chooser.length;
      return prior.map((share) => TRACE * own * share);
    });
    const judges = chooser.filter((each) => counts[each.code] > 1);
    let [time, sharpness] = [DEFAULT, 1];
    if (judges.length) {
      const codes = judges.map((each) => each.code);
      const tried = TIMES.map((_, t) => {
        const scores = new Float64Array(judges.length * classes);
        judges.forEach((each, k) => {
          for (let c = 0; c < classes; c++) scores[k * classes + c] = Math.log(Math.max(each.others[t][c], 0) + floors[t][c]);
        });
        return sharpnessOf(scores, codes, classes);
      });
      const least = Math.min(...tried.map(({ loss }) => loss));
      const away = (t: number): number => Math.abs(TIMES[t] - TIMES[DEFAULT]);
      time = tried.reduce((best, { loss }, t) => (loss <= least + TIE && (best < 0 || away(t) < away(best)) ? t : best), -1);
      sharpness = tried[time].factor;
    }
    const probabilities = new Float64Array(n * classes);
    const reached = new Uint8Array(n);
    const floor = floors[time];
    const whole = floor.reduce((a, b) => a + b, 0);
    const row = new Float64Array(classes);
    for (let i = 0; i < n; i++) {
      let [top, warm, total] = [-Infinity, 0, 0];
      for (let c = 0; c < classes; c++) {
        const heat = Math.max(this.sums[time][c][i], 0);
        warm += heat;
        row[c] = sharpness * Math.log(heat + floor[c]);
        if (row[c] > top) top = row[c];
      }
      for (let c = 0; c < classes; c++) total += row[c] = Math.exp(row[c] - top);
      for (let c = 0; c < classes; c++) probabilities[i * classes + c] = row[c] / total;
      reached[i] = warm >= whole ? 1 : 0;
    }
    return { s: TIMES[time], sharpness, probabilities, reached };
  }

  /** Return e^{-sL}x with self-loops. */
  diffuse(x: Float64Array, s: number): Float64Array {
    return this.diffusion.sweep(x, [SERIES[TIMES.indexOf(s)] ?? coefficients(s, TOLERANCE)])[0];
  }

  /** Return the heat of one node. */
  heatOf(node: number, s: number): Float64Array {
    const unit = new Float64Array(this.diffusion.n);
    unit[node] = 1;
    return this.diffuse(unit, s);
  }
}

function accumulate(sum: Float64Array, values: Float64Array, sign: 1 | -1): void {
  for (let i = 0; i < sum.length; i++) sum[i] += sign * values[i];
}
