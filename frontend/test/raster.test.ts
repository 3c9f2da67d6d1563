import assert from "node:assert/strict";
import { test } from "node:test";

import { layDisc, packed } from "../src/views/raster";

const SIDE = 24;

function laid(x: number, y: number, r: number): Uint8ClampedArray {
  const pixels = new Uint8ClampedArray(4 * SIDE * SIDE);
  for (let p = 3; p < pixels.length; p += 4) pixels[p] = 255;
  layDisc(pixels, SIDE, SIDE, x, y, r, packed("#ff8000"));
  return pixels;
}

test("a colour's channels are where pixels have them", () => {
  const bytes = laid(12, 12, 5);
  const middle = 4 * (12 * SIDE + 12);
  assert.deepEqual([...bytes.subarray(middle, middle + 4)], [255, 128, 0, 255]);
});

test("a disc covers its area, wherever its centre is in a pixel", () => {
  for (const r of [0.3, 0.9, 1.7, 4.2, 8]) {
    for (const off of [0, 0.25, 0.5]) {
      const red = laid(12 + off, 12 - off, r).filter((_, p) => p % 4 === 0).reduce((sum, value) => sum + value / 255, 0);
      const area = Math.PI * r * r;
      assert.ok(Math.abs(red - area) < 0.25 * area + 0.15, `${r} at ${off}: ${red} of ${area}`);
    }
  }
});

test("what is outside of the picture is left out", () => {
  assert.deepEqual(laid(-40, 12, 5), laid(12, 400, 5));
  const cut = laid(0, 0, 5);
  assert.equal(cut[0], 255);
  assert.equal(cut[4 * (SIDE - 1)], 0);
});
