/** The heart of the page: the scene, what is chosen, and what follows from it. */

import { ClassColours, SPLIT_NAMES, Theme, heatPlace, rightColour, rightness, scaleColour, scaleSteps, splitColour, themeOf } from "./colours";
import type { Scene } from "./data";
import { Diffusion, Source, hopDistances } from "./heat";
import { Labelling } from "./labelling";
import { Neighbourhood, neighbourhoodOf } from "./neighbourhood";
import { Filter, State, fromHash, initial, modesOf, toHash } from "./state";

export type Changed = Set<keyof State>;
type Listener = (changed: Changed) => void;

export class Explorer {
  state: State;
  near: Neighbourhood | null = null;
  hovered: number | null = null;
  /** Milliseconds of the last computation of heat and neighbourhood. */
  computed = 0;
  classColours: ClassColours;
  /** What is shown: the page's own scene, or that of the reader's labels. */
  scene: Scene;
  readonly labelling: Labelling;
  private readonly diffusion: Diffusion;
  private source: Source | null = null;
  private hops: Int32Array | null = null;
  private readonly listeners: Listener[] = [];
  private readonly pending: Changed = new Set();
  private frame = 0;
  private hashTimer = 0;
  private readonly darkQuery = window.matchMedia("(prefers-color-scheme: dark)");

  constructor(readonly own: Scene) {
    this.scene = own;
    this.diffusion = new Diffusion(own.adjacency);
    this.classColours = new ClassColours(own);
    this.state = fromHash(location.hash, own, initial(own));
    if (this.state.node !== null && !location.hash.includes("colour=") && this.state.tab !== "label") this.state.mode = "heat";
    this.labelling = new Labelling(own);
    this.labelling.listen((what) => {
      const { labels, suggested } = this.state;
      this.set(what === "labels" ? { labels: labels + 1 } : { suggested: suggested + 1 });
    });
    this.compute();
    this.choose();
    this.darkQuery.addEventListener("change", () => this.set({ theme: this.state.theme }, true));
    window.addEventListener("hashchange", () => {
      this.set(fromHash(location.hash, own, this.state));
    });
  }

