/** Small graphs for tests, and e^{-sL} of them by another way. */

import type { Adjacency } from "../src/data";

export function adjacencyOf(matrix: number[][]): Adjacency {
  const starts = [0];
  const targets: number[] = [];
  const weights: number[] = [];
  for (const row of matrix) {
    row.forEach((weight, j) => {
      if (weight) {
        targets.push(j);
        weights.push(weight);
      }
    });
    starts.push(targets.length);
  }
  return {
    starts: Uint32Array.from(starts),
    targets: Uint32Array.from(targets),
    weights: Float64Array.from(weights),
    degrees: Float64Array.from(matrix, (row) => row.reduce((a, b) => a + b, 0)),
  };
}

function product(a: number[][], b: number[][]): number[][] {
  return a.map((row) => b[0].map((_, j) => row.reduce((sum, value, k) => sum + value * b[k][j], 0)));
}

/** e^{-sL} of a graph with self-loops, by Taylor's series and repeated squaring. */
export function kernel(matrix: number[][], s: number, loops = 1): number[][] {
  const n = matrix.length;
  const looped = matrix.map((row, i) => row.map((value, j) => value + (i === j ? loops : 0)));
  const degrees = looped.map((row) => row.reduce((a, b) => a + b, 0));
  const squarings = 12;
  const step = looped.map((row, i) =>
    row.map((value, j) => (s / 2 ** squarings) * ((degrees[i] && degrees[j] ? value / Math.sqrt(degrees[i] * degrees[j]) : 0) - (i === j ? 1 : 0))));
  let power = matrix.map((_, i) => matrix.map((__, j) => Number(i === j)));
  let result = power;
  for (let k = 1; k <= 14; k++) {
    power = product(power, step).map((row) => row.map((value) => value / k));
    result = result.map((row, i) => row.map((value, j) => value + power[i][j]));
  }
  for (let k = 0; k < squarings; k++) result = product(result, result);
  return result;
}

/** A ring of n nodes with a chord, and one node that stands alone. */
export function ring(n: number): number[][] {
  const matrix = Array.from({ length: n + 1 }, () => new Array<number>(n + 1).fill(0));
  for (let i = 0; i < n; i++) {
    const j = (i + 1) % n;
    matrix[i][j] = matrix[j][i] = 1 + (i % 3);
  }
  matrix[0][n >> 1] = matrix[n >> 1][0] = 2;
  return matrix;
}
