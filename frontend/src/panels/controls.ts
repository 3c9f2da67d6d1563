/** The sliders of s and eps, and the button that lets s run. */

import { h } from "../dom";
import type { Changed, Explorer } from "../explorer";
import { MAX_EPS, MAX_S, MIN_EPS, SLIDER_S, epsText } from "../state";

const LOG_LOW = Math.log10(MIN_EPS);
const LOG_HIGH = Math.log10(MAX_EPS);
const SECONDS = 8; // from one end of the slider to the other

export class Controls {
  readonly element: HTMLElement;
  private readonly sRange: HTMLInputElement;
  private readonly sNumber: HTMLInputElement;
  private readonly epsRange: HTMLInputElement;
  private readonly epsNumber: HTMLInputElement;
  private readonly play: HTMLButtonElement;
  private timer = 0;

  constructor(private readonly explorer: Explorer) {
    this.sRange = h("input", {
      type: "range", id: "s-range", min: 0, max: SLIDER_S, step: 0.05, "aria-label": "Diffusion time s",
      input: () => this.setS(Number(this.sRange.value)),
    });
    this.sNumber = h("input", {
      type: "number", min: 0, max: MAX_S, step: 0.1, "aria-label": "Diffusion time s, as a number",
      change: () => this.setS(Number(this.sNumber.value)),
    });
    this.epsRange = h("input", {
      type: "range", id: "eps-range", min: LOG_LOW, max: LOG_HIGH, step: 0.1, "aria-label": "Threshold eps",
      input: () => this.setEps(Number((10 ** Number(this.epsRange.value)).toPrecision(2))),
    });
    this.epsNumber = h("input", {
      type: "text", inputmode: "decimal", "aria-label": "Threshold eps, as a number",
      change: () => this.setEps(Number(this.epsNumber.value)),
    });
    this.play = h("button", { type: "button", class: "play", click: () => this.toggle() });
    this.element = h(
      "div",
      { class: "controls" },
      h("div", { class: "control" },
        h("label", { for: "s-range" }, h("b", {}, "s"), " diffusion time"),
        h("div", { class: "control-row" }, this.play, this.sRange, this.sNumber)),
      h("div", { class: "control" },
        h("label", { for: "eps-range" }, h("b", {}, "eps"), " least heat of a neighbour"),
        h("div", { class: "control-row" }, this.epsRange, this.epsNumber)),
    );
    this.showPlay();
    this.update();
    explorer.listen((changed) => this.changed(changed));
  }

  get playing(): boolean {
    return this.timer !== 0;
  }

  toggle(): void {
    if (this.timer) {
      cancelAnimationFrame(this.timer);
      this.timer = 0;
    } else {
      let s = this.explorer.state.s >= SLIDER_S - 0.05 ? 0 : this.explorer.state.s;
      let before = performance.now();
      const step = (now: number): void => {
        s += (Math.min(100, now - before) / 1000) * (SLIDER_S / SECONDS);
        before = now;
        this.explorer.set({ s: Math.min(SLIDER_S, Math.round(s * 100) / 100) });
        if (s >= SLIDER_S) {
          this.timer = 0;
          this.showPlay();
        } else this.timer = requestAnimationFrame(step);
      };
      this.timer = requestAnimationFrame(step);
    }
    this.showPlay();
  }

  private showPlay(): void {
    this.play.textContent = this.playing ? "❚❚" : "▶";
    this.play.setAttribute("aria-label", this.playing ? "Stop s" : "Let s run");
    this.play.setAttribute("aria-pressed", String(this.playing));
    this.play.title = this.playing ? "Stop (space)" : "Let s run (space)";
  }

  private setS(s: number): void {
    if (Number.isFinite(s) && s >= 0) this.explorer.set({ s: Math.min(s, MAX_S) });
    this.update();
  }

  private setEps(eps: number): void {
    if (Number.isFinite(eps) && eps >= 0 && eps < 1) this.explorer.set({ eps });
    this.update();
  }

  private changed(changed: Changed): void {
    if (changed.has("s") || changed.has("eps")) this.update();
  }

  private update(): void {
    const { s, eps } = this.explorer.state;
    this.sRange.value = String(s);
    this.sRange.setAttribute("aria-valuetext", `s = ${s}`);
    this.sNumber.value = String(Math.round(s * 100) / 100);
    this.epsRange.value = String(Math.log10(Math.max(eps, MIN_EPS)));
    this.epsRange.setAttribute("aria-valuetext", `eps = ${epsText(eps)}`);
    this.epsNumber.value = epsText(eps);
  }
}
