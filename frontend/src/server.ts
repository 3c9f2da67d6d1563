/** The server that a page may have come from: it keeps the answers and has models behind it. */

import type { Answer, Change, Kind } from "./answers";
import type { Labelling } from "./labelling";

const PATIENCE = [500, 1000, 2000, 5000]; // milliseconds between attempts while nobody answers

const MOST_PAUSES = 10; // for answers to arrive before the run is written

export interface Model {
  name: string;
  why: string;
  accuracy: number | null;
}

export interface Estimate {
  labels: number;
  accuracy: number | null;
  low: number | null;
  high: number | null;
  ten_more: number | null;
  curve: [number, number, number, number][];
}

interface ServerState {
  revision: number;
  classes: string[];
  labels: [number, number, Kind][];
  model: Model;
  progress: Estimate;
  suggestions: { node: number; why: string }[];
  suspects: number[];
  training: boolean;
}

export interface Explanation {
  sentences: string[];
  sources: [number, number][];
  features: [string, number][];
}

/** What waits for its acknowledgement. */
interface Waiting {
  path: "label" | "classes";
  body: { id: string } & Record<string, unknown>;
}

export class Server {
  model: Model | null = null;
  progress: Estimate | null = null;
  suspects: number[] = [];
  training = false;
  connected = false;
  /** Why the last answer was refused, or null. */
  refused: string | null = null;
  private readonly key: string;
  private queue: Waiting[] = [];
  private sending = false;
  private failures = 0;
  private revision = -1;
  private asked = -1; // revision of the predictions that are shown
  private shownModel = "";
  private refreshing = false;
  private again = false;
  private readonly listeners: (() => void)[] = [];

  constructor(private readonly labelling: Labelling) {
    this.key = `graphheat:waiting:${labelling.own.header.fingerprint}`;
    try {
      this.queue = JSON.parse(window.sessionStorage.getItem(this.key) ?? "[]") as Waiting[];
    } catch {
      this.queue = [];
    }
    labelling.sent = (change) => this.send(change);
    labelling.classAdded = (name) => this.push("classes", { add: name });
    labelling.classRenamed = (code, name) => this.push("classes", { rename: code, to: name });
    labelling.explain = (node) => this.explain(node);
  }

  get waiting(): number {
    return this.queue.length;
  }

  listen(listener: () => void): void {
    this.listeners.push(listener);
  }

  start(): void {
    void this.refresh();
    void this.drain();
    const events = new EventSource("/events");
    events.onopen = () => {
      this.connect(true);
      void this.refresh();
    };
    events.onmessage = () => void this.refresh();
    events.onerror = () => this.connect(false);
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }

  private connect(connected: boolean): void {
    if (connected && this.queue.length) void this.drain();
    if (this.connected === connected) return;
    this.connected = connected;
    this.tell();
  }

  // ------------------------------------------------------------------ answers, one after the other

  private send({ node, after }: Change): void {
    this.push("label", { node, answer: after?.kind ?? "remove", class: after?.kind === "label" ? after.code : null });
  }

  private push(path: Waiting["path"], body: Record<string, unknown>): void {
    this.queue.push({ path, body: { id: uuid(), ...body } });
    this.hold();
    void this.drain();
  }

  /** What is not acknowledged yet survives a reload of this tab. */
  private hold(): void {
    try {
      window.sessionStorage.setItem(this.key, JSON.stringify(this.queue));
    } catch {
      // The page says how many wait; it can do no more.
    }
    this.tell();
  }

  private async drain(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    while (this.queue.length) {
      const [first] = this.queue;
      let answer: Response;
      try {
        answer = await fetch(`/${first.path}`, {
          method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/json" }, body: JSON.stringify(first.body),
        });
      } catch {
        this.connect(false);
        await pause(this.failures++);
        continue;
      }
      // A full disk, a server in trouble, or one that was started anew and wants its new token, which
      // another tab may bring: the same id may be sent again.
      if (answer.status >= 500 || answer.status === 401) {
        this.refused = await sentence(answer);
        this.tell();
        await pause(this.failures++);
        continue;
      }
      this.failures = 0;
      this.queue.shift();
      this.refused = answer.ok ? null : await sentence(answer);
      this.hold();
      if (!answer.ok) void this.refresh();
    }
    this.sending = false;
    this.connect(true);
    void this.refresh();
  }

