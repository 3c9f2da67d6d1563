/**
 * Discs laid into pixels by hand: a graph's nodes over a picture of its edges.
 *
 * Twenty thousand calls of a canvas take most of a second where it is done in software; as many discs
 * of a few pixels each are some ten milliseconds of arithmetic.
 */

/** Return r | g << 8 | b << 16 of a colour such as #0072b2. */
export function packed(colour: string): number {
  const value = parseInt(colour.slice(1), 16);
  return (value >> 16) | (value & 0xff00) | ((value & 0xff) << 16);
}

/**
 * Lay an opaque disc over opaque pixels (RGBA, row by row); its rim is blended.
 *
 * A pixel is covered as far as its centre is inside, from half a pixel beyond the rim to half a pixel
 * within; a disc smaller than a pixel covers its share of it.
 */
export function layDisc(
  pixels: Uint8ClampedArray, width: number, height: number, x: number, y: number, r: number, colour: number,
): void {
  const [red, green, blue] = [colour & 0xff, (colour >> 8) & 0xff, (colour >> 16) & 0xff];
  const [left, right] = [Math.max(0, Math.floor(x - r - 0.5)), Math.min(width - 1, Math.floor(x + r + 0.5))];
  const [top, bottom] = [Math.max(0, Math.floor(y - r - 0.5)), Math.min(height - 1, Math.floor(y + r + 0.5))];
  const [outer, inner] = [(r + 0.5) * (r + 0.5), r > 0.5 ? (r - 0.5) * (r - 0.5) : -1];
  const most = Math.min(1, Math.PI * r * r);
  for (let row = top; row <= bottom; row++) {
    const dy = row + 0.5 - y;
    let p = 4 * (row * width + left);
    for (let column = left; column <= right; column++, p += 4) {
      const dx = column + 0.5 - x;
      const square = dx * dx + dy * dy;
      if (square >= outer) continue;
      if (square <= inner) {
        pixels[p] = red;
        pixels[p + 1] = green;
        pixels[p + 2] = blue;
        continue;
      }
      const part = Math.min(most, r + 0.5 - Math.sqrt(square));
      pixels[p] += part * (red - pixels[p]);
      pixels[p + 1] += part * (green - pixels[p + 1]);
      pixels[p + 2] += part * (blue - pixels[p + 2]);
    }
  }
}
