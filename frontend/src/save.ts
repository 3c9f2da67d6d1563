/** What the reader can take away: a picture, and a table. */

import { table } from "./csv";
import type { Explorer } from "./explorer";

export const LABELS_FILE = "labels.csv";
export const PREDICTIONS_FILE = "predictions.csv";

function download(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.download = name;
  link.href = URL.createObjectURL(blob);
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function fileName(explorer: Explorer, suffix: string): string {
  const { near, scene } = explorer;
  const parts = [scene.header.name, near ? scene.ids[near.index] : "", near ? `s${near.s}` : ""];
  return `${parts.filter(Boolean).join("-").replace(/[^\w.-]+/g, "_").slice(0, 80)}.${suffix}`;
}

export function savePicture(explorer: Explorer, picture: HTMLCanvasElement): void {
  picture.toBlob((blob) => blob && download(fileName(explorer, "png"), blob), "image/png");
}

export function neighbourhoodCsv(explorer: Explorer): string {
  const { near, scene } = explorer;
  if (!near) return "";
  const head = ["node", "title", "weight", "hops", "label"];
  if (scene.predicted) head.push("predicted", "confidence");
  const name = (code: number): string => (code < 0 ? "" : scene.classes[code]);
  const rows = [near.index, ...near.neighbours].map((node) => {
    const row: (string | number)[] = [
      scene.ids[node], scene.titles?.[node] ?? "", near.heat[node], near.hops[node], name(scene.labels[node]),
    ];
    if (scene.predicted) row.push(name(scene.predicted[node]), Number(scene.confidence![node].toFixed(5)));
    return row;
  });
  return table(head, rows);
}

export function saveCsv(explorer: Explorer): void {
  if (explorer.near) download(fileName(explorer, "csv"), csvBlob(neighbourhoodCsv(explorer)));
}

/** A list of nodes, as the panel of nodes shows it. */
export function nodesCsv(explorer: Explorer, nodes: number[]): string {
  const { scene } = explorer;
  const name = (code: number): string => (code < 0 ? "" : scene.classes[code]);
  const head = ["node", "title", "label"];
  if (scene.predicted) head.push("predicted", "confidence");
  return table(head, nodes.map((node) => {
    const row: (string | number)[] = [scene.ids[node], scene.titles?.[node] ?? "", name(scene.labels[node])];
    // Where no heat has come nothing is predicted, and nothing is sure.
    if (scene.predicted) row.push(name(scene.predicted[node]), scene.predicted[node] < 0 ? "" : Number(scene.confidence![node].toFixed(5)));
    return row;
  }));
}

export function saveNodes(explorer: Explorer, nodes: number[]): void {
  download(`${explorer.scene.header.name.replace(/[^\w.-]+/g, "_").slice(0, 60)}-nodes.csv`, csvBlob(nodesCsv(explorer, nodes)));
}

export function saveLabels(explorer: Explorer): void {
  download(LABELS_FILE, csvBlob(explorer.labelling.csv()));
}

/** Every node, with its label or what is predicted of it. */
export function savePredictions(explorer: Explorer): void {
  download(PREDICTIONS_FILE, csvBlob(nodesCsv(explorer, explorer.scene.ids.map((_, node) => node))));
}

function csvBlob(text: string): Blob {
  return new Blob([text], { type: "text/csv" });
}