  get theme(): Theme {
    const { theme } = this.state;
    return themeOf(theme === "dark" || (theme === "auto" && this.darkQuery.matches));
  }

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Change the state; listeners hear of it once a frame. */
  set(patch: Partial<State>, always = false): void {
    const before = this.state;
    this.state = { ...before, ...patch };
    for (const key of Object.keys(patch) as (keyof State)[]) {
      if (always || JSON.stringify(before[key]) !== JSON.stringify(this.state[key])) this.pending.add(key);
    }
    if (!this.pending.size) return;
    // A choice is answered at once; a slider waits for the frame, for many steps come in one.
    if (["node", "tab", "filter", "labels", "suggested", "mine"].some((key) => this.pending.has(key as keyof State))) {
      cancelAnimationFrame(this.frame);
      this.frame = 0;
      this.flush();
      return;
    }
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.flush();
    });
  }

  flush(): void {
    const changed: Changed = new Set(this.pending);
    this.pending.clear();
    if (!changed.size) return;
    if (changed.has("node") || changed.has("s") || changed.has("eps")) this.compute();
    if (changed.has("labels") || changed.has("mine") || changed.has("tab")) {
      this.choose();
      changed.add("mode"); // colours are others now
    }
    for (const listener of this.listeners) listener(changed);
    window.clearTimeout(this.hashTimer);
    this.hashTimer = window.setTimeout(() => this.writeHash(), 150);
  }

  /** Show the reader's labels or what the page came with, in a colouring that there is of it. */
  private choose(): void {
    const { mine, tab } = this.state;
    if (tab === "label" && !mine) this.state = { ...this.state, mine: true };
    if (this.state.mine) this.labelling.start();
    const next = this.state.mine ? this.labelling.scene() : this.own;
    const other = next.labelled !== this.scene.labelled;
    if (next.classes !== this.scene.classes) this.classColours = new ClassColours(next);
    this.scene = next;
    if (this.state.tab === "why" && !next.predicted) this.state = { ...this.state, tab: next.labelled ? "label" : "heat" };
    const modes = modesOf(next);
    const was = this.state.mode;
    // What was there before the first label, or belongs to the other, is no choice to keep.
    if (!modes.includes(was) || was === "plain" || (other && was !== "heat")) this.state = { ...this.state, mode: modes[0] };
    if (this.state.filter && !this.fits(this.state.filter)) this.state = { ...this.state, filter: null };
  }

  private fits(filter: Filter): boolean {
    const { classes, predicted } = this.scene;
    if (filter.kind === "class") return filter.code < classes.length;
    return predicted !== null && filter.truth < classes.length && filter.guess < classes.length;
  }

  /** Whether the chosen node's heat lies over the graph; where labels are given their colours matter. */
  get heatShown(): boolean {
    return this.near !== null && this.state.tab !== "label";
  }

  private writeHash(): void {
    try {
      history.replaceState(null, "", toHash(this.state, this.own));
    } catch {
      // A sandboxed frame may forbid it; the page works without.
    }
  }

  /** Make a node the source of heat. */
  select(node: number | null): void {
    const patch: Partial<State> = { node };
    if (node !== null && this.state.node === null && this.state.tab === "heat") patch.mode = "heat";
    if (node !== null && this.state.tab === "nodes") patch.tab = this.scene.predicted ? "why" : "heat";
    if (node === null && this.state.tab === "label") patch.filter = null;
    this.set(patch);
  }

  private compute(): void {
    const { node, s, eps } = this.state;
    if (node === null) {
      [this.source, this.hops, this.near] = [null, null, null];
      return;
    }
    const began = performance.now();
    if (this.source?.index !== node || this.hops === null) {
      this.source = new Source(this.diffusion, node);
      this.hops = hopDistances(this.scene.adjacency, node);
    }
    this.near = neighbourhoodOf(node, s, eps, this.source.at(s), this.hops);
    this.computed = performance.now() - began;
  }

  /** e^{-sL}δ of any node, for checks from outside. */
  heatFrom(index: number, s: number): Float64Array {
    return new Source(this.diffusion, index).at(s).slice();
  }

  /** The node that a person is asked for: the chosen one, otherwise the one suggested. */
  get asked(): number | null {
    return this.state.node ?? this.labelling.suggestion?.node ?? null;
  }

  // ------------------------------------------------------------------ questions

  /** What people call a node: its title where that has words, otherwise its id. */
  nodeName(node: number): string {
    const title = this.scene.titles?.[node];
    return title && /\p{L}/u.test(title) ? title : this.scene.ids[node];
  }

  matches(filter: Filter, node: number): boolean {
    const { scene } = this;
    if (filter.kind === "class") {
      return (scene.predicted && this.state.mode !== "label" ? scene.predicted : scene.labels)[node] === filter.code;
    }
    if (filter.split >= 0 && scene.split[node] !== filter.split) return false;
    return scene.labels[node] === filter.truth && scene.predicted![node] === filter.guess;
  }

  filterText(filter: Filter): string {
    const { classes } = this.scene;
    if (filter.kind === "class") return classes[filter.code];
    const [truth, guess] = [classes[filter.truth], classes[filter.guess]];
    const of = filter.split > 0 ? `${SPLIT_NAMES[filter.split]} nodes of ` : "";
    return truth === guess ? `${of}${truth}, correctly predicted` : `${of}${truth}, predicted as ${guess}`;
  }

  /** The colour of a node in the chosen mode; in the mode of heat, by its weight. */
  colour(node: number): string {
    return this.colouring()(node);
  }

  /** The same for many nodes: what they share is looked up once. */
  colouring(): (node: number) => string {
    const { scene, theme, near, classColours } = this;
    switch (this.state.mode) {
      case "predicted":
        return (node) => classColours.of(scene.predicted![node], theme);
      case "label":
        return (node) => classColours.of(scene.labels[node], theme);
      case "confidence": {
        const floor = 1 / Math.max(scene.classes.length, 1);
        const steps = scaleSteps(theme.confidence);
        return (node) => steps((scene.confidence![node] - floor) / (1 - floor));
      }
      case "split":
        return (node) => splitColour(scene.split[node], theme);
      case "right":
        return (node) => rightColour(rightness(scene, node), theme);
      case "heat":
        return near ? (node) => this.heatColour(near.heat[node]) : () => theme.node;
      case "plain":
        return () => theme.node;
    }
  }

  /** The colour of a node's class, whatever the mode: predicted, or else its label. */
  classColour(node: number): string | null {
    const { scene } = this;
    const code = (scene.predicted ?? scene.labels)[node];
    return code < 0 ? null : this.classColours.of(code, this.theme);
  }

  heatColour(weight: number): string {
    const top = this.heatTop;
    return scaleColour(this.theme.heat, heatPlace(weight, this.state.eps, top));
  }

  /** The weight at the hot end of the scale. */
  get heatTop(): number {
    const { near } = this;
    if (!near) return 1;
    return Math.max(near.selfWeight, near.neighbours.length ? near.heat[near.neighbours[0]] : 0);
  }
}
