/** What a page's data hold. Written by scripts/make_schema.py. */

export const MAGIC = 0x47485831; // "GHX1"
export const SPLITS = ["", "train", "validation", "test"] as const;
export const SOURCES = 12;
export const NO_SOURCE = 4294967295;
export const HOPS = 6;
export const FEATURES = 6;
export const UNIT = 65535;

export const ARRAYS = {
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  int8: Int8Array,
  int16: Int16Array,
  float32: Float32Array,
  float64: Float64Array,
};

export interface Blocks {
  /** Shape nodes. Place from left to right, 0 … 65535. */
  x: Uint16Array;
  /** Shape nodes. Place from the bottom to the top, 0 … 65535. */
  y: Uint16Array;
  /** Shape nodes. Edges to this node or later ones. */
  edge_counts: Uint32Array;
  /** Shape edges. Their other ends, node by node. */
  edge_targets: Uint32Array;
  /** Shape nodes. Class codes; -1 = unlabelled. */
  labels: Int16Array;
  /** Shape nodes. Codes of SPLITS. */
  split: Uint8Array;
  /** Shape bytes. JSON: ids (null = row numbers), titles, features. */
  text: Uint8Array;
  /** Shape edges. Edge weights, unless all are 1. */
  weights?: Float64Array;
  /** Shape nodes. In the whole graph, of a part of it. */
  degrees?: Float64Array;
  /** Shape nodes × classes. In 65535ths. */
  probabilities?: Uint16Array;
  /** Shape nodes × classes. The same, scaled. */
  calibrated?: Uint16Array;
  /** Shape nodes × classes. 1 = in the prediction set. */
  sets?: Uint8Array;
  /** Shape explained. The least confident nodes. */
  why_nodes?: Uint32Array;
  /** Shape explained × 2. Their two most probable classes. */
  why_classes?: Uint16Array;
  /** Shape explained × 12. Largest first, or NO_SOURCE. */
  why_sources?: Uint32Array;
  /** Shape explained × 12 × 2. Contributions to logits. */
  why_given?: Float32Array;
  /** Shape explained × 2. Of other sources and the constant. */
  why_rest?: Float32Array;
  /** Shape explained × 2 × 6. Contributions by distance. */
  why_hops?: Float32Array;
  /** Shape explained × 6. Places in the text's features, largest first, or NO_SOURCE. */
  why_features?: Uint32Array;
  /** Shape explained × 6 × 2. What those features gave. */
  why_feature_given?: Float32Array;
  /** Shape suspects. Most doubtful labels first. */
  suspect_nodes?: Uint32Array;
  /** Shape suspects. What others suggest. */
  suspect_classes?: Uint16Array;
  /** Shape suspects. How likely wrong. */
  suspect_odds?: Float32Array;
}

export interface Rule {
  type: keyof typeof ARRAYS;
  shape: readonly (string | number)[];
  of: "graph" | "run" | "calibration";
  optional: boolean;
}

export const BLOCKS: { readonly [K in keyof Blocks]-?: Rule } = {
  x: { type: "uint16", shape: ["nodes"], of: "graph", optional: false },
  y: { type: "uint16", shape: ["nodes"], of: "graph", optional: false },
  edge_counts: { type: "uint32", shape: ["nodes"], of: "graph", optional: false },
  edge_targets: { type: "uint32", shape: ["edges"], of: "graph", optional: false },
  labels: { type: "int16", shape: ["nodes"], of: "graph", optional: false },
  split: { type: "uint8", shape: ["nodes"], of: "graph", optional: false },
  text: { type: "uint8", shape: ["bytes"], of: "graph", optional: false },
  weights: { type: "float64", shape: ["edges"], of: "graph", optional: true },
  degrees: { type: "float64", shape: ["nodes"], of: "graph", optional: true },
  probabilities: { type: "uint16", shape: ["nodes", "classes"], of: "run", optional: false },
  calibrated: { type: "uint16", shape: ["nodes", "classes"], of: "calibration", optional: false },
  sets: { type: "uint8", shape: ["nodes", "classes"], of: "calibration", optional: false },
  why_nodes: { type: "uint32", shape: ["explained"], of: "run", optional: false },
  why_classes: { type: "uint16", shape: ["explained", 2], of: "run", optional: false },
  why_sources: { type: "uint32", shape: ["explained", 12], of: "run", optional: false },
  why_given: { type: "float32", shape: ["explained", 12, 2], of: "run", optional: false },
  why_rest: { type: "float32", shape: ["explained", 2], of: "run", optional: false },
  why_hops: { type: "float32", shape: ["explained", 2, 6], of: "run", optional: false },
  why_features: { type: "uint32", shape: ["explained", 6], of: "run", optional: true },
  why_feature_given: { type: "float32", shape: ["explained", 6, 2], of: "run", optional: true },
  suspect_nodes: { type: "uint32", shape: ["suspects"], of: "graph", optional: true },
  suspect_classes: { type: "uint16", shape: ["suspects"], of: "graph", optional: true },
  suspect_odds: { type: "float32", shape: ["suspects"], of: "graph", optional: true },
};

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

export interface ServerHeader {
  version: number;
}

export interface Place {
  type: string;
  offset: number;
  length: number;
}

export interface Header {
  name: string;
  fingerprint: string;
  nodes: number;
  edges: number;
  whole: number | null;
  classes: string[];
  title: string;
  s: number;
  eps: number;
  note: string | null;
  run: RunHeader | null;
  noun?: string;
  server?: ServerHeader;
  blocks: { [K in keyof Blocks]?: Place };
}