  // ------------------------------------------------------------------ what the server knows

  private async refresh(): Promise<void> {
    if (this.refreshing) {
      this.again = true;
      return;
    }
    this.refreshing = true;
    do {
      this.again = false;
      try {
        const answer = await fetch("/state", { credentials: "same-origin" });
        if (!answer.ok) throw new Error(await sentence(answer));
        this.take((await answer.json()) as ServerState);
        await this.predictions();
        this.connect(true);
      } catch (error) {
        if (error instanceof TypeError) this.connect(false); // nobody there
        else this.refused = error instanceof Error ? error.message : String(error);
      }
    } while (this.again);
    this.refreshing = false;
    this.tell();
  }

  private take(state: ServerState): void {
    const { labelling } = this;
    const answers = new Map<number, Answer>();
    for (const [node, code, kind] of state.labels) {
      if (node >= 0 && node < labelling.own.n) answers.set(node, { kind, code: kind === "label" ? code : -1 });
    }
    // What waits here is newer than what is known there.
    const classes = [...state.classes];
    for (const { path, body } of this.queue) {
      if (path === "classes") {
        if (typeof body.add === "string" && !classes.includes(body.add)) classes.push(body.add);
        if (typeof body.rename === "number" && typeof body.to === "string") classes[body.rename] = body.to;
        continue;
      }
      const node = body.node as number;
      answers.delete(node);
      if (body.answer !== "remove") answers.set(node, { kind: body.answer as Kind, code: (body.class as number | null) ?? -1 });
    }
    this.model = state.model;
    this.progress = state.progress;
    this.suspects = state.suspects;
    this.training = state.training;
    labelling.hints = state.suggestions;
    labelling.replace(classes, [...answers]);
    this.revision = state.revision;
  }

  private async predictions(): Promise<void> {
    const { model, labelling } = this;
    if (!model || model.name === "spreading") {
      if (this.shownModel !== "") labelling.showForeign(null);
      this.shownModel = "";
      return;
    }
    if (this.asked === this.revision && this.shownModel === model.name) return;
    const answer = await fetch(`/predictions?model=${encodeURIComponent(model.name)}`, { credentials: "same-origin" });
    if (!answer.ok) return; // not fitted yet: heat and labels alone go on
    const buffer = await answer.arrayBuffer();
    const head = new DataView(buffer);
    const [revision, n, c] = [0, 4, 8].map((at) => head.getUint32(at, true));
    if (n !== labelling.own.n || buffer.byteLength !== 12 + 4 * n * c) return;
    this.asked = revision;
    this.shownModel = model.name;
    labelling.showForeign({ probabilities: Float64Array.from(new Float32Array(buffer, 12)), name: model.name });
  }

  private async explain(node: number): Promise<Explanation | null> {
    if (this.shownModel === "") return null;
    try {
      const answer = await fetch(`/explain?node=${node}`, { credentials: "same-origin" });
      return answer.ok ? ((await answer.json()) as Explanation) : null;
    } catch {
      return null;
    }
  }

  /** Have the run folder and the node table written; returns a sentence. */
  async finish(): Promise<string> {
    // What was answered before belongs to it.
    for (let k = 0; this.queue.length && k < MOST_PAUSES; k++) await pause(0);
    if (this.queue.length) return `${this.queue.length} answers wait to be sent; nothing was written.`;
    try {
      const answer = await fetch("/finish", {
        method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/json" }, body: "{}",
      });
      if (!answer.ok) return await sentence(answer);
      const { run, table } = (await answer.json()) as { run: string; table: string };
      return `Written: the run in ${run}, the node table in ${table}.`;
    } catch {
      return "The server does not answer; nothing was written.";
    }
  }
}

async function sentence(answer: Response): Promise<string> {
  try {
    const { error } = (await answer.json()) as { error?: unknown };
    if (typeof error === "string") return error;
  } catch {
    // No JSON: the status has to do.
  }
  return `The server refused (${answer.status}).`;
}

function pause(failures: number): Promise<void> {
  return new Promise((done) => window.setTimeout(done, PATIENCE[Math.min(failures, PATIENCE.length - 1)]));
}

/** A random id, also where a page is not served over HTTPS. */
function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
