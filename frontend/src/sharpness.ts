/**
 * How sure shares should be: the factor of log-shares that labels find most likely.
 *
 * The same search with the same steps as the library's (`fit_log_scale` and SciPy's bounded search),
 * for it stops early, and where it stops depends on its steps.
 */

export interface Sharpness {
  factor: number;
  /** Mean cross-entropy that is left. */
  loss: number;
}

/** Fit e^v / spread, with the prior N(log 2, 1) on v; scores are row-major, m × classes. */
export function sharpnessOf(scores: Float64Array, codes: ArrayLike<number>, classes: number): Sharpness {
  const m = codes.length;
  const mean = scores.reduce((sum, value) => sum + value, 0) / scores.length;
  const variance = scores.reduce((sum, value) => sum + (value - mean) ** 2, 0) / scores.length;
  const spread = Math.max(Math.sqrt(variance), 1e-100);
  const loss = (v: number): number => {
    const scale = Math.exp(v) / spread;
    let total = 0;
    for (let k = 0; k < m; k++) {
      let top = -Infinity;
      for (let c = 0; c < classes; c++) top = Math.max(top, scores[k * classes + c] * scale);
      let sum = 0;
      for (let c = 0; c < classes; c++) sum += Math.exp(scores[k * classes + c] * scale - top);
      total += top + Math.log(sum) - scores[k * classes + codes[k]] * scale;
    }
    return total / m;
  };
  const v = boundedMinimum((at) => loss(at) + (at - Math.LN2) ** 2 / (2 * m), -5, 5, 0.01);
  return { factor: Math.exp(v) / spread, loss: loss(v) };
}

const GOLDEN = 0.5 * (3 - Math.sqrt(5));
const SMALL = Math.sqrt(2.2e-16);

/**
 * Return where a function of one number is least, between bounds, by golden sections and parabolas.
 *
 * R. P. Brent: Algorithms for Minimization Without Derivatives, 1973, chapter 5.
 */
export function boundedMinimum(f: (x: number) => number, low: number, high: number, accuracy: number): number {
  let [a, b] = [low, high];
  const first = a + GOLDEN * (b - a);
  // The best point so far, the second best, and the one that was second best before.
  let best = { x: first, y: f(first) };
  let second = best;
  let third = best;
  let [step, stepBefore] = [0, 0];
  for (let calls = 1; calls < 500; calls++) {
    const middle = 0.5 * (a + b);
    const least = SMALL * Math.abs(best.x) + accuracy / 3;
    if (Math.abs(best.x - middle) <= 2 * least - 0.5 * (b - a)) break;
    let parabolic = false;
    if (Math.abs(stepBefore) > least) {
      const r = (best.x - second.x) * (best.y - third.y);
      const q = (best.x - third.x) * (best.y - second.y);
      let top = (best.x - third.x) * q - (best.x - second.x) * r;
      let bottom = 2 * (q - r);
      if (bottom > 0) top = -top;
      bottom = Math.abs(bottom);
      const previous = stepBefore;
      stepBefore = step;
      parabolic =
        Math.abs(top) < Math.abs(0.5 * bottom * previous) && top > bottom * (a - best.x) && top < bottom * (b - best.x);
      if (parabolic) {
        step = top / bottom;
        const x = best.x + step;
        if (x - a < 2 * least || b - x < 2 * least) step = middle >= best.x ? least : -least;
      }
    }
    if (!parabolic) {
      stepBefore = best.x >= middle ? a - best.x : b - best.x;
      step = GOLDEN * stepBefore;
    }
    const x = best.x + (step >= 0 ? 1 : -1) * Math.max(Math.abs(step), least);
    const tried = { x, y: f(x) };
    if (tried.y <= best.y) {
      if (x >= best.x) a = best.x;
      else b = best.x;
      [third, second, best] = [second, best, tried];
    } else {
      if (x < best.x) a = x;
      else b = x;
      if (tried.y <= second.y || second.x === best.x) [third, second] = [second, tried];
      else if (tried.y <= third.y || third.x === best.x || third.x === second.x) third = tried;
    }
  }
  return best.x;
}
