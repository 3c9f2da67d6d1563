/** What lies over the graph: the heat, the hop rings, the chosen nodes and their names. */

import { heatPlace } from "../colours";
import type { Explorer } from "../explorer";
import { Affine, apply, nodeSize } from "./view";

const EDGE_STEPS = 6;
const MOST_EDGES = 40_000;

interface Label {
  node: number;
  text: string;
  strong: boolean;
}

const LABEL_LETTERS = 28;

export class Overlay {
  readonly canvas = document.createElement("canvas");

  constructor(private readonly explorer: Explorer) {
    this.canvas.className = "overlay";
    this.canvas.setAttribute("aria-hidden", "true");
  }

  resize(width: number, height: number): void {
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.max(1, Math.round(width * ratio));
    this.canvas.height = Math.max(1, Math.round(height * ratio));
  }

  draw(t: Affine): void {
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const { state } = this.explorer;
    if (this.explorer.heatShown) {
      this.drawEdges(context, t);
      if (state.ball) this.drawBall(context, t);
      this.drawHeat(context, t);
      this.drawMarks(context, t);
    } else if (state.filter) this.drawFiltered(context, t);
    if (state.tab === "label") this.drawAsked(context, t);
    this.drawHover(context, t);
  }

  /** Whether the graph below should step back. */
  get active(): boolean {
    return this.explorer.heatShown || this.explorer.state.filter !== null;
  }

  private size(node: number, t: Affine): number {
    const { starts } = this.explorer.scene.adjacency;
    const grow = Math.min(2.2, Math.max(0.5, Math.sqrt(Math.abs(t.a) / 620)));
    return nodeSize(this.explorer.scene.n, starts[node + 1] - starts[node]) * grow;
  }

  private radius(node: number, t: Affine): number {
    const near = this.explorer.near!;
    const place = heatPlace(near.heat[node], near.eps, this.explorer.heatTop);
    const zoom = Math.min(2, Math.max(0.8, Math.sqrt(Math.abs(t.a) / 700)));
    // A crowd gets smaller dots, so that it does not become a blot.
    const grow = zoom * Math.max(0.5, Math.min(1, Math.sqrt(160 / (near.neighbours.length + 1)) + 0.25));
    return Math.max((1.6 + 6.5 * place * place) * grow, 0.7 * this.size(node, t) * grow);
  }

  private drawEdges(context: CanvasRenderingContext2D, t: Affine): void {
    const { explorer } = this;
    const near = explorer.near!;
    const { scene, theme, state } = explorer;
    const { starts, targets } = scene.adjacency;
    const inHeat = (i: number): boolean => near.heat[i] >= near.eps && near.heat[i] > 0;
    const buckets: number[][] = Array.from({ length: EDGE_STEPS }, () => []);
    let drawn = 0;
    const nodes = [near.index, ...near.neighbours];
    for (const a of nodes) {
      for (let p = starts[a]; p < starts[a + 1]; p++) {
        const b = targets[p];
        if (b >= a || !inHeat(b) || drawn > MOST_EDGES) continue;
        const place = heatPlace(Math.min(near.heat[a], near.heat[b]), near.eps, explorer.heatTop);
        buckets[Math.min(EDGE_STEPS - 1, Math.floor(place * EDGE_STEPS))].push(a, b);
        drawn++;
      }
    }
    buckets.forEach((pairs, k) => {
      const place = (k + 0.5) / EDGE_STEPS;
      const weight = explorer.heatTop * (near.eps / explorer.heatTop) ** (1 - place);
      context.strokeStyle = state.mode === "heat" ? explorer.heatColour(weight) : theme.node;
      context.globalAlpha = 0.22 + 0.5 * place;
      context.lineWidth = 0.6 + 1.3 * place;
      context.beginPath();
      for (let q = 0; q < pairs.length; q += 2) {
        const [x1, y1] = apply(t, scene.x[pairs[q]], scene.y[pairs[q]]);
        const [x2, y2] = apply(t, scene.x[pairs[q + 1]], scene.y[pairs[q + 1]]);
        context.moveTo(x1, y1);
        context.lineTo(x2, y2);
      }
      context.stroke();
    });
    context.globalAlpha = 1;
  }

