/** The graph by sigma, in WebGL. */

import { UndirectedGraph } from "graphology";
import Sigma from "sigma";
import { EdgeLineProgram, EdgeRectangleProgram } from "sigma/rendering";

import type { Scene } from "../data";
import { Affine, Look, View, ViewEvents, bounds, nearest, nodeSize, roominess } from "./view";

const REACH = 16; // pixels around a click in which a node counts as meant
const HOVER = 7; // and around the pointer
const MANY_EDGES = 60_000;

export class WebglView implements View {
  readonly kind = "webgl";
  private readonly sigma: Sigma;
  private look: Look;

  constructor(
    private readonly scene: Scene,
    container: HTMLElement,
    look: Look,
    events: ViewEvents,
  ) {
    this.look = look;
    const graph = new UndirectedGraph({ allowSelfLoops: true });
    const room = roominess(Math.min(container.clientWidth, container.clientHeight) - 52);
    for (let i = 0; i < scene.n; i++) {
      const degree = scene.adjacency.starts[i + 1] - scene.adjacency.starts[i];
      graph.addNode(i, { x: scene.x[i], y: scene.y[i], size: room * nodeSize(scene.n, degree) });
    }
    const { from, to } = scene.edges;
    for (let e = 0; e < from.length; e++) {
      if (from[e] !== to[e]) graph.addUndirectedEdgeWithKey(e, from[e], to[e]);
    }
    const many = from.length > MANY_EDGES;
    this.sigma = new Sigma(graph, container, {
      allowInvalidContainer: true,
      renderLabels: false,
      stagePadding: 26,
      hideEdgesOnMove: many,
      minEdgeThickness: 0.9,
      defaultEdgeType: many ? "thin" : "line",
      edgeProgramClasses: { line: EdgeRectangleProgram, thin: EdgeLineProgram },
      minCameraRatio: 0.004,
      maxCameraRatio: 2.5,
      zoomDuration: 150,
      defaultDrawNodeHover: () => undefined,
      nodeReducer: (key, data) => ({ ...data, color: this.look.colour(Number(key)) }),
      edgeReducer: (_, data) => ({ ...data, color: this.look.edge, size: 1 }),
    });
    // Sigma asks the graphics card which node is where, which costs a third of a second when WebGL is
    // done in software; a search through the places costs nothing.
    (this.sigma as unknown as { getNodeAtPosition: (at: { x: number; y: number }) => string | null }).getNodeAtPosition =
      ({ x, y }) => {
        const found = nearest(this.transform(), scene.x, scene.y, x, y, HOVER);
        return found === null ? null : String(found);
      };
    this.sigma.on("clickNode", ({ node }) => events.click(Number(node)));
    this.sigma.on("clickStage", ({ event }) => {
      const found = nearest(this.transform(), scene.x, scene.y, event.x, event.y, REACH);
      if (found !== null) events.click(found);
    });
    this.sigma.on("enterNode", ({ node }) => events.hover(Number(node)));
    this.sigma.on("leaveNode", () => events.hover(null));
    this.sigma.on("afterRender", () => events.drawn());
  }

  paint(look: Look): void {
    this.look = look;
    this.sigma.refresh();
  }

  transform(): Affine {
    const o = this.sigma.graphToViewport({ x: 0, y: 0 });
    const i = this.sigma.graphToViewport({ x: 1, y: 0 });
    const j = this.sigma.graphToViewport({ x: 0, y: 1 });
    return { a: i.x - o.x, b: i.y - o.y, c: j.x - o.x, d: j.y - o.y, e: o.x, f: o.y };
  }

  fit(nodes: ArrayLike<number> | null, animate: boolean): void {
    const camera = this.sigma.getCamera();
    let state = { x: 0.5, y: 0.5, ratio: 1 };
    if (nodes && nodes.length) {
      const box = bounds(this.scene.x, this.scene.y, nodes);
      const { width, height } = this.sigma.getDimensions();
      const t = this.transform();
      // In pixels of the present camera, and from these to the wanted one.
      const spanX = Math.abs(t.a) * (box.x[1] - box.x[0]) + 90;
      const spanY = Math.abs(t.d) * (box.y[1] - box.y[0]) + 90;
      const ratio = camera.ratio * Math.max(spanX / width, spanY / height);
      const centre = this.sigma.viewportToFramedGraph(
        this.sigma.graphToViewport({ x: (box.x[0] + box.x[1]) / 2, y: (box.y[0] + box.y[1]) / 2 }),
      );
      state = { x: centre.x, y: centre.y, ratio: Math.max(0.06, Math.min(1, ratio)) };
    }
    if (animate) void camera.animate(state, { duration: 350 });
    else camera.setState(state);
  }

  zoom(factor: number): void {
    const camera = this.sigma.getCamera();
    void camera.animate({ ratio: camera.getBoundedRatio(camera.ratio / factor) }, { duration: 120 });
  }

  pan(dx: number, dy: number): void {
    const { width, height } = this.sigma.getDimensions();
    const target = this.sigma.viewportToFramedGraph({ x: width / 2 + dx, y: height / 2 + dy });
    this.sigma.getCamera().setState({ x: target.x, y: target.y });
  }

  resize(): void {
    this.sigma.resize();
    this.sigma.refresh();
  }

  snapshot(): HTMLCanvasElement[] {
    // WebGL keeps what it drew only until the task ends, so it is drawn in this one.
    this.sigma.refresh();
    const canvases = this.sigma.getCanvases();
    return [canvases.edges, canvases.nodes];
  }
}
