/** Labelling a graph in the page: classes, answers, and what heat makes of them. */

import { Answer, Answers, Change, Kind } from "./answers";
import type { Scene } from "./data";
import { spaced } from "./data";
import { table } from "./csv";
import { SPLITS } from "./schema";
import type { Explanation } from "./server";
import { Spread, Spreading } from "./spreading";
import { Storage } from "./storage";
import { Suggestion, suggest } from "./suggestion";

const TRAINING = SPLITS.indexOf("train");
const LONGEST_NAME = 200;
const AT_ONCE = 3; // labels that are spread before the page draws again
const SLICE = 40; // milliseconds of work before the page may draw again

export type Listener = (what: "labels" | "suggestion") => void;

/** How many of the others are right, where the actual classes are known. */
export interface Score {
  labels: number;
  right: number;
  others: number;
}

/** Predictions that came from elsewhere than heat and labels alone. */
export interface Foreign {
  probabilities: Float64Array;
  name: string;
}

export class Labelling {
  /** As they were written; `scene.classes` has them as people read them. */
  classes: string[];
  answers: Answers;
  spread: Spread | null = null;
  suggestion: Suggestion | null = null;
  /** Share of the labels at the start that have been spread; 1: all of them. */
  loaded = 1;
  /** Whether labels survive a reload. */
  kept = true;
  /** Milliseconds of the last spreading. */
  computed = 0;
  /** Accuracy after each number of labels that a person came by. */
  readonly course = new Map<number, number>();
  /** Whether the labels that the graph came with count as known. */
  known: boolean;
  readonly storage: Storage;
  private spreading: Spreading;
  private foreign: Foreign | null = null;
  private started = false;
  private shown: Scene | null = null;
  private timer = 0; // of the slices in which known labels are spread
  private looking = false;
  private turn = 0;
  private readonly listeners: Listener[] = [];
  /** Sends a change to the server. */
  sent: ((change: Change) => void) | null = null;
  classAdded: ((name: string) => void) | null = null;
  classRenamed: ((code: number, name: string) => void) | null = null;
  /** What a server says about a node's prediction. */
  explain: ((node: number) => Promise<Explanation | null>) | null = null;
  /** Nodes that a server suggests, the best first. */
  hints: { node: number; why: string }[] = [];

  constructor(readonly own: Scene) {
    this.storage = new Storage(own.header.fingerprint);
    this.spreading = new Spreading(own.adjacency);
    this.classes = [...own.header.classes];
    this.known = this.knownLabels > 0 && this.knownLabels < own.n;
    this.answers = new Answers(this.known ? this.base() : new Map());
  }

  /** How many labels the graph came with. */
  get knownLabels(): number {
    return this.own.labels.reduce((sum, code) => sum + (code >= 0 ? 1 : 0), 0);
  }

  /** Whether actual classes are known, so that a person can be scored. */
  get scored(): boolean {
    return !this.known && this.knownLabels > 0 && !this.own.header.server;
  }

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  /** Take up what was kept, and spread what is known; once. */
  start(): void {
    if (this.started) return;
    this.started = true;
    this.listen((what) => what === "labels" && this.report());
    const kept = this.own.header.server ? null : this.storage.read();
    if (kept) this.takeUp(kept);
    this.storage.listen((other) => {
      this.takeUp(other);
      this.respread();
    });
    this.respread();
  }

  private base(): Map<number, number> {
    const found = new Map<number, number>();
    this.own.labels.forEach((code, node) => code >= 0 && found.set(node, code));
    return found;
  }

  private takeUp(kept: { classes: string[]; known: boolean; answers: [string, Answer | null][] }): void {
    const places = new Map(this.own.ids.map((id, node) => [id, node]));
    this.classes = [...kept.classes];
    this.known = kept.known;
    this.answers = new Answers(kept.known ? this.base() : new Map());
    for (const [id, answer] of kept.answers) {
      const node = places.get(id);
      if (node !== undefined) this.answers.put(node, answer);
    }
  }

  /** Start over, from the known labels or from none. */
  reset(known: boolean): void {
    this.known = known;
    this.classes = [...this.own.header.classes];
    this.answers = new Answers(known ? this.base() : new Map());
    this.course.clear();
    this.keep();
    this.respread();
  }

  /** Replace every answer by what a server says. */
  replace(classes: string[], answers: [number, Answer][]): void {
    const wanted = new Map(answers);
    const gone = [...this.answers.entries()].filter(([node]) => !wanted.has(node)).map(([node]) => node);
    const fresh = answers.filter(([node, answer]) => {
      const now = this.answers.of(node);
      return now?.kind !== answer.kind || now.code !== answer.code;
    });
    for (const node of gone) this.answers.put(node, null);
    for (const [node, answer] of fresh) this.answers.put(node, answer);
    const named = classes.join("\n") !== this.classes.join("\n");
    this.classes = classes;
    // What is asked stays, unless somebody else has answered it; why it is asked may be new.
    const hint = this.hints.find(({ node }) => node === this.suggestion?.node);
    const before = this.suggestion?.why;
    if (this.suggestion && (hint || this.hints.length)) this.suggestion = { ...this.suggestion, why: hint?.why };
    if (gone.length || fresh.length) this.respread();
    else if (this.loaded === 1 && (named || (!this.suggestion && !this.looking))) this.finish(false);
    else if (this.suggestion?.why !== before) this.tell();
  }

