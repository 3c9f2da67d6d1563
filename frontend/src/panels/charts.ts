/** Two small pictures: the filter e^{-sλ}, and the heat on its hop rings. */

import { h, svg } from "../dom";
import type { Explorer } from "../explorer";
import { heatPlace } from "../colours";

const WIDTH = 190;
const HEIGHT = 150;
const LEFT = 24;
const BOTTOM = 22;
const TOP = 8;

function place(lambda: number, y: number): string {
  const x = LEFT + (lambda / 2) * (WIDTH - LEFT - 6);
  const down = TOP + ((1 - y) / 2) * (HEIGHT - TOP - BOTTOM);
  return `${x.toFixed(1)} ${down.toFixed(1)}`;
}

function curve(f: (lambda: number) => number): string {
  const points: string[] = [];
  for (let k = 0; k <= 80; k++) points.push(place(k / 40, f(k / 40)));
  return `M${points.join("L")}`;
}

/** Responses over the frequencies λ of the graph, in [0, 2]. */
export class FilterChart {
  readonly element: HTMLElement;
  private readonly heat: SVGPathElement;
  private readonly label: HTMLElement;

  constructor(private readonly explorer: Explorer) {
    this.heat = svg("path", { class: "curve curve-heat" });
    const text = (x: number, y: number, words: string, anchor: string): SVGTextElement =>
      svg("text", { x, y, "text-anchor": anchor, class: "tick" }, words);
    const at = (lambda: number, y: number): [number, number] => {
      const [x, down] = place(lambda, y).split(" ").map(Number);
      return [x, down];
    };
    const [x0, zero] = at(0, 0);
    const [x2] = at(2, 0);
    const frame = svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-labelledby": "filter-caption" },
      svg("line", { x1: x0, x2, y1: zero, y2: zero, class: "axis" }),
      svg("line", { x1: x0, x2: x0, y1: at(0, 1)[1], y2: at(0, -1)[1], class: "axis" }),
      text(x0 - 4, at(0, 1)[1] + 4, "1", "end"),
      text(x0 - 4, zero + 4, "0", "end"),
      text(x0 - 4, at(0, -1)[1] + 4, "−1", "end"),
      text(x0, HEIGHT - 8, "λ = 0", "start"),
      text(x2, HEIGHT - 8, "2", "end"),
      svg("path", { class: "curve curve-cheby", d: curve((l) => l / 2) }),
      svg("path", { class: "curve curve-cheby2", d: curve((l) => (l / 2) ** 2) }),
      svg("path", { class: "curve curve-gcn", d: curve((l) => 1 - l) }),
      this.heat,
    );
    this.label = h("span", {});
    const key = (name: string, ...words: (string | Node)[]): HTMLElement =>
      h("li", {}, h("span", { class: `key key-${name}`, "aria-hidden": "true" }), h("span", {}, ...words));
    this.element = h(
      "figure",
      { class: "chart" },
      h("figcaption", { id: "filter-caption" }, "Frequency response"),
      frame,
      h("ul", { class: "keys" },
        key("heat", this.label),
        key("gcn", "GCN, 1 − λ"),
        key("cheby", "ChebyNet, λ and λ² (scaled)")),
    );
    explorer.listen((changed) => changed.has("s") && this.update());
    this.update();
  }

  private update(): void {
    const { s } = this.explorer.state;
    this.heat.setAttribute("d", curve((lambda) => Math.exp(-s * lambda)));
    this.label.textContent = `heat, e^(−${Number(s.toFixed(2))}·λ)`;
  }
}

/** Neighbours by hops: the rings are the hops, the dots are what heat reaches. */
export class RingChart {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { class: "rings", width: WIDTH * 2, height: WIDTH * 2, "aria-hidden": "true" });
  private angles: Float32Array | null = null;
  private angled = -1;

  constructor(private readonly explorer: Explorer) {
    this.element = h(
      "figure",
      { class: "chart" },
      h("figcaption", {}, "Heat against hop rings"),
      this.canvas,
      h("p", { class: "hint" }, "Rings: hops. Dots: neighbours, the warmer the larger."),
    );
    explorer.listen(() => explorer.state.tab === "heat" && this.draw());
    this.draw();
  }

  /** Spread the nodes of each ring evenly, in the order in which they lie around the source. */
  private spread(): Float32Array {
    const near = this.explorer.near!;
    if (this.angles && this.angled === near.index) return this.angles;
    const { x, y, n } = this.explorer.scene;
    const rings = new Map<number, number[]>();
    for (let i = 0; i < n; i++) {
      if (near.hops[i] < 1) continue;
      const ring = rings.get(near.hops[i]);
      if (ring) ring.push(i);
      else rings.set(near.hops[i], [i]);
    }
    const raw = new Float32Array(n);
    for (let i = 0; i < n; i++) raw[i] = Math.atan2(y[i] - y[near.index], x[i] - x[near.index]);
    const angles = new Float32Array(n);
    for (const ring of rings.values()) {
      ring.sort((a, b) => raw[a] - raw[b] || a - b);
      ring.forEach((node, k) => (angles[node] = ((k + 0.5) / ring.length) * 2 * Math.PI));
    }
    [this.angles, this.angled] = [angles, near.index];
    return angles;
  }

  private draw(): void {
    const { near, theme } = this.explorer;
    const context = this.canvas.getContext("2d");
    if (!context || !near) return;
    const [width, height] = [WIDTH, WIDTH];
    context.setTransform(2, 0, 0, 2, 0, 0);
    context.clearRect(0, 0, width, height);
    const shown = Math.max(3, Math.min(near.range, 8));
    const [cx, cy] = [width / 2, height / 2];
    // The inner rings get more room: they are what heat is compared with.
    const far = Math.min(width, height) / 2 - 8;
    const out = (hop: number): number => far * (hop / shown) ** 0.72;
    for (let hop = shown; hop >= 1; hop--) {
      context.beginPath();
      context.arc(cx, cy, out(hop), 0, 2 * Math.PI);
      if (hop <= 3) {
        context.fillStyle = theme.ball;
        context.globalAlpha = 0.05;
        context.fill();
      }
      context.globalAlpha = hop <= 3 ? 0.5 : 0.2;
      context.strokeStyle = theme.ball;
      context.lineWidth = 1;
      context.stroke();
    }
    context.globalAlpha = 1;
    const angles = this.spread();
    for (let k = Math.min(near.neighbours.length, 4000) - 1; k >= 0; k--) {
      const node = near.neighbours[k];
      const hop = near.hops[node];
      if (hop > shown) continue;
      const where = heatPlace(near.heat[node], near.eps, this.explorer.heatTop);
      context.beginPath();
      context.arc(
        cx + out(hop) * Math.cos(angles[node]), cy - out(hop) * Math.sin(angles[node]),
        1 + 4 * where * where, 0, 2 * Math.PI,
      );
      context.fillStyle = this.explorer.heatColour(near.heat[node]);
      context.fill();
    }
    context.beginPath();
    context.arc(cx, cy, 5, 0, 2 * Math.PI);
    context.fillStyle = this.explorer.heatColour(near.selfWeight);
    context.fill();
    context.strokeStyle = theme.ink;
    context.lineWidth = 1.5;
    context.stroke();
    context.font = "10px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let hop = 1; hop <= Math.min(3, shown); hop++) {
      context.fillStyle = theme.background;
      context.beginPath();
      context.arc(cx, cy - out(hop), 6.5, 0, 2 * Math.PI);
      context.fill();
      context.fillStyle = theme.ball;
      context.fillText(String(hop), cx, cy - out(hop) + 0.5);
    }
  }
}
