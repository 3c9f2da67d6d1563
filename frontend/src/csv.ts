/** Tables as CSV, whose cells no spreadsheet takes for formulas. */

/** A cell; what a spreadsheet would compute is marked as text, as the library marks it. */
export function cell(value: string | number): string {
  let text = String(value);
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);
  if (typeof value === "string" && !number && /^[=+\-@\t\r\n]/.test(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

export function table(head: string[], rows: (string | number)[][]): string {
  return [head, ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");
}
