/** The page's data: decoded once, then read only. */

import { ARRAYS, BLOCKS, Blocks, Header, MAGIC, Rule, UNIT } from "./schema";

/** Rows of both directions of every edge, with weights of one where the graph has none. */
export interface Adjacency {
  starts: Uint32Array;
  targets: Uint32Array;
  weights: Float64Array;
  degrees: Float64Array;
}

export interface Reasons {
  nodes: Uint32Array;
  row: Map<number, number>;
  classes: Uint16Array;
  sources: Uint32Array;
  given: Float32Array;
  rest: Float32Array;
  hops: Float32Array;
  /** FEATURES per node, places in the scene's features; null where features played no part. */
  features: { places: Uint32Array; given: Float32Array } | null;
}

/** Known labels that heat from the others contradicts, the most doubtful first. */
export interface Suspects {
  nodes: Uint32Array;
  suggested: Uint16Array;
  odds: Float32Array;
}

export interface Scene {
  header: Header;
  n: number;
  x: Float32Array;
  y: Float32Array;
  /** Each edge once. */
  edges: { from: Uint32Array; to: Uint32Array };
  adjacency: Adjacency;
  ids: string[];
  titles: string[] | null;
  labels: Int16Array;
  /** Codes of SPLITS. */
  split: Uint8Array;
  classes: string[];
  predicted: Int16Array | null;
  /** Row-major, n × classes. */
  probabilities: Float32Array | null;
  calibrated: Float32Array | null;
  confidence: Float32Array | null;
  /** Its name on the page: "calibrated confidence", or "confidence" without nodes to calibrate on. */
  confidenceName: string;
  sets: Uint8Array | null;
  reasons: Reasons | null;
  features: string[];
  suspects: Suspects | null;
  /** Whether labels and predictions are those of the reader's own labelling. */
  labelled: boolean;
}

export class DataError extends Error {}

async function inflate(text: string): Promise<ArrayBuffer> {
  if (typeof DecompressionStream === "undefined") {
    throw new DataError("This browser cannot unpack the page's data; a newer one can.");
  }
  let raw: string;
  try {
    raw = atob(text.trim());
  } catch {
    throw new DataError("The page's data are damaged (not base64). Write the page again.");
  }
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return await new Response(stream).arrayBuffer();
  } catch {
    throw new DataError("The page's data are damaged (checksum). Write the page again.");
  }
}

export async function decode(text: string): Promise<Scene> {
  const buffer = await inflate(text);
  const start = new DataView(buffer);
  if (buffer.byteLength < 8 || start.getUint32(0, false) !== MAGIC) {
    throw new DataError("The page's data do not start as they should. Write the page again.");
  }
  const length = start.getUint32(4, true);
  let header: Header;
  try {
    header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length))) as Header;
  } catch {
    throw new DataError("The page's data are damaged (header). Write the page again.");
  }
  return assemble(header, blocksOf(buffer, 8 + length, header));
}

/** Return the blocks, each of the type and length that the schema names. */
function blocksOf(buffer: ArrayBuffer, start: number, header: Header): Blocks {
  const { run } = header;
  const has = { graph: true, run: run !== null, calibration: run !== null && run.temperature !== null };
  const sizes: Record<string, number> = { nodes: header.nodes, edges: header.edges, classes: header.classes.length };
  const found: Partial<Record<keyof Blocks, ArrayLike<number>>> = {};
  for (const [name, rule] of Object.entries(BLOCKS) as [keyof Blocks, Rule][]) {
    const place = header.blocks[name];
    if (place === undefined) {
      if (has[rule.of] && !rule.optional) throw new DataError(`The page's data lack ${name}. Write the page again.`);
      continue;
    }
    // A word that the header does not explain is the length of the first block that has it alone.
    const [first] = rule.shape;
    if (rule.shape.length === 1 && typeof first === "string") sizes[first] ??= place.length;
    const length = rule.shape.reduce<number>((product, size) => product * (typeof size === "string" ? sizes[size] : size), 1);
    if (place.type !== rule.type || place.length !== length) {
      throw new DataError(`The page's ${name} should be ${length} of ${rule.type}. Write the page again.`);
    }
    found[name] = new ARRAYS[rule.type](buffer, start + place.offset, length);
  }
  return found as unknown as Blocks;
}