  /** Outline the nodes within some hops: what a neighbourhood of fixed range would take. */
  private drawBall(context: CanvasRenderingContext2D, t: Affine): void {
    const near = this.explorer.near!;
    const { scene, theme, state } = this.explorer;
    context.strokeStyle = theme.ball;
    context.lineWidth = 1.5;
    for (let i = 0; i < scene.n; i++) {
      if (near.hops[i] < 1 || near.hops[i] > state.ball) continue;
      const [x, y] = apply(t, scene.x[i], scene.y[i]);
      const reached = near.heat[i] >= near.eps;
      context.beginPath();
      context.arc(x, y, (reached ? this.radius(i, t) : this.size(i, t)) + 2.5, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  private drawHeat(context: CanvasRenderingContext2D, t: Affine): void {
    const { explorer } = this;
    const near = explorer.near!;
    const { scene, theme, state } = explorer;
    const colour = explorer.colouring();
    for (let k = near.neighbours.length - 1; k >= 0; k--) {
      const node = near.neighbours[k];
      if (state.filter && !explorer.matches(state.filter, node)) continue;
      const [x, y] = apply(t, scene.x[node], scene.y[node]);
      const r = this.radius(node, t);
      context.fillStyle = colour(node);
      context.beginPath();
      context.arc(x, y, r, 0, 2 * Math.PI);
      context.fill();
      const own = state.mode === "heat" ? explorer.classColour(node) : null;
      if (own) {
        // The class stays in sight: a ring around the colour of heat.
        context.strokeStyle = own;
        context.lineWidth = Math.max(1.2, Math.min(2.6, r / 2.6));
        context.stroke();
      } else if (r > 3) {
        context.strokeStyle = theme.background;
        context.lineWidth = 0.8;
        context.stroke();
      }
    }
  }

  private drawFiltered(context: CanvasRenderingContext2D, t: Affine): void {
    const { explorer } = this;
    const { scene, state } = explorer;
    const colour = explorer.colouring();
    for (let i = 0; i < scene.n; i++) {
      if (!explorer.matches(state.filter!, i)) continue;
      const [x, y] = apply(t, scene.x[i], scene.y[i]);
      context.fillStyle = colour(i);
      context.beginPath();
      context.arc(x, y, this.size(i, t) + 0.8, 0, 2 * Math.PI);
      context.fill();
    }
  }

  /** The source, and the two nodes of the comparison, by name. */
  private drawMarks(context: CanvasRenderingContext2D, t: Affine): void {
    const { explorer } = this;
    const near = explorer.near!;
    const { scene, theme } = explorer;
    const [x, y] = apply(t, scene.x[near.index], scene.y[near.index]);
    const r = Math.max(7, this.radius(near.index, t));
    context.beginPath();
    context.arc(x, y, r, 0, 2 * Math.PI);
    context.fillStyle = explorer.colour(near.index);
    context.fill();
    context.lineWidth = 2.5;
    context.strokeStyle = theme.ink;
    context.stroke();
    context.beginPath();
    context.arc(x, y, r + 4, 0, 2 * Math.PI);
    context.lineWidth = 1.5;
    context.strokeStyle = theme.ink;
    context.stroke();
    const labels: Label[] = [{ node: near.index, text: shortened(explorer.nodeName(near.index)), strong: true }];
    if (near.case) {
      for (const node of [near.case.far, near.case.near]) {
        const [cx, cy] = apply(t, scene.x[node], scene.y[node]);
        context.beginPath();
        context.arc(cx, cy, this.radius(node, t) + 2.5, 0, 2 * Math.PI);
        context.lineWidth = 1.5;
        context.stroke();
        labels.push({ node, text: shortened(explorer.nodeName(node)), strong: false });
      }
    }
    this.drawLabels(context, t, labels);
  }

  private drawLabels(
    context: CanvasRenderingContext2D,
    t: Affine,
    labels: Label[],
    size: (node: number) => number = (node) => this.radius(node, t),
  ): void {
    const { scene, theme } = this.explorer;
    // Boxes that a name must not cover: the marked nodes, then the names before it.
    const taken: [number, number, number, number][] = labels.map(({ node }) => {
      const [x, y] = apply(t, scene.x[node], scene.y[node]);
      const r = Math.max(7, size(node)) + 4;
      return [x - r, y, 2 * r, 2 * r];
    });
    context.textBaseline = "middle";
    for (const { node, text, strong } of labels) {
      const shown = text.length > 28 ? `${text.slice(0, 27)}…` : text;
      context.font = `${strong ? "700 13px" : "600 12px"} system-ui, sans-serif`;
      const [x, y] = apply(t, scene.x[node], scene.y[node]);
      const away = Math.max(7, size(node)) + 8;
      const width = context.measureText(shown).width + 8;
      // To the right, or wherever no other name is yet.
      const spots = [
        [x + away, y], [x - away - width, y], [x - width / 2, y - away - 8],
        [x - width / 2, y + away + 8], [x + away, y - 16], [x + away, y + 16],
      ];
      const free = spots.find(([a, b]) =>
        taken.every(([p, q, w, tall]) => a > p + w || a + width < p || Math.abs(b - q) > 9 + tall / 2),
      );
      const [left, middle] = free ?? spots[0];
      taken.push([left, middle, width, 18]);
      context.fillStyle = theme.background;
      context.globalAlpha = 0.86;
      context.beginPath();
      context.roundRect(left, middle - 9, width, 18, 4);
      context.fill();
      context.globalAlpha = 1;
      context.fillStyle = theme.ink;
      context.fillText(shown, left + 4, middle + 0.5);
    }
  }

  /** The labels so far, and the node that is asked for, by name. */
  private drawAsked(context: CanvasRenderingContext2D, t: Affine): void {
    const { explorer } = this;
    const { scene, theme, labelling } = explorer;
    const disc = (node: number, r: number, fill: string | null, line: number): void => {
      const [x, y] = apply(t, scene.x[node], scene.y[node]);
      context.beginPath();
      context.arc(x, y, r, 0, 2 * Math.PI);
      if (fill) {
        context.fillStyle = fill;
        context.fill();
      }
      context.lineWidth = line;
      context.strokeStyle = theme.ink;
      context.stroke();
    };
    for (const [node, { kind, code }] of labelling.answers.entries()) {
      if (kind === "label") disc(node, Math.max(4.5, this.size(node, t) + 1), explorer.classColours.of(code, theme), 1.6);
    }
    const { asked } = explorer;
    if (asked === null) return;
    const r = Math.max(6, this.size(asked, t) + 1);
    disc(asked, r, explorer.classColour(asked) ?? theme.node, 2.4);
    disc(asked, r + 5, null, 1.6);
    this.drawLabels(context, t, [{ node: asked, text: shortened(explorer.nodeName(asked)), strong: true }], () => r + 4);
  }

  private drawHover(context: CanvasRenderingContext2D, t: Affine): void {
    const { hovered, scene, theme } = this.explorer;
    if (hovered === null) return;
    const [x, y] = apply(t, scene.x[hovered], scene.y[hovered]);
    context.beginPath();
    context.arc(x, y, this.size(hovered, t) + 3.5, 0, 2 * Math.PI);
    context.lineWidth = 2;
    context.strokeStyle = theme.ink;
    context.stroke();
  }
}

/** A title of many words would cover the nodes around it. */
function shortened(text: string): string {
  return text.length > LABEL_LETTERS ? `${text.slice(0, LABEL_LETTERS - 1).trimEnd()}…` : text;
}
