/** What the reader can take away: a picture, and a table. */

import type { Explorer } from "./explorer";

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

/** A cell of a CSV file; what a spreadsheet would take for a formula is marked as text. */
function cell(value: string | number): string {
  let text = String(value);
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);
  if (typeof value === "string" && !number && /^[=+\-@\t\r\n]/.test(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
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
    return row.map(cell).join(",");
  });
  return `${head.join(",")}\n${rows.join("\n")}\n`;
}

export function saveCsv(explorer: Explorer): void {
  if (explorer.near) download(fileName(explorer, "csv"), new Blob([neighbourhoodCsv(explorer)], { type: "text/csv" }));
}
