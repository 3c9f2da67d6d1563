/** The graph itself: a view, the overlay, and how to move about in it. */

import { faded } from "./colours";
import { h, percent, plural, weightText, words } from "./dom";
import type { Changed, Explorer } from "./explorer";
import { Legend } from "./legend";
import { otherName } from "./panels/parts";
import { CanvasView } from "./views/canvas";
import { Overlay } from "./views/overlay";
import { Look, View, ViewEvents, apply } from "./views/view";
import { WebglView } from "./views/webgl";

const FEW_EDGES = 60_000; // that a plain canvas, which keeps them between colourings, draws quickly

export class Stage {
  readonly element: HTMLElement;
  private view!: View;
  private readonly overlay: Overlay;
  private readonly container = h("div", { class: "canvas-box" });
  private readonly tooltip = h("div", { class: "tooltip", hidden: true, "aria-hidden": "true" });
  private readonly chip = h("div", { class: "filter-chip", hidden: true });
  private readonly mine = h("div", { class: "mine-chip", hidden: true });
  private readonly message = h("p", { class: "no-webgl", hidden: true },
    "WebGL is not available here: the graph is drawn on a plain canvas, which is slower.");
  private dimmed = false;
  private box = { width: 0, height: 0 }; // of the graph, in CSS pixels, as of the last change of it

  constructor(private readonly explorer: Explorer) {
    this.overlay = new Overlay(explorer);
    const button = (label: string, sign: string, act: () => void): HTMLElement =>
      h("button", { type: "button", title: label, "aria-label": label, click: act }, sign);
    this.element = h(
      "section",
      { class: "stage", "aria-label": "Graph", tabindex: "0", "aria-describedby": "keys-hint",
        keydown: (event: KeyboardEvent) => this.key(event) },
      h("div", { class: "viewport" },
        this.container,
        this.overlay.canvas,
        h("p", { id: "keys-hint", class: "for-readers" },
          "A picture of the graph. Arrow keys move it, plus and minus zoom, 0 shows all. The search box and the tables reach every node."),
        h("div", { class: "stage-top" }, this.mine, this.chip, this.message),
        h("div", { class: "zoom" },
          button("Zoom in", "+", () => this.view.zoom(1.5)),
          button("Zoom out", "−", () => this.view.zoom(1 / 1.5)),
          button("Show the whole graph", "⤢", () => this.view.fit(null, true))),
        this.tooltip),
      new Legend(explorer).element,
    );
  }

  get kind(): string {
    return this.view.kind;
  }

  /** Draw; the element must be in the page, for it needs a size. */
  open(): void {
    const { explorer } = this;
    const events: ViewEvents = {
      click: (node) => explorer.select(node),
      hover: (node) => this.hover(node),
      drawn: () => this.overlay.draw(this.view.transform()),
    };
    this.measure();
    this.dimmed = this.overlay.active;
    // A view draws while it is built, before it can be asked where things are.
    let built = false;
    const waiting: ViewEvents = { ...events, drawn: () => built && events.drawn() };
    const canvas = (): View => new CanvasView(explorer.scene, this.container, this.look(), waiting);
    const { draw } = explorer.state;
    const few = explorer.scene.edges.from.length <= FEW_EDGES;
    if (draw === "canvas" || (draw === "auto" && few && webglIsSlow())) this.view = canvas();
    else {
      try {
        this.view = new WebglView(explorer.scene, this.container, this.look(), waiting);
      } catch {
        // Without a context sigma cannot be built; what it had put there goes.
        this.container.replaceChildren();
        this.message.hidden = false;
        this.view = canvas();
      }
    }
    built = true;
    new ResizeObserver(() => {
      this.measure();
      this.view.resize();
    }).observe(this.container);
    explorer.listen((changed) => this.changed(changed));
    if (explorer.heatShown) this.focus(false);
    this.showChip();
    events.drawn();
  }

  private measure(): void {
    this.box = { width: this.container.clientWidth, height: this.container.clientHeight };
    this.overlay.resize(this.box.width, this.box.height);
  }

  private look(): Look {
    const { explorer } = this;
    const { theme } = explorer;
    if (this.overlay.active) {
      // The others step back, but keep their class's colour.
      const pale = new Map<string, string>();
      const { scene, classColours } = explorer;
      const codes = scene.predicted ?? scene.labels;
      const colour = (node: number): string => {
        const own = codes[node] < 0 ? theme.node : classColours.of(codes[node], theme);
        if (!pale.has(own)) pale.set(own, faded(own, theme));
        return pale.get(own)!;
      };
      return { colour, edge: theme.dimEdge, background: theme.background };
    }
    return { colour: explorer.colouring(), edge: theme.edge, background: theme.background };
  }

  private changed(changed: Changed): void {
    const dim = this.overlay.active;
    // Under the overlay the graph is grey whatever happens: a slider never repaints it.
    if (changed.has("theme") || changed.has("labels") || dim !== this.dimmed || (!dim && changed.has("mode"))) {
      this.dimmed = dim;
      this.view.paint(this.look());
    }
    if (this.explorer.state.tab === "label") this.bringIntoView();
    else if (changed.has("node")) {
      if (this.explorer.near) this.focus(true);
      else if (!this.explorer.state.filter) this.view.fit(null, true);
    }
    if (changed.has("filter") || changed.has("labels") || changed.has("mine") || changed.has("tab")) this.showChip();
    this.overlay.draw(this.view.transform());
  }