  /** Spread what is not spread yet: at once where it is little, otherwise in slices. */
  private respread(): void {
    window.clearTimeout(this.timer);
    const labels = this.labels();
    const now = new Set(labels.map(([node]) => node));
    const gone = this.spreading.nodes().filter((node) => !now.has(node));
    const fresh = labels.filter(([node, code]) => this.spreading.codeOf(node) !== code);
    if (gone.length + fresh.length <= AT_ONCE) {
      for (const node of gone) this.spreading.set(node, -1);
      for (const [node, code] of fresh) this.spreading.set(node, code);
      this.finish();
      return;
    }
    this.spreading = new Spreading(this.own.adjacency);
    const work = this.spreading.setAll(labels, this.classes.length);
    const slice = (): void => {
      const end = performance.now() + SLICE;
      for (;;) {
        const step = work.next();
        if (step.done) {
          this.loaded = 1;
          this.finish();
          return;
        }
        this.loaded = step.value;
        if (performance.now() > end) break;
      }
      this.tell();
      this.timer = window.setTimeout(slice, 0);
    };
    this.loaded = 0;
    slice();
  }

  /** Report labels to a notebook that shows the page in a frame of its own making, and to nobody else. */
  private report(): void {
    if (window.parent === window || location.href !== "about:srcdoc") return;
    const labels = [...this.answers.entries()].map(([node, { kind, code }]) => [node, code, kind]);
    window.parent.postMessage({ graphheat: "labels", classes: this.classes, labels }, "*");
  }

  private labels(): [number, number][] {
    return [...this.answers.entries()].filter(([, { kind }]) => kind === "label").map(([node, { code }]) => [node, code]);
  }

  private finish(look = true): void {
    this.spreading.widen(this.classes.length);
    const began = performance.now();
    this.spread = this.spreading.spread();
    this.computed = performance.now() - began;
    this.shown = null;
    const score = this.score();
    if (score && score.labels && score.others) this.course.set(score.labels, score.right / score.others);
    if (!look && this.suggestion) {
      this.tell();
      return;
    }
    this.suggestion = null;
    this.looking = true;
    this.tell();
    // After the labels' effect has been drawn.
    const turn = ++this.turn;
    requestAnimationFrame(() => window.setTimeout(() => {
      if (turn !== this.turn) return; // something else has changed since
      this.looking = false;
      this.next();
      this.tell("suggestion");
    }, 0));
  }

  private tell(what: "labels" | "suggestion" = "labels"): void {
    for (const listener of this.listeners) listener(what);
  }

  // ------------------------------------------------------------------ answers

  give(node: number, kind: Kind | "remove", code = -1): void {
    if (kind === "label" && !(code >= 0 && code < this.classes.length)) return;
    const change = this.answers.give(node, kind === "remove" ? null : { kind, code: kind === "label" ? code : -1 });
    if (change) this.changed(change);
  }

  undo(): number | null {
    return this.changed(this.answers.undo());
  }

  redo(): number | null {
    return this.changed(this.answers.redo());
  }

  private changed(change: Change | null): number | null {
    if (!change) return null;
    const began = performance.now();
    this.spreading.set(change.node, change.after?.kind === "label" ? change.after.code : -1);
    this.keep();
    this.sent?.(change);
    this.finish();
    this.computed = performance.now() - began;
    return change.node;
  }

  private keep(): void {
    if (this.own.header.server) return; // the server keeps them
    const answers = this.answers.differences().map(([node, answer]): [string, Answer | null] => [this.own.ids[node], answer]);
    this.kept = this.storage.write({ classes: this.classes, known: this.known, answers });
  }

  // ------------------------------------------------------------------ classes

  /** Add classes, parted by commas; returns what is wrong with them, or null. */
  addClasses(text: string): string | null {
    const names = text.split(",").map((name) => name.trim()).filter(Boolean);
    for (const name of names) {
      const wrong = this.refusal(name);
      if (wrong) return wrong;
      this.classes = [...this.classes, name];
      this.classAdded?.(name);
    }
    if (names.length) this.classesChanged();
    return null;
  }

  rename(code: number, text: string): string | null {
    const name = text.trim();
    if (!name || name === this.classes[code]) return null;
    const wrong = this.refusal(name);
    if (wrong) return wrong;
    this.classes = this.classes.map((each, k) => (k === code ? name : each));
    this.classRenamed?.(code, name);
    this.classesChanged();
    return null;
  }

