/** What the page asks of whatever draws the graph. */

/** Screen = (e + a·x + c·y, f + b·x + d·y), in CSS pixels of the view. */
export interface Affine {
  a: number;
  b: number;
  c: number;
  d: number;
  e: number;
  f: number;
}

export interface ViewEvents {
  click(node: number): void;
  hover(node: number | null): void;
  drawn(): void;
}

export interface Look {
  colour(node: number): string;
  edge: string;
  background: string;
}

export interface View {
  readonly kind: "webgl" | "canvas";
  /** Colour every node and edge anew. */
  paint(look: Look): void;
  transform(): Affine;
  /** Bring nodes into view; null: all of them. */
  fit(nodes: ArrayLike<number> | null, animate: boolean): void;
  zoom(factor: number): void;
  pan(dx: number, dy: number): void;
  resize(): void;
  /** Draw now, and return the canvases to lay over each other. */
  snapshot(): HTMLCanvasElement[];
}

export function apply(t: Affine, x: number, y: number): [number, number] {
  return [t.e + t.a * x + t.c * y, t.f + t.b * x + t.d * y];
}

export function nodeSize(n: number, degree: number): number {
  return Math.max(0.9, Math.min(6, 120 / Math.sqrt(n))) + 0.3 * Math.sqrt(Math.min(degree, 100));
}

/** How much smaller nodes are where the graph has little room, so that they do not become one blot. */
export function roominess(side: number): number {
  return Math.max(0.5, Math.min(1, Math.sqrt(side / 620)));
}

/** Return the node nearest to a point of the screen, within a radius, or null. */
export function nearest(
  t: Affine,
  xs: Float32Array,
  ys: Float32Array,
  px: number,
  py: number,
  radius: number,
): number | null {
  let best: number | null = null;
  let least = radius * radius;
  for (let i = 0; i < xs.length; i++) {
    const dx = t.e + t.a * xs[i] + t.c * ys[i] - px;
    const dy = t.f + t.b * xs[i] + t.d * ys[i] - py;
    const square = dx * dx + dy * dy;
    if (square < least) [best, least] = [i, square];
  }
  return best;
}

export function bounds(
  xs: Float32Array,
  ys: Float32Array,
  nodes: ArrayLike<number>,
): { x: [number, number]; y: [number, number] } {
  const x: [number, number] = [Infinity, -Infinity];
  const y: [number, number] = [Infinity, -Infinity];
  for (let k = 0; k < nodes.length; k++) {
    const i = nodes[k];
    x[0] = Math.min(x[0], xs[i]);
    x[1] = Math.max(x[1], xs[i]);
    y[0] = Math.min(y[0], ys[i]);
    y[1] = Math.max(y[1], ys[i]);
  }
  return { x, y };
}
