/** The heart of the page: the scene, what is chosen, and what follows from it. */

import { ClassColours, SPLIT_NAMES, Theme, heatPlace, rightColour, rightness, scaleColour, splitColour, themeOf } from "./colours";
import type { Scene } from "./data";
import { Diffusion, Source, hopDistances } from "./heat";
import { Neighbourhood, neighbourhoodOf } from "./neighbourhood";
import { Filter, State, fromHash, initial, toHash } from "./state";

export type Changed = Set<keyof State>;
type Listener = (changed: Changed) => void;

export class Explorer {
  state: State;
  near: Neighbourhood | null = null;
  hovered: number | null = null;
  /** Milliseconds of the last computation of heat and neighbourhood. */
  computed = 0;
  readonly classColours: ClassColours;
  private readonly diffusion: Diffusion;
  private source: Source | null = null;
  private hops: Int32Array | null = null;
  private readonly listeners: Listener[] = [];
  private readonly pending: Changed = new Set();
  private frame = 0;
  private hashTimer = 0;
  private readonly darkQuery = window.matchMedia("(prefers-color-scheme: dark)");

  constructor(readonly scene: Scene) {
    this.diffusion = new Diffusion(scene.adjacency);
    this.classColours = new ClassColours(scene);
    this.state = fromHash(location.hash, scene, initial(scene));
    if (this.state.node !== null && !location.hash.includes("colour=")) this.state.mode = "heat";
    this.compute();
    this.darkQuery.addEventListener("change", () => this.set({ theme: this.state.theme }, true));
    window.addEventListener("hashchange", () => {
      this.set(fromHash(location.hash, scene, this.state));
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
    if (this.pending.has("node") || this.pending.has("tab") || this.pending.has("filter")) {
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
    for (const listener of this.listeners) listener(changed);
    window.clearTimeout(this.hashTimer);
    this.hashTimer = window.setTimeout(() => this.writeHash(), 150);
  }

  private writeHash(): void {
    try {
      history.replaceState(null, "", toHash(this.state, this.scene));
    } catch {
      // A sandboxed frame may forbid it; the page works without.
    }
  }

  /** Make a node the source of heat. */
  select(node: number | null): void {
    const patch: Partial<State> = { node };
    if (node !== null && this.state.node === null && this.state.tab === "heat") patch.mode = "heat";
    if (node !== null && this.state.tab === "nodes") patch.tab = this.scene.predicted ? "why" : "heat";
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
    const { scene, theme, near } = this;
    switch (this.state.mode) {
      case "predicted":
        return this.classColours.of(scene.predicted![node], theme);
      case "label":
        return this.classColours.of(scene.labels[node], theme);
      case "confidence": {
        const floor = 1 / Math.max(scene.classes.length, 1);
        return scaleColour(theme.confidence, (scene.confidence![node] - floor) / (1 - floor));
      }
      case "split":
        return splitColour(scene.split[node], theme);
      case "right":
        return rightColour(rightness(scene, node), theme);
      case "heat":
        if (near) return this.heatColour(near.heat[node]);
        return theme.node;
      case "plain":
        return theme.node;
    }
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