function assemble(header: Header, blocks: Blocks): Scene {
  const n = header.nodes;
  const edges = edgeList(n, blocks.edge_counts, blocks.edge_targets);
  const text = JSON.parse(new TextDecoder().decode(blocks.text)) as {
    ids: string[] | null;
    titles: string[] | null;
    features: string[] | null;
  };
  const scale = (values: Uint16Array): Float32Array => Float32Array.from(values, (v) => v / UNIT);
  const c = header.classes.length;
  const probabilities = blocks.probabilities ? scale(blocks.probabilities) : null;
  const calibrated = blocks.calibrated ? scale(blocks.calibrated) : probabilities;
  let predicted: Int16Array | null = null;
  let confidence: Float32Array | null = null;
  if (probabilities && calibrated) {
    predicted = new Int16Array(n);
    confidence = new Float32Array(n);
    for (let i = 0; i < n; i++) {
      let best = 0;
      for (let k = 1; k < c; k++) if (probabilities[i * c + k] > probabilities[i * c + best]) best = k;
      predicted[i] = best;
      confidence[i] = calibrated[i * c + best];
    }
  }
  return {
    header,
    n,
    x: scale(blocks.x),
    y: scale(blocks.y),
    edges,
    adjacency: adjacencyOf(n, edges, blocks.weights, blocks.degrees),
    ids: text.ids ?? Array.from({ length: n }, (_, i) => String(i)),
    titles: text.titles,
    labels: blocks.labels,
    split: blocks.split,
    classes: header.classes.map(spaced),
    predicted,
    probabilities,
    calibrated,
    confidence,
    confidenceName: blocks.calibrated ? "calibrated confidence" : "confidence",
    sets: blocks.sets ?? null,
    reasons: reasonsOf(blocks),
    features: text.features ?? [],
    suspects: suspectsOf(blocks),
    labelled: false,
  };
}

/** A class as people read it; header.classes has it as it was written. */
export function spaced(name: string): string {
  return name.replace(/_/g, " ");
}

function edgeList(n: number, counts: Uint32Array, targets: Uint32Array): Scene["edges"] {
  const from = new Uint32Array(targets.length);
  let k = 0;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < counts[i]; j++) from[k++] = i;
  }
  return { from, to: targets };
}

function adjacencyOf(
  n: number,
  edges: Scene["edges"],
  given: Float64Array | undefined,
  whole: Float64Array | undefined,
): Adjacency {
  const { from, to } = edges;
  const starts = new Uint32Array(n + 1);
  for (let e = 0; e < from.length; e++) {
    starts[from[e] + 1]++;
    if (from[e] !== to[e]) starts[to[e] + 1]++;
  }
  for (let i = 0; i < n; i++) starts[i + 1] += starts[i];
  const next = starts.slice(0, n);
  const targets = new Uint32Array(starts[n]);
  const weights = new Float64Array(starts[n]);
  const degrees = new Float64Array(n);
  for (let e = 0; e < from.length; e++) {
    const [a, b, w] = [from[e], to[e], given ? given[e] : 1];
    targets[next[a]] = b;
    weights[next[a]++] = w;
    degrees[a] += w;
    if (a === b) continue;
    targets[next[b]] = a;
    weights[next[b]++] = w;
    degrees[b] += w;
  }
  return { starts, targets, weights, degrees: whole ?? degrees };
}

function reasonsOf(blocks: Blocks): Reasons | null {
  const { why_nodes, why_classes, why_sources, why_given, why_rest, why_hops } = blocks;
  if (!why_nodes?.length || !why_classes || !why_sources || !why_given || !why_rest || !why_hops) return null;
  const row = new Map<number, number>();
  why_nodes.forEach((node, k) => row.set(node, k));
  const { why_features: places, why_feature_given: features } = blocks;
  return {
    nodes: why_nodes, row, classes: why_classes, sources: why_sources, given: why_given, rest: why_rest, hops: why_hops,
    features: places && features ? { places, given: features } : null,
  };
}

function suspectsOf(blocks: Blocks): Suspects | null {
  const { suspect_nodes: nodes, suspect_classes: suggested, suspect_odds: odds } = blocks;
  return nodes?.length && suggested && odds ? { nodes, suggested, odds } : null;
}
