/** The graph on a plain canvas, for browsers without WebGL. */

import type { Scene } from "../data";
import { Affine, Look, View, ViewEvents, bounds, nearest, nodeSize } from "./view";

const PADDING = 26;
const REACH = 12;
const MOST_DOTS = 2000;

export class CanvasView implements View {
  readonly kind = "canvas";
  private readonly canvas: HTMLCanvasElement;
  private readonly sizes: Float32Array;
  private look: Look;
  private centre = { x: 0.5, y: 0.5 };
  private scale = 1; // 1 = the whole graph in view
  private frame = 0;
  private edges: ImageBitmap | null = null;
  private edgesOf = "";
  private readonly dots = new Map<string, ImageBitmap>();

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
    const { clientWidth, clientHeight } = this.container;
    return Math.max(40, Math.min(clientWidth, clientHeight) - 2 * PADDING);
  }

  transform(): Affine {
    const k = this.side * this.scale;
    const { clientWidth, clientHeight } = this.container;
    return {
      a: k, b: 0, c: 0, d: -k,
      e: clientWidth / 2 - k * this.centre.x,
      f: clientHeight / 2 + k * this.centre.y,
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
      const { clientWidth, clientHeight } = this.container;
      const fits = Math.min(
        (clientWidth - 90) / (this.side * (box.x[1] - box.x[0]) || 1),
        (clientHeight - 90) / (this.side * (box.y[1] - box.y[0]) || 1),
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
    this.canvas.width = Math.max(1, Math.round(this.container.clientWidth * ratio));
    this.canvas.height = Math.max(1, Math.round(this.container.clientHeight * ratio));
    this.schedule();
  }

  snapshot(): HTMLCanvasElement[] {
    this.draw();
    return [this.canvas];
  }

  /** A disc as a picture: thousands of them are laid down faster than drawn. */
  private dot(colour: string, r: number, ratio: number): ImageBitmap {
    const pixels = Math.round(4 * r * ratio) / 4;
    const key = `${colour} ${pixels}`;
    const known = this.dots.get(key);
    if (known) return known;
    if (this.dots.size > MOST_DOTS) this.dots.clear();
    const side = 2 * Math.ceil(pixels) + 2;
    const sheet = new OffscreenCanvas(side, side);
    const context = sheet.getContext("2d")!;
    context.fillStyle = colour;
    context.beginPath();
    context.arc(side / 2, side / 2, pixels, 0, 2 * Math.PI);
    context.fill();
    const made = sheet.transferToImageBitmap();
    this.dots.set(key, made);
    return made;
  }

  private schedule(): void {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  private draw(): void {
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.container.clientWidth, this.container.clientHeight);
    const t = this.transform();
    const { x, y, n } = this.scene;
    const { from, to } = this.scene.edges;
    const view = JSON.stringify([t, this.look.edge, this.canvas.width, this.canvas.height]);
    if (view !== this.edgesOf || !this.edges) {
      // Edges stay as they are while colours change: they are drawn once for each view.
      this.edgesOf = view;
      this.edges?.close();
      const sheet = new OffscreenCanvas(this.canvas.width, this.canvas.height);
      const below = sheet.getContext("2d")!;
      below.setTransform(ratio, 0, 0, ratio, 0, 0);
      below.strokeStyle = this.look.edge;
      below.lineWidth = 0.7;
      below.beginPath();
      for (let e = 0; e < from.length; e++) {
        below.moveTo(t.e + t.a * x[from[e]], t.f + t.d * y[from[e]]);
        below.lineTo(t.e + t.a * x[to[e]], t.f + t.d * y[to[e]]);
      }
      below.stroke();
      this.edges = sheet.transferToImageBitmap();
    }
    context.drawImage(this.edges, 0, 0, this.canvas.width / ratio, this.canvas.height / ratio);
    const grow = Math.sqrt(Math.max(this.scale, 1));
    const { clientWidth, clientHeight } = this.container;
    for (let i = 0; i < n; i++) {
      const [left, top, r] = [t.e + t.a * x[i], t.f + t.d * y[i], this.sizes[i] * grow];
      if (left < -r || top < -r || left > clientWidth + r || top > clientHeight + r) continue;
      const dot = this.dot(this.look.colour(i), r, ratio);
      const half = dot.width / ratio / 2;
      context.drawImage(dot, left - half, top - half, 2 * half, 2 * half);
    }
    this.events.drawn();
  }
}
