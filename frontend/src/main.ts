/** The page: a bar, the graph, and a panel of tabs. */

import type { Mode } from "./colours";
import { DataError, Scene, decode } from "./data";
import { count, h, plural, weightText, words } from "./dom";
import { Explorer } from "./explorer";
import { Controls } from "./panels/controls";
import { HeatPanel } from "./panels/heat";
import { LabelPanel } from "./panels/label";
import { NodesPanel } from "./panels/nodes";
import { knowledge } from "./panels/overview";
import { WhyPanel } from "./panels/why";
import { neighbourhoodCsv, saveCsv, savePicture } from "./save";
import { Search } from "./search";
import { Server } from "./server";
import { Stage } from "./stage";
import { Tab, modesOf } from "./state";

const MODES: Record<Mode, string> = {
  predicted: "predicted class",
  label: "actual class",
  confidence: "confidence",
  split: "split",
  right: "correctness",
  heat: "heat",
  plain: "one colour",
};

function fail(app: HTMLElement, message: string): void {
  app.replaceChildren(
    h("div", { class: "failed", role: "alert" }, h("h1", {}, "This page cannot be shown"), h("p", {}, message)),
  );
}

async function start(): Promise<void> {
  const app = document.getElementById("app");
  const data = document.getElementById("data");
  if (!app || !data) return;
  try {
    const scene = await decode(data.textContent ?? "");
    data.remove(); // a few megabytes of text that nobody reads again
    build(app, scene);
  } catch (error) {
    const known = error instanceof DataError;
    fail(app, known ? error.message : `Something in the page's data or script is wrong: ${String(error)}`);
  }
}

function build(app: HTMLElement, scene: Scene): void {
  const explorer = new Explorer(scene);
  const server = scene.header.server ? new Server(explorer.labelling) : null;
  const applyTheme = (): void => {
    document.documentElement.dataset.theme = explorer.theme.dark ? "dark" : "light";
  };
  applyTheme();
  const stage = new Stage(explorer);
  const controls = new Controls(explorer);
  const search = new Search(explorer);
  const csv = (): void => saveCsv(explorer);
  const labels = new LabelPanel(explorer, server);
  const live = h("p", { class: "for-readers", "aria-live": "polite" });
  const help = keyboardHelp();
  app.replaceChildren(
    header(explorer, search, stage, help),
    h("div", { class: "middle" }, stage.element, panel(explorer, controls, labels, csv)),
    live,
    help,
  );
  const showTab = (): void => {
    app.dataset.tab = explorer.state.tab;
  };
  showTab();
  stage.open();
  explorer.listen((changed) => {
    if (changed.has("theme")) applyTheme();
    if (changed.has("tab")) showTab();
  });
  announce(explorer, live);
  server?.start();
  shortcuts(explorer, controls, labels, search, help);
  Object.assign(window, {
    graphheat: {
      get scene() {
        return explorer.scene;
      },
      explorer,
      labelling: explorer.labelling,
      view: stage.kind,
      heat: (node: number, s: number) => explorer.heatFrom(node, s),
      where: (node: number) => stage.where(node),
      picture: () => stage.picture().toDataURL("image/png"),
      csv: () => neighbourhoodCsv(explorer),
    },
  });
  document.documentElement.dataset.ready = stage.kind;
}

function header(explorer: Explorer, search: Search, stage: Stage, help: HTMLDialogElement): HTMLElement {
  const { header: about } = explorer.own;
  const select = h("select", { id: "colour", change: () => explorer.set({ mode: select.value as Mode }) });
  const showModes = (): void => {
    const { scene } = explorer;
    const name = (mode: Mode): string => (mode === "label" && scene.labelled ? "your labels" : MODES[mode]);
    select.replaceChildren(...modesOf(scene).map((mode) => h("option", { value: mode }, name(mode))));
    select.value = explorer.state.mode;
  };
  showModes();
  const theme = h("button", { type: "button", class: "icon", click: () =>
    explorer.set({ theme: explorer.theme.dark ? "light" : "dark" }) });
  const showTheme = (): void => {
    theme.textContent = explorer.theme.dark ? "☀" : "☾";
    theme.setAttribute("aria-label", explorer.theme.dark ? "Light colours" : "Dark colours");
    theme.title = explorer.theme.dark ? "Light colours" : "Dark colours";
  };
  showTheme();
  explorer.listen((changed) => {
    if (changed.has("labels") || changed.has("mine") || changed.has("tab")) showModes();
    else if (changed.has("mode")) select.value = explorer.state.mode;
    if (changed.has("theme")) showTheme();
  });
  return h(
    "header",
    { class: "bar" },
    h("div", { class: "heading" },
      h("h1", {}, words(about.title)),
      h("p", {}, `${plural(about.nodes, "node")}, ${plural(about.edges, "edge")}` + (about.whole ? ` of ${count(about.whole)} nodes` : ""))),
    search.element,
    h("div", { class: "tools" },
      h("label", { for: "colour" }, "Colour"), select,
      h("button", { type: "button", click: () => savePicture(explorer, stage.picture()), title: "Save the view as a PNG picture" }, "PNG"),
      theme,
      h("button", { type: "button", class: "icon", "aria-label": "Help and keys", title: "Help and keys (?)", click: () => help.showModal() }, "?")),
    about.note ? h("p", { class: "note", role: "note" }, about.note) : null,
  );
}

