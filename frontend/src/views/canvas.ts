/** The graph on a plain canvas, for browsers without WebGL. */

import type { Scene } from "../data";
import { layDisc, packed } from "./raster";
import { Affine, Look, View, ViewEvents, bounds, nearest, nodeSize, roominess } from "./view";

const PADDING = 26;
const REACH = 12;

export class CanvasView implements View {
  readonly kind = "canvas";
  private readonly canvas: HTMLCanvasElement;
  private readonly sizes: Float32Array;
  private look: Look;
  private centre = { x: 0.5, y: 0.5 };
  private scale = 1; // 1 = the whole graph in view
  private frame = 0;
  private box = { width: 1, height: 1 }; // the container's, read once: asking the page lays it out anew
  private edges: ImageData | null = null;
  private edgesOf = "";
  private picture: ImageData | null = null;

  constructor(
    private readonly scene: Scene,
    private readonly container: HTMLElement,
    look: Look,
    private readonly events: ViewEvents,
  ) {
    this.look = look;
    this.canvas = document.createElement("canvas");
    this.canvas.className = "plain-canvas";
    container.append(this.canvas);
    this.sizes = Float32Array.from({ length: scene.n }, (_, i) =>
      nodeSize(scene.n, scene.adjacency.starts[i + 1] - scene.adjacency.starts[i]),
    );
    this.listen();
    this.resize();
  }

  private listen(): void {
    const at = (event: PointerEvent | WheelEvent): [number, number] => {
      const box = this.container.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    let held: { x: number; y: number; moved: boolean } | null = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      const [x, y] = at(event);
      held = { x, y, moved: false };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      if (!held) {
        this.events.hover(nearest(this.transform(), this.scene.x, this.scene.y, x, y, 8));
        return;
      }
      if (!held.moved && Math.hypot(x - held.x, y - held.y) < 4) return;
      this.pan(held.x - x, held.y - y);
      held = { x, y, moved: true };
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (held && !held.moved) {
        const found = nearest(this.transform(), this.scene.x, this.scene.y, ...at(event), REACH);
        if (found !== null) this.events.click(found);
      }
      held = null;
    });
    this.canvas.addEventListener("pointerleave", () => this.events.hover(null));
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const [x, y] = at(event);
        const t = this.transform();
        const [gx, gy] = [(x - t.e) / t.a, (y - t.f) / t.d];
        this.scale = this.bounded(this.scale * Math.exp(-event.deltaY * 0.0015));
        const after = this.transform();
        this.pan(after.e + after.a * gx - x, after.f + after.d * gy - y);
      },
      { passive: false },
    );
  }

  private bounded(scale: number): number {
    return Math.max(0.4, Math.min(250, scale));
  }

  private get side(): number {
    return Math.max(40, Math.min(this.box.width, this.box.height) - 2 * PADDING);
  }

  transform(): Affine {
    const k = this.side * this.scale;
    return {
      a: k, b: 0, c: 0, d: -k,
      e: this.box.width / 2 - k * this.centre.x,
      f: this.box.height / 2 + k * this.centre.y,
    };
  }

  paint(look: Look): void {
    this.look = look;
    this.schedule();
  }

  fit(nodes: ArrayLike<number> | null): void {
    this.centre = { x: 0.5, y: 0.5 };
    this.scale = 1;
    if (nodes && nodes.length) {
      const box = bounds(this.scene.x, this.scene.y, nodes);
      this.centre = { x: (box.x[0] + box.x[1]) / 2, y: (box.y[0] + box.y[1]) / 2 };
      const fits = Math.min(
        (this.box.width - 90) / (this.side * (box.x[1] - box.x[0]) || 1),
        (this.box.height - 90) / (this.side * (box.y[1] - box.y[0]) || 1),
      );
      this.scale = Math.max(1, Math.min(16, fits));
    }
    this.schedule();
  }

  zoom(factor: number): void {
    this.scale = this.bounded(this.scale * factor);
    this.schedule();
  }

  pan(dx: number, dy: number): void {
    const k = this.side * this.scale;
    this.centre = { x: this.centre.x + dx / k, y: this.centre.y - dy / k };
    this.schedule();
  }

  resize(): void {
    const ratio = window.devicePixelRatio || 1;
    this.box = { width: this.container.clientWidth, height: this.container.clientHeight };
    this.canvas.width = Math.max(1, Math.round(this.box.width * ratio));
    this.canvas.height = Math.max(1, Math.round(this.box.height * ratio));
    this.schedule();
  }

  snapshot(): HTMLCanvasElement[] {
    this.draw();
    return [this.canvas];
  }

  private schedule(): void {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** Edges stay as they are while colours change: they are drawn once for each view. */
  private edgesIn(t: Affine, ratio: number): ImageData {
    const { width, height } = this.canvas;
    const { edge, background } = this.look;
    const view = JSON.stringify([t, edge, background, width, height]);
    if (view === this.edgesOf && this.edges) return this.edges;
    const { x, y } = this.scene;
    const { from, to } = this.scene.edges;
    const below = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true })!;
    below.fillStyle = background;
    below.fillRect(0, 0, width, height);
    below.setTransform(ratio, 0, 0, ratio, 0, 0);
    below.strokeStyle = edge;
    below.lineWidth = 0.7;
    below.beginPath();
    for (let e = 0; e < from.length; e++) {
      below.moveTo(t.e + t.a * x[from[e]], t.f + t.d * y[from[e]]);
      below.lineTo(t.e + t.a * x[to[e]], t.f + t.d * y[to[e]]);
    }
    below.stroke();
    [this.edgesOf, this.edges] = [view, below.getImageData(0, 0, width, height)];
    return this.edges;
  }

  private draw(): void {
    const context = this.canvas.getContext("2d", { willReadFrequently: true });
    if (!context) return;
    const { width, height } = this.canvas;
    const ratio = window.devicePixelRatio || 1;
    const t = this.transform();
    const edges = this.edgesIn(t, ratio);
    if (this.picture?.width !== width || this.picture.height !== height) this.picture = new ImageData(width, height);
    const pixels = this.picture.data;
    pixels.set(edges.data);
    const { x, y, n } = this.scene;
    const grow = ratio * roominess(this.side) * Math.sqrt(Math.max(this.scale, 1));
    const colours = new Map<string, number>();
    for (let i = 0; i < n; i++) {
      const [left, top, r] = [ratio * (t.e + t.a * x[i]), ratio * (t.f + t.d * y[i]), this.sizes[i] * grow];
      if (left < -r || top < -r || left > width + r || top > height + r) continue;
      const name = this.look.colour(i);
      let colour = colours.get(name);
      if (colour === undefined) colours.set(name, (colour = packed(name)));
      layDisc(pixels, width, height, left, top, r, colour);
    }
    context.putImageData(this.picture, 0, 0);
    this.events.drawn();
  }
}
