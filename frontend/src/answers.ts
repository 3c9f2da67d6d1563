/** A person's answers for nodes, with undo and redo. */

export type Kind = "label" | "unsure" | "skip";

export interface Answer {
  kind: Kind;
  /** The class; −1 unless it is a label. */
  code: number;
}

export interface Change {
  node: number;
  before: Answer | null;
  after: Answer | null;
}

function same(a: Answer | null, b: Answer | null): boolean {
  return a?.kind === b?.kind && a?.code === b?.code;
}

export class Answers {
  private readonly given = new Map<number, Answer>();
  private readonly done: Change[] = [];
  private readonly undone: Change[] = [];

  /** `base` are labels that were known before anybody was asked: they cannot be undone. */
  constructor(private readonly base: ReadonlyMap<number, number> = new Map()) {
    for (const [node, code] of base) this.given.set(node, { kind: "label", code });
  }

  of(node: number): Answer | null {
    return this.given.get(node) ?? null;
  }

  /** Of all nodes that have an answer, the latest last. */
  entries(): IterableIterator<[number, Answer]> {
    return this.given.entries();
  }

  /** Nodes with a class, and those that a person gave one. */
  get labelled(): number {
    let total = 0;
    for (const { kind } of this.given.values()) if (kind === "label") total++;
    return total;
  }

  isBase(node: number): boolean {
    const code = this.base.get(node);
    return code !== undefined && this.given.get(node)?.code === code;
  }

  get canUndo(): boolean {
    return this.done.length > 0;
  }

  get canRedo(): boolean {
    return this.undone.length > 0;
  }

  /** Give a node another answer; null where it is the same. */
  give(node: number, after: Answer | null): Change | null {
    const before = this.of(node);
    if (same(before, after)) return null;
    const change = { node, before, after };
    this.done.push(change);
    this.undone.length = 0;
    this.apply(node, after);
    return change;
  }

  undo(): Change | null {
    const change = this.done.pop();
    if (!change) return null;
    this.undone.push(change);
    this.apply(change.node, change.before);
    return { node: change.node, before: change.after, after: change.before };
  }

  redo(): Change | null {
    const change = this.undone.pop();
    if (!change) return null;
    this.done.push(change);
    this.apply(change.node, change.after);
    return change;
  }

  /** Put in place what came from elsewhere: it is no step that could be undone. */
  put(node: number, answer: Answer | null): void {
    this.apply(node, answer);
  }

  /** What differs from the base: the answers, and null for a label that was taken away. */
  differences(): [number, Answer | null][] {
    const found: [number, Answer | null][] = [];
    for (const [node, answer] of this.given) if (!this.isBase(node)) found.push([node, answer]);
    for (const node of this.base.keys()) if (!this.given.has(node)) found.push([node, null]);
    return found;
  }

  private apply(node: number, answer: Answer | null): void {
    this.given.delete(node); // the latest is the last
    if (answer) this.given.set(node, answer);
  }
}
