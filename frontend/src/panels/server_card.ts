/** What the server behind the page says: how good its model is expected to be, and whether it answers. */

import { h, percent, plural, svg, words } from "../dom";
import type { Explorer } from "../explorer";
import type { Estimate, Server } from "../server";
import { nodeButton } from "./parts";

const WIDTH = 380;
const HEIGHT = 64;
const MODELS: Record<string, string> = { spreading: "Label spreading", linear: "The linear model", auto: "The default model (auto)" };

export class ServerCard {
  readonly element = h("section", { class: "server", "aria-label": "What the models expect" });
  private finished: string | null = null;
  private finishing = false;

  constructor(
    private readonly explorer: Explorer,
    private readonly server: Server,
  ) {
    server.listen(() => this.update());
    this.update();
  }

  private update(): void {
    const { server } = this;
    const { model, progress } = server;
    const parts: (HTMLElement | null)[] = [];
    if (progress && progress.accuracy !== null) {
      const range = progress.low !== null && progress.high !== null ? ` (${percent(progress.low, 0)} to ${percent(progress.high, 0)})` : "";
      const gain = progress.ten_more === null ? "" : ` Ten more labels are expected to bring ${points(progress.ten_more)}.`;
      parts.push(h("p", {}, h("b", {}, percent(progress.accuracy, 0)), ` are expected to be right${range}.${gain}`), this.curve(progress));
    }
    if (model) {
      parts.push(h("p", { class: "hint" }, `${MODELS[model.name] ?? model.name} predicts${server.training ? "; a better one is being trained" : ""}. `, words(model.why)));
    }
    parts.push(this.connection());
    if (server.refused) parts.push(h("p", { class: "wrong", role: "alert" }, words(server.refused)));
    if (server.suspects.length) {
      parts.push(h("p", { class: "hint" }, "Look at these labels again: ",
        ...server.suspects.slice(0, 3).flatMap((node, k) => [k ? ", " : "", nodeButton(this.explorer, node)]), "."));
    }
    parts.push(h("div", { class: "steps" }, h("button", { type: "button", class: "small", disabled: this.finishing, click: () => void this.finish() },
      this.finishing ? "Writing …" : "Write the run and the table")));
    if (this.finished) parts.push(h("p", { class: "hint", role: "status" }, words(this.finished)));
    this.element.replaceChildren(...parts.filter((part): part is HTMLElement => part !== null));
  }

  private connection(): HTMLElement | null {
    const { connected, waiting, refused } = this.server;
    const kept = waiting ? `${plural(waiting, "answer")} ${waiting === 1 ? "waits" : "wait"} to be sent; keep this tab open.` : "";
    if (!connected) return h("p", { class: "wrong", role: "alert" }, `The server does not answer. You can go on labelling. ${kept}`);
    return refused && kept ? h("p", { class: "hint" }, kept) : null;
  }

  private async finish(): Promise<void> {
    this.finishing = true;
    this.update();
    this.finished = await this.server.finish();
    this.finishing = false;
    this.update();
  }

  private curve({ curve }: Estimate): HTMLElement | null {
    if (curve.length < 2) return null;
    const [least, most] = [Math.min, Math.max].map((of) => of(...curve.map(([labels]) => labels)));
    const x = (labels: number): number => 26 + ((labels - least) / Math.max(1, most - least)) * (WIDTH - 34);
    const y = (share: number): number => 6 + (1 - share) * (HEIGHT - 22);
    const point = (labels: number, share: number): string => `${x(labels).toFixed(1)} ${y(share).toFixed(1)}`;
    const band = [...curve.map(([labels, , , high]) => point(labels, high)), ...[...curve].reverse().map(([labels, , low]) => point(labels, low))];
    return h("figure", { class: "course" }, svg("svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Expected accuracy by labels: ${curve.map(([labels, share]) => `${labels}: ${percent(share, 0)}`).join(", ")}` },
      svg("path", { class: "band", d: `M${band.join("L")}Z` }),
      svg("line", { x1: x(least), x2: x(most), y1: y(0), y2: y(0), class: "axis" }),
      svg("text", { x: x(least) - 4, y: y(1) + 8, "text-anchor": "end", class: "tick" }, "1"),
      svg("text", { x: x(least) - 4, y: y(0), "text-anchor": "end", class: "tick" }, "0"),
      svg("text", { x: x(least), y: HEIGHT - 3, "text-anchor": "start", class: "tick" }, String(least)),
      svg("text", { x: x(most), y: HEIGHT - 3, "text-anchor": "end", class: "tick" }, plural(most, "label")),
      svg("path", { class: "curve curve-heat", d: `M${curve.map(([labels, share]) => point(labels, share)).join("L")}` })));
  }
}

/** "about 3 points", from a gain in accuracy. */
function points(gain: number): string {
  const rounded = Math.round(100 * gain);
  return rounded <= 0 ? "little" : `about ${plural(rounded, "point")}`;
}
