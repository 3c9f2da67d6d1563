/** Elements, built from text alone: what a graph's author wrote is never read as markup. */

type Value = string | number | boolean | null | undefined | ((event: never) => void);
type Child = Node | string | number | null | undefined | false;

function fill(element: Element, attributes: Record<string, Value>, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else if (name === "class") element.setAttribute("class", String(value));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

/** A user's words: isolated, so that right-to-left text does not turn its surroundings. */
export function words(text: string, className = ""): HTMLElement {
  return h("bdi", { class: className || null }, text);
}

export function swatch(colour: string): HTMLElement {
  const mark = h("span", { class: "swatch", "aria-hidden": "true" });
  mark.style.backgroundColor = colour;
  return mark;
}

export function bar(share: number, colour: string, className = "bar-fill"): HTMLElement {
  const fillElement = h("span", { class: className });
  fillElement.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  fillElement.style.backgroundColor = colour;
  return h("span", { class: "bar-track", "aria-hidden": "true" }, fillElement);
}

export function weightText(weight: number): string {
  if (weight === 0) return "0";
  return weight >= 1e-4 ? weight.toFixed(4) : weight.toExponential(1);
}

export function count(value: number): string {
  return value.toLocaleString("en-US");
}

export function percent(value: number, digits = 1): string {
  return `${(100 * value).toFixed(digits)}\u00a0%`;
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}