  /** Bring into view what holds most of the heat. */
  private focus(animate: boolean): void {
    const near = this.explorer.near!;
    const close = near.neighbours.subarray(0, 400).filter((node) => near.hops[node] <= 2).subarray(0, 60);
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.view.fit([near.index, ...close], animate && !calm);
  }

  /** Move only where the node that is asked for is out of sight: one watches the whole graph change. */
  private bringIntoView(): void {
    const asked = this.explorer.asked;
    if (asked === null) return;
    const { scene } = this.explorer;
    const [x, y] = apply(this.view.transform(), scene.x[asked], scene.y[asked]);
    const { width, height } = this.box;
    if (x > 20 && y > 20 && x < width - 20 && y < height - 20) return;
    this.view.fit(null, true);
  }

  private showChip(): void {
    const { explorer } = this;
    const { filter, mine, tab } = explorer.state;
    this.mine.hidden = !mine || tab === "label" || !explorer.scene.predicted;
    if (!this.mine.hidden) {
      const back = explorer.own.predicted ? "Show the run's predictions" : "Show what the page came with";
      this.mine.replaceChildren(
        h("span", {}, `By your ${plural(explorer.labelling.answers.labelled, "label")}`),
        h("button", { type: "button", class: "plain", "aria-label": back, title: back, click: () => explorer.set({ mine: false }) }, "×"));
    }
    this.chip.hidden = filter === null;
    if (!filter) return;
    this.chip.replaceChildren(
      h("span", {}, "Only ", words(this.explorer.filterText(filter))),
      h("button", { type: "button", class: "plain", "aria-label": "Remove the filter", click: () => this.explorer.set({ filter: null }) }, "×"),
    );
  }

  private hover(node: number | null): void {
    const { explorer } = this;
    explorer.hovered = node;
    this.overlay.draw(this.view.transform());
    this.container.style.cursor = node === null ? "" : "pointer";
    this.tooltip.hidden = node === null;
    if (node === null) return;
    const { scene, near } = explorer;
    const other = otherName(explorer, node);
    const lines: (HTMLElement | null)[] = [
      h("b", {}, words(explorer.nodeName(node))),
      other ? h("span", {}, words(other)) : null,
    ];
    const code = scene.predicted ? scene.predicted[node] : scene.labels[node];
    if (code >= 0) {
      const known = scene.labelled && scene.labels[node] >= 0;
      const sure = known ? ", your label" : scene.confidence ? `, ${percent(scene.confidence[node], 0)} sure` : "";
      lines.push(h("span", {}, words(scene.classes[code]), sure));
    }
    if (near && explorer.heatShown) lines.push(h("span", {}, `heat ${weightText(near.heat[node])}, ${near.hops[node] < 0 ? "no path" : `${near.hops[node]} hops`}`));
    this.tooltip.replaceChildren(...lines.filter((line): line is HTMLElement => line !== null));
    const [x, y] = apply(this.view.transform(), scene.x[node], scene.y[node]);
    const left = Math.min(x + 14, this.container.clientWidth - 210);
    this.tooltip.style.left = `${Math.max(4, left)}px`;
    this.tooltip.style.top = `${Math.max(4, Math.min(y + 14, this.container.clientHeight - 90))}px`;
  }

  key(event: KeyboardEvent): void {
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves: Record<string, () => void> = {
      ArrowLeft: () => this.view.pan(-60, 0),
      ArrowRight: () => this.view.pan(60, 0),
      ArrowUp: () => this.view.pan(0, -60),
      ArrowDown: () => this.view.pan(0, 60),
      "+": () => this.view.zoom(1.4),
      "=": () => this.view.zoom(1.4),
      "-": () => this.view.zoom(1 / 1.4),
      "0": () => this.view.fit(null, true),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  }

  /** Where a node is on the screen, in CSS pixels of the page. */
  where(node: number): { x: number; y: number } {
    const box = this.container.getBoundingClientRect();
    const [x, y] = apply(this.view.transform(), this.explorer.scene.x[node], this.explorer.scene.y[node]);
    return { x: box.left + x, y: box.top + y };
  }

  /** The view as one picture. */
  picture(): HTMLCanvasElement {
    const layers = this.view.snapshot();
    this.overlay.draw(this.view.transform());
    const whole = document.createElement("canvas");
    [whole.width, whole.height] = [this.overlay.canvas.width, this.overlay.canvas.height];
    const context = whole.getContext("2d")!;
    context.fillStyle = this.explorer.theme.background;
    context.fillRect(0, 0, whole.width, whole.height);
    for (const layer of [...layers, this.overlay.canvas]) context.drawImage(layer, 0, 0, whole.width, whole.height);
    const { scene, theme } = this.explorer;
    const near = this.explorer.heatShown ? this.explorer.near : null;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = theme.ink;
    const what = near ? `, heat from ${this.explorer.nodeName(near.index)}, s = ${near.s}, eps = ${near.eps}` : "";
    context.fillText(`${scene.header.title}${what}`, 12, whole.height / ratio - 12);
    return whole;
  }
}

/** Whether WebGL is there but done in software, where its first picture takes seconds. */
function webglIsSlow(): boolean {
  const context = document.createElement("canvas").getContext("webgl");
  if (!context) return false;
  const info = context.getExtension("WEBGL_debug_renderer_info");
  const name = String(context.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : context.RENDERER));
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}
