/** The page's data: decoded once, then read only. */

export interface RunHeader {
  recipe: string;
  seed: number;
  s: number;
  eps: number | null;
  test_accuracy: number | null;
  val_accuracy: number | null;
  notes: string[];
  temperature: number | null;
  alpha?: number;
  caution?: string;
  error_on?: string;
  error_before?: number;
  error_after?: number;
  coverage?: number;
}

interface Place {
  type: string;
  offset: number;
  length: number;
}

export interface Header {
  name: string;
  title: string;
  nodes: number;
  edges: number;
  whole: number | null;
  classes: string[];
  roles: string[];
  s: number;
  eps: number;
  note: string | null;
  run: RunHeader | null;
  blocks: Record<string, Place>;
}

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
  perNode: number;
  hopsPerNode: number;
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
  roles: Uint8Array;
  classes: string[];
  predicted: Int16Array | null;
  /** Row-major, n × classes. */
  probabilities: Float32Array | null;
  calibrated: Float32Array | null;
  confidence: Float32Array | null;
  /** What may be said of it: without nodes to calibrate on it is the model's own. */
  confidenceName: string;
  sets: Uint8Array | null;
  reasons: Reasons | null;
}

export class DataError extends Error {}

const VIEWS: Record<string, (buffer: ArrayBuffer, offset: number, length: number) => ArrayLike<number>> = {
  uint8: (b, o, l) => new Uint8Array(b, o, l),
  uint16: (b, o, l) => new Uint16Array(b, o, l),
  uint32: (b, o, l) => new Uint32Array(b, o, l),
  int8: (b, o, l) => new Int8Array(b, o, l),
  int16: (b, o, l) => new Int16Array(b, o, l),
  float32: (b, o, l) => new Float32Array(b, o, l),
  float64: (b, o, l) => new Float64Array(b, o, l),
};

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
  if (buffer.byteLength < 8 || start.getUint32(0, false) !== 0x47485831) {
    throw new DataError("The page's data do not start as they should. Write the page again.");
  }
  const length = start.getUint32(4, true);
  let header: Header;
  try {
    header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length))) as Header;
  } catch {
    throw new DataError("The page's data are damaged (header). Write the page again.");
  }
  const block = <T extends ArrayLike<number>>(name: string): T | null => {
    const place = header.blocks[name];
    if (place === undefined) return null;
    return VIEWS[place.type](buffer, 8 + length + place.offset, place.length) as unknown as T;
  };
  const need = <T extends ArrayLike<number>>(name: string): T => {
    const found = block<T>(name);
    if (found === null) throw new DataError(`The page's data lack ${name}. Write the page again.`);
    return found;
  };
  return assemble(header, block, need);
}

type Block = <T extends ArrayLike<number>>(name: string) => T | null;
type Need = <T extends ArrayLike<number>>(name: string) => T;

function assemble(header: Header, block: Block, need: Need): Scene {
  const n = header.nodes;
  const edges = edgeList(n, need<Uint32Array>("edge_counts"), need<Uint32Array>("edge_targets"));
  const text = JSON.parse(new TextDecoder().decode(need<Uint8Array>("text"))) as {
    ids: string[] | null;
    titles: string[] | null;
  };
  const scale = (values: Uint16Array): Float32Array => Float32Array.from(values, (v) => v / 65535);
  const c = header.classes.length;
  const shares = block<Uint16Array>("probabilities");
  const probabilities = shares ? scale(shares) : null;
  const better = block<Uint16Array>("calibrated");
  const calibrated = better ? scale(better) : probabilities;
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
    x: scale(need<Uint16Array>("x")),
    y: scale(need<Uint16Array>("y")),
    edges,
    adjacency: adjacencyOf(n, edges, block<Float64Array>("weights"), block<Float64Array>("degrees")),
    ids: text.ids ?? Array.from({ length: n }, (_, i) => String(i)),
    titles: text.titles,
    labels: need<Int16Array>("labels"),
    roles: need<Uint8Array>("roles"),
    classes: header.classes,
    predicted,
    probabilities,
    calibrated,
    confidence,
    confidenceName: better ? "calibrated confidence" : "confidence",
    sets: block<Uint8Array>("sets"),
    reasons: reasonsOf(block),
  };
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
  given: Float64Array | null,
  whole: Float64Array | null,
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

function reasonsOf(block: Block): Reasons | null {
  const nodes = block<Uint32Array>("why_nodes");
  const classes = block<Uint16Array>("why_classes");
  const sources = block<Uint32Array>("why_sources");
  const given = block<Float32Array>("why_given");
  const rest = block<Float32Array>("why_rest");
  const hops = block<Float32Array>("why_hops");
  if (!nodes || !nodes.length || !classes || !sources || !given || !rest || !hops) return null;
  const row = new Map<number, number>();
  nodes.forEach((node, k) => row.set(node, k));
  return {
    nodes, row, classes, sources, given, rest, hops,
    perNode: sources.length / nodes.length,
    hopsPerNode: hops.length / nodes.length / 2,
  };
}
