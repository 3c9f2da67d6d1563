/** Whom a node's heat reaches, and how that compares with its hops. */

export interface Ring {
  hop: number;
  /** Nodes at this distance, and those of them that heat reaches. */
  nodes: number;
  reached: number;
  heat: number;
}

export interface Case {
  near: number;
  far: number;
  farHop: number;
  /** How many farther nodes weigh more than the lightest first-order one. */
  overtaking: number;
}

export interface Neighbourhood {
  index: number;
  s: number;
  eps: number;
  heat: Float64Array;
  hops: Int32Array;
  /** Heaviest first; the node itself is not among them. */
  neighbours: Uint32Array;
  selfWeight: number;
  range: number;
  maxRange: number;
  rings: Ring[];
  case: Case | null;
}

export function neighbourhoodOf(
  index: number,
  s: number,
  eps: number,
  heat: Float64Array,
  hops: Int32Array,
): Neighbourhood {
  const found: number[] = [];
  const rings: Ring[] = [];
  let [range, maxRange] = [0, 0];
  for (let i = 0; i < heat.length; i++) {
    const hop = hops[i];
    if (hop < 0) continue;
    if (hop > maxRange) maxRange = hop;
    while (rings.length <= hop) rings.push({ hop: rings.length, nodes: 0, reached: 0, heat: 0 });
    const ring = rings[hop];
    ring.nodes++;
    ring.heat += heat[i];
    if (heat[i] < eps || heat[i] <= 0) continue;
    ring.reached++;
    if (i === index) continue;
    found.push(i);
    if (hop > range) range = hop;
  }
  found.sort((a, b) => heat[b] - heat[a] || a - b);
  return {
    index, s, eps, heat, hops,
    neighbours: Uint32Array.from(found),
    selfWeight: heat[index],
    range, maxRange, rings,
    case: caseOf(found, heat, hops),
  };
}

/** The paper's case: a farther neighbour that weighs more than a first-order one. */
function caseOf(found: number[], heat: Float64Array, hops: Int32Array): Case | null {
  let [near, far] = [-1, -1];
  for (const node of found) {
    if (hops[node] === 1) near = node; // the last one is the lightest
    else if (far < 0) far = node; // the first one is the heaviest
  }
  if (near < 0 || far < 0 || !(heat[far] > heat[near])) return null;
  const overtaking = found.filter((node) => hops[node] > 1 && heat[node] > heat[near]).length;
  return { near, far, farHop: hops[far], overtaking };
}

export function orderName(hop: number): string {
  return ["zeroth", "first", "second", "third", "fourth", "fifth", "sixth"][hop] ?? `${hop}th`;
}