function panel(explorer: Explorer, controls: Controls, labels: LabelPanel, csv: () => void): HTMLElement {
  const tabs: [Tab, string, HTMLElement][] = [
    ["heat", "Heat", new HeatPanel(explorer, controls, csv).element],
    ["why", "Why this label", new WhyPanel(explorer).element],
    ["nodes", explorer.own.predicted ? "Nodes and errors" : "Nodes", new NodesPanel(explorer).element],
    ["label", "Label", labels.element],
  ];
  const there = (tab: Tab): boolean => tab !== "why" || explorer.scene.predicted !== null;
  const buttons = tabs.map(([tab, name]) =>
    h("button", { type: "button", role: "tab", id: `tab-${tab}`, "aria-controls": `panel-${tab}`, click: () => explorer.set({ tab }) }, name));
  const boxes = tabs.map(([tab, , element]) =>
    h("div", { role: "tabpanel", id: `panel-${tab}`, "aria-labelledby": `tab-${tab}`, class: "tab-box" }, element));
  const list = h("div", { role: "tablist", class: "tabs", "aria-label": "Panels", keydown: (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: tabs.length - 1 }[event.key];
    if (step === undefined) return;
    let at = (tabs.findIndex(([tab]) => tab === explorer.state.tab) + step) % tabs.length;
    if (!there(tabs[at][0])) at = (at + step) % tabs.length;
    explorer.set({ tab: tabs[at][0] });
    buttons[at].focus();
  } }, ...buttons);
  const show = (): void => tabs.forEach(([tab], k) => {
    const chosen = tab === explorer.state.tab;
    buttons[k].setAttribute("aria-selected", String(chosen));
    buttons[k].tabIndex = chosen ? 0 : -1;
    buttons[k].hidden = !there(tab);
    boxes[k].hidden = !chosen;
  });
  show();
  explorer.listen((changed) => {
    if (changed.has("tab") || changed.has("mine") || changed.has("labels")) show();
    // A row's button goes with its row: what it led to takes the focus.
    if (changed.has("node") && explorer.near && document.activeElement === document.body) {
      document.querySelector<HTMLElement>(".tab-box:not([hidden]) #node-heading")?.focus();
    }
  });
  return h("aside", { class: "panel", "aria-label": "Heat, labels and nodes" }, list, ...boxes);
}

/** Say in a sentence what has changed, for those who do not see it. */
function announce(explorer: Explorer, live: HTMLElement): void {
  let timer = 0;
  explorer.listen((changed) => {
    if (!["node", "s", "eps", "suggested"].some((key) => changed.has(key as "node"))) return;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      const { near } = explorer;
      if (explorer.state.tab === "label") {
        const { asked } = explorer;
        live.textContent = `${knowledge(explorer)} ${asked === null ? "Every node has an answer." : `Next: ${explorer.nodeName(asked)}.`}`;
        return;
      }
      live.textContent = near
        ? `Heat from node ${explorer.nodeName(near.index)}, s ${near.s}: ${plural(near.neighbours.length, "neighbour")}, ` +
          `range ${plural(near.range, "hop")}, ${weightText(near.selfWeight)} stays.`
        : "No source of heat.";
    }, 500);
  });
}

const KEYS: [string, string][] = [
  ["1 … 9", "give the node its class, in the tab Label"],
  ["u  s", "unsure, skip"],
  ["z  y", "undo, redo"],
  ["/", "search"],
  ["[  ]", "less or more s"],
  ["space", "let s run, or stop it"],
  ["Esc", "clear the source, then the filter"],
  ["arrows, + − 0", "move and zoom, when the graph has the focus"],
  ["?", "this help"],
];

function keyboardHelp(): HTMLDialogElement {
  const dialog: HTMLDialogElement = h(
    "dialog",
    { class: "help", "aria-labelledby": "help-heading" },
    h("h2", { id: "help-heading" }, "How to read this page"),
    h("p", {}, "Heat flows from a node along the edges for a time s; e^(−sL) gives how much arrives at every other node. Nodes that receive at least eps " +
      "are its neighbours. Most are near, but a farther node with many paths to the source may weigh more than a direct neighbour that is a hub."),
    h("p", {}, "In the tab Label you give a few nodes their class. Heat carries each label along the edges, and every other node takes the class " +
      "that sends it most. Labels stay in this browser; save them as CSV to take them along."),
    h("p", {}, "The address holds what you chose: copy it to come back."),
    h("dl", {}, ...KEYS.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
    h("button", { type: "button", click: () => dialog.close() }, "Close"),
  );
  return dialog;
}

function shortcuts(explorer: Explorer, controls: Controls, labels: LabelPanel, search: Search, help: HTMLDialogElement): void {
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const typing = target.matches("input, select, textarea") && target.getAttribute("type") !== "range";
    if (typing || help.open || labels.key(event)) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { s, node } = explorer.state;
    const acts: Record<string, () => void> = {
      "/": () => search.input.focus(),
      "[": () => explorer.set({ s: Math.max(0, Math.round((s - 0.5) * 100) / 100) }),
      "]": () => explorer.set({ s: Math.min(10, Math.round((s + 0.5) * 100) / 100) }),
      "?": () => help.showModal(),
      Escape: () => (node !== null ? explorer.select(null) : explorer.set({ filter: null })),
    };
    if (!target.matches("button, summary, a")) acts[" "] = () => controls.toggle();
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

void start();
