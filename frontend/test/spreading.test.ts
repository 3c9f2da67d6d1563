import assert from "node:assert/strict";
import { test } from "node:test";

import { Diffusion, coefficients } from "../src/heat";
import { boundedMinimum, sharpnessOf } from "../src/sharpness";
import { Spreading, TIMES } from "../src/spreading";
import { adjacencyOf, kernel, ring } from "./graph";

const MATRIX = ring(11);
const LABELS: [number, number][] = [[0, 0], [3, 1], [6, 0], [8, 1], [9, 2]];

function close(a: ArrayLike<number>, b: ArrayLike<number>, tolerance: number): void {
  assert.equal(a.length, b.length);
  for (let i = 0; i < a.length; i++) assert.ok(Math.abs(a[i] - b[i]) <= tolerance, `${i}: ${a[i]} is not ${b[i]}`);
}

test("coefficients are positive and sum to one but for the cut", () => {
  for (const s of [0, 0.3, 1, 10, 100]) {
    const c = coefficients(s, 1e-9);
    assert.ok(c.every((value) => value >= 0));
    assert.ok(Math.abs(c.reduce((a, b) => a + b, 0) - 1) <= 2e-9);
  }
});

test("a sweep is e^{-sL} at every time, with self-loops and without", () => {
  for (const loops of [0, 1]) {
    const diffusion = new Diffusion(adjacencyOf(MATRIX), loops);
    const unit = new Float64Array(12);
    unit[4] = 1;
    const found = diffusion.sweep(unit, TIMES.map((s) => coefficients(s, 1e-10)));
    TIMES.forEach((s, t) => close(found[t], kernel(MATRIX, s, loops)[4], 1e-8));
  }
});

test("shares are those of the formula, by the chosen s and sharpness", () => {
  const spreading = new Spreading(adjacencyOf(MATRIX));
  spreading.widen(3);
  for (const [node, code] of LABELS) spreading.set(node, code);
  const { s, sharpness, probabilities, reached } = spreading.spread()!;
  const heat = kernel(MATRIX, s);
  const own = LABELS.reduce((sum, [node]) => sum + heat[node][node], 0) / LABELS.length;
  const counts = [2, 2, 1];
  for (let i = 0; i < 12; i++) {
    const raw = counts.map((count, c) => {
      const warm = LABELS.filter((label) => label[1] === c).reduce((sum, [node]) => sum + heat[i][node], 0);
      return (warm + (1e-4 * own * (count + 1e-3)) / (5 + 3e-3)) ** sharpness;
    });
    const total = raw.reduce((a, b) => a + b, 0);
    // 5e-8 of heat that the cut costs, beside a trace of 1e-5.
    close(probabilities.subarray(3 * i, 3 * i + 3), raw.map((value) => value / total), 1e-4);
  }
  assert.equal(reached[11], 0); // nothing comes to the node that stands alone
  assert.equal(reached[1], 1);
});

test("labels in any order, changed and taken back, or all at once give the same", () => {
  const one = new Spreading(adjacencyOf(MATRIX));
  for (const [node, code] of LABELS) one.set(node, code);
  const two = new Spreading(adjacencyOf(MATRIX));
  two.set(5, 1);
  for (const [node, code] of [...LABELS].reverse()) {
    two.set(node, 2 - code);
    two.set(node, code);
  }
  two.set(5, -1);
  const three = new Spreading(adjacencyOf(MATRIX));
  for (const _ of three.setAll(LABELS, 3)) void _;
  const wanted = one.spread()!;
  for (const other of [two.spread()!, three.spread()!]) {
    assert.equal(other.s, wanted.s);
    close(other.probabilities, wanted.probabilities, 1e-9);
  }
});

test("without two labels of a class s is 10, and without a label there is nothing", () => {
  const spreading = new Spreading(adjacencyOf(MATRIX));
  assert.equal(spreading.spread(), null);
  spreading.set(2, 0);
  spreading.set(7, 1);
  const { s, sharpness } = spreading.spread()!;
  assert.deepEqual([s, sharpness], [10, 1]);
});

test("the bounded search finds a minimum, also at a bound", () => {
  assert.ok(Math.abs(boundedMinimum((x) => (x - 1.3) ** 2, -5, 5, 1e-6) - 1.3) < 1e-5);
  assert.ok(boundedMinimum((x) => -x, -5, 5, 1e-6) > 4.99);
});

test("labels that scores foretell make them sharper than labels that they do not", () => {
  const scores = new Float64Array([2, 0, 0, 2, 2, 0, 0, 2]);
  assert.ok(sharpnessOf(scores, [0, 1, 0, 1], 2).factor > sharpnessOf(scores, [1, 0, 0, 1], 2).factor);
});
