/**
 * e^{-sL} in the browser: the same Chebyshev series as the library's.
 *
 * With S = I − L, e^{-sL} = Σ_k c_k T_k(S), c_0 = e^{-s} I_0(s), c_k = 2 e^{-s} I_k(s). The c_k are
 * positive and sum to 1, so a cut after order m costs at most the rest, in every entry.
 */

import type { Adjacency } from "./data";

export const TOLERANCE = 1e-9;

/** Return c_0 … c_m, cut where the rest is below the tolerance. */
export function coefficients(s: number, tolerance = TOLERANCE): Float64Array {
  if (s === 0) return new Float64Array([1]);
  // Miller's way: upwards the recurrence of I_k is unstable, downwards any start will do; the
  // known sum of the c_k then sets the scale.
  const far = 32 + Math.ceil(2 * Math.sqrt(2 * s * Math.log(4 / tolerance)) + 2 * Math.log(4 / tolerance));
  const bessel = new Float64Array(far + 2);
  bessel[far] = 1e-280;
  for (let k = far; k > 0; k--) {
    bessel[k - 1] = bessel[k + 1] + ((2 * k) / s) * bessel[k];
    if (bessel[k - 1] > 1e250) {
      for (let j = k - 1; j <= far; j++) bessel[j] *= 1e-250;
    }
  }
  let total = bessel[0];
  for (let k = 1; k <= far; k++) total += 2 * bessel[k];
  let order = far;
  let rest = 0;
  while (order > 0) {
    const term = (2 * bessel[order]) / total;
    if (rest + term > tolerance) break;
    rest += term;
    order--;
  }
  const found = new Float64Array(order + 1);
  for (let k = 0; k <= order; k++) found[k] = ((k === 0 ? 1 : 2) * bessel[k]) / total;
  return found;
}

/** S = D^{-1/2} A D^{-1/2}; a row without edges stays 0, as in the paper. */
export class Diffusion {
  readonly n: number;
  private readonly values: Float64Array;
  /** Diagonal entries of self-loops that were added; null: none. */
  private readonly loops: Float64Array | null;

  constructor(
    private readonly adjacency: Adjacency,
    selfLoops = 0,
  ) {
    const { starts, targets, weights, degrees } = adjacency;
    this.n = starts.length - 1;
    const whole = degrees.map((d) => d + selfLoops);
    const scale = whole.map((d) => (d > 0 ? 1 / Math.sqrt(d) : 0));
    this.values = new Float64Array(weights.length);
    for (let i = 0; i < this.n; i++) {
      for (let p = starts[i]; p < starts[i + 1]; p++) {
        const [a, b] = [scale[i], scale[targets[p]]];
        // The larger factor first: the product of both could overflow.
        this.values[p] = weights[p] * Math.max(a, b) * Math.min(a, b);
      }
    }
    this.loops = selfLoops > 0 ? whole.map((d) => selfLoops / d) : null;
  }

  /** Return S x. */
  multiply(x: Float64Array): Float64Array {
    const { starts, targets } = this.adjacency;
    const { values, loops } = this;
    const y = new Float64Array(this.n);
    for (let i = 0; i < this.n; i++) {
      let sum = loops ? loops[i] * x[i] : 0;
      for (let p = starts[i]; p < starts[i + 1]; p++) sum += values[p] * x[targets[p]];
      y[i] = sum;
    }
    return y;
  }

  /**
   * Return e^{-sL}x for several s, each given by its coefficients, from one recurrence.
   *
   * A term is made, put in the place of the last but one and added to the sums in one pass: what is
   * read from memory is what takes the time.
   */
  sweep(x: Float64Array, series: Float64Array[]): Float64Array[] {
    const { starts, targets } = this.adjacency;
    const { values, loops, n } = this;
    const results = series.map((c) => x.map((value) => c[0] * value));
    const most = Math.max(...series.map((c) => c.length));
    let before = new Float64Array(n);
    let term = x.slice();
    for (let k = 1; k < most; k++) {
      const open = series.flatMap((c, q) => (k < c.length ? [q] : []));
      const factors = open.map((q) => series[q][k]);
      const sums = open.map((q) => results[q]);
      const twice = k > 1 ? 2 : 1; // T_1 = S T_0, and T_k = 2 S T_{k−1} − T_{k−2}
      for (let i = 0; i < n; i++) {
        let sum = loops ? loops[i] * term[i] : 0;
        for (let p = starts[i]; p < starts[i + 1]; p++) sum += values[p] * term[targets[p]];
        const next = twice * sum - before[i];
        before[i] = next;
        for (let q = 0; q < sums.length; q++) sums[q][i] += factors[q] * next;
      }
      [before, term] = [term, before];
    }
    return results;
  }
}

/** T_k(S)δ of one source: it does not depend on s, so that a slider only combines it anew. */
export class Source {
  private readonly basis: Float64Array[] = [];
  private readonly result: Float64Array;

  constructor(
    private readonly diffusion: Diffusion,
    readonly index: number,
  ) {
    const unit = new Float64Array(diffusion.n);
    unit[index] = 1;
    this.basis.push(unit);
    this.result = new Float64Array(diffusion.n);
  }

  /** Return e^{-sL}δ; the array is used again by the next call. */
  at(s: number): Float64Array {
    const c = coefficients(s);
    while (this.basis.length < c.length) this.extend();
    const y = this.result;
    y.fill(0);
    for (let k = 0; k < c.length; k++) {
      const [term, factor] = [this.basis[k], c[k]];
      for (let i = 0; i < y.length; i++) y[i] += factor * term[i];
    }
    return y;
  }

  private extend(): void {
    const k = this.basis.length;
    const next = this.diffusion.multiply(this.basis[k - 1]);
    if (k > 1) {
      const before = this.basis[k - 2];
      for (let i = 0; i < next.length; i++) next[i] = 2 * next[i] - before[i];
    }
    this.basis.push(next);
  }
}

/** Return the number of edges from a node to every other; −1 = no path. */
export function hopDistances(adjacency: Adjacency, index: number): Int32Array {
  const { starts, targets } = adjacency;
  const hops = new Int32Array(starts.length - 1).fill(-1);
  const queue = new Uint32Array(hops.length);
  hops[index] = 0;
  queue[0] = index;
  let [head, tail] = [0, 1];
  while (head < tail) {
    const node = queue[head++];
    for (let p = starts[node]; p < starts[node + 1]; p++) {
      const other = targets[p];
      if (hops[other] >= 0) continue;
      hops[other] = hops[node] + 1;
      queue[tail++] = other;
    }
  }
  return hops;
}