  private refusal(name: string): string | null {
    if (name.length > LONGEST_NAME) return `A class's name has at most ${LONGEST_NAME} characters; this one has ${name.length}.`;
    if (this.classes.includes(name)) return `There is a class of this name already.`;
    return null;
  }

  private classesChanged(): void {
    this.keep();
    this.finish(false); // a name changes nothing about whom to ask
  }

  // ------------------------------------------------------------------ what follows

  /** Let predictions of a model elsewhere stand in for the page's; null: no longer. */
  showForeign(foreign: Foreign | null): void {
    this.foreign = foreign;
    this.shown = null;
    this.tell();
  }

  /** Look for the next node to ask for; after every change once. */
  private next(): Suggestion | null {
    if (this.suggestion === null && this.loaded === 1) {
      const labelled = this.labels().map(([node]) => node);
      const hint = this.hints.find(({ node }) => node >= 0 && node < this.own.n && this.answers.of(node) === null);
      this.suggestion = hint ? { ...hint, fresh: false, classes: [], reach: 0 } : suggest(this.spreading, this.spread, labelled, (node) => this.answers.of(node) !== null, this.own.n);
    }
    return this.suggestion;
  }

  score(): Score | null {
    if (!this.scored) return null;
    const { predicted } = this.guesses();
    let [labels, right, others] = [0, 0, 0];
    for (let i = 0; i < this.own.n; i++) {
      if (this.answers.of(i)?.kind === "label") labels++;
      else if (this.own.labels[i] >= 0) {
        others++;
        if (predicted && predicted[i] === this.own.labels[i]) right++;
      }
    }
    return { labels, right, others };
  }

  /** Return how much of each class's heat on a node comes from which label, the largest first. */
  sources(node: number): { node: number; code: number; heat: number }[] {
    if (!this.spread) return [];
    const heat = this.spreading.heatOf(node, this.spread.s);
    return this.labels()
      .map(([label, code]) => ({ node: label, code, heat: Math.max(heat[label], 0) }))
      .sort((a, b) => b.heat - a.heat || a.node - b.node);
  }

  /** Return the most probable class of every node, and what it rests on. */
  private guesses(): { predicted: Int16Array | null; probabilities: Float32Array | null; reached: Uint8Array | null } {
    const { n } = this.own;
    const c = this.classes.length;
    const foreign = this.foreign?.probabilities.length === n * c ? this.foreign : null;
    const source = foreign?.probabilities ?? this.spread?.probabilities;
    if (!source || !c || source.length !== n * c) return { predicted: null, probabilities: null, reached: null };
    const predicted = new Int16Array(n);
    for (let i = 0; i < n; i++) {
      let best = 0;
      for (let k = 1; k < c; k++) if (source[i * c + k] > source[i * c + best]) best = k;
      predicted[i] = best;
    }
    return { predicted, probabilities: Float32Array.from(source), reached: foreign ? null : this.spread!.reached };
  }

  /** The graph as the answers have it: their labels, their classes, and what heat makes of them. */
  scene(): Scene {
    return (this.shown ??= this.assemble());
  }

  private assemble(): Scene {
    const { own, classes } = this;
    const { n } = own;
    const c = classes.length;
    const labels = new Int16Array(n).fill(-1);
    const split = new Uint8Array(n);
    for (const [node, { kind, code }] of this.answers.entries()) {
      if (kind !== "label") continue;
      labels[node] = code;
      split[node] = TRAINING;
    }
    const { predicted, probabilities, reached } = this.guesses();
    let confidence: Float32Array | null = null;
    if (predicted && probabilities) {
      confidence = new Float32Array(n);
      for (let i = 0; i < n; i++) {
        confidence[i] = probabilities[i * c + predicted[i]];
        // A person's word stands, whatever heat makes of it; where no heat comes nothing is predicted.
        if (labels[i] >= 0) [predicted[i], confidence[i]] = [labels[i], 1];
        else if (reached && !reached[i]) predicted[i] = -1;
      }
    }
    return {
      ...own, labels, split, predicted, probabilities, confidence,
      classes: classes.map(spaced),
      calibrated: probabilities,
      confidenceName: "confidence",
      sets: null, reasons: null, suspects: null,
      labelled: true,
    };
  }

  /** The labels as a node table: every node in a row, without a label where it has none. */
  csv(): string {
    const { own } = this;
    const titled = own.titles !== null;
    const rows = own.ids.map((id, node) => {
      const answer = this.answers.of(node);
      const label = answer?.kind === "label" ? this.classes[answer.code] : "";
      return titled ? [id, own.titles![node], label] : [id, label];
    });
    return table(titled ? ["id", "title", "label"] : ["id", "label"], rows);
  }
}
