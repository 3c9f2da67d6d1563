/** Answers in the browser's own storage, by the graph's fingerprint: they survive a reload. */

import type { Answer, Kind } from "./answers";

const VERSION = 1;

export interface Kept {
  classes: string[];
  /** Whether the labels that the graph came with count as known. */
  known: boolean;
  /** By id, since a page may hold a part of the graph; null: a known label that was taken away. */
  answers: [string, Answer | null][];
}

export class Storage {
  private readonly key: string;

  constructor(fingerprint: string) {
    this.key = `graphheat:labels:${fingerprint}`;
  }

  /** Return what was kept; null where nothing is, or nothing that can be read. */
  read(): Kept | null {
    try {
      return parsed(window.localStorage.getItem(this.key));
    } catch {
      return null; // a browser may forbid it to a file
    }
  }

  /** Keep it; false where the browser does not. */
  write(kept: Kept): boolean {
    const answers = kept.answers.map(([id, answer]) => [id, answer?.kind ?? null, answer?.code ?? -1]);
    try {
      window.localStorage.setItem(this.key, JSON.stringify({ version: VERSION, classes: kept.classes, known: kept.known, answers }));
      return true;
    } catch {
      return false;
    }
  }

  /** Call `changed` with what another tab kept. */
  listen(changed: (kept: Kept) => void): void {
    window.addEventListener("storage", (event) => {
      if (event.key !== this.key) return;
      const kept = parsed(event.newValue);
      if (kept) changed(kept);
    });
  }
}

/** Anything may stand in a browser's storage; what is not as it was written is as if nothing were. */
export function parsed(text: string | null): Kept | null {
  if (text === null) return null;
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return null;
  }
  const { version, classes, known, answers } = (raw ?? {}) as Record<string, unknown>;
  if (version !== VERSION || !Array.isArray(classes) || !Array.isArray(answers)) return null;
  if (!classes.every((name) => typeof name === "string")) return null;
  const kept: Kept = { classes, known: known === true, answers: [] };
  for (const each of answers) {
    if (!Array.isArray(each) || typeof each[0] !== "string") return null;
    const [id, kind, code] = each as [string, Kind | null, number];
    if (kind === null) kept.answers.push([id, null]);
    else if (kind === "unsure" || kind === "skip") kept.answers.push([id, { kind, code: -1 }]);
    else if (kind === "label" && Number.isInteger(code) && code >= 0 && code < classes.length) {
      kept.answers.push([id, { kind, code }]);
    } else return null;
  }
  return kept;
}
