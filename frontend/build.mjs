// Builds the page's script and style into the Python package, with the licences of what is bundled
// and a hash of the sources, by which a test tells a stale build without Node.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const assets = join(here, "..", "src", "graphheat", "explorer", "assets");

const result = await build({
  absWorkingDir: here,
  entryPoints: { explorer: "src/main.ts", style: "src/style.css" },
  bundle: true,
  minify: true,
  target: ["es2022"],
  format: "iife",
  charset: "ascii",
  legalComments: "none",
  metafile: true,
  write: false,
  outdir: "out",
});
for (const file of result.outputFiles) {
  const name = file.path.endsWith(".css") ? "explorer.css" : "explorer.js";
  // The text stands inside <script> and <style>; nothing in it may end them.
  if (/<\/(script|style)|<!--/i.test(file.text)) throw new Error(`${name} would end its element`);
  writeFileSync(join(assets, name), file.text.trim());
}

const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
  if (found) packages.add(found[1]);
}
const licences = [...packages].sort().map((name) => {
  const folder = join(here, "node_modules", name);
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (!file) throw new Error(`${name} has no licence file`);
  return `${name} ${about.version} (${about.license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
});
const rule = `\n${"-".repeat(78)}\n\n`;
writeFileSync(join(assets, "LICENSES.txt"), `explorer.js contains the following packages.\n${rule}${licences.join(rule)}`);

// The same order and bytes as tests/explorer/test_explorer_build.py.
function sources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((each) =>
    each.isDirectory() ? sources(join(folder, each.name)) : [join(folder, each.name)],
  );
}
const names = ["build.mjs", "package.json", "package-lock.json", "tsconfig.json"];
names.push(...sources(join(here, "src")).map((path) => relative(here, path).split("\\").join("/")));
const digest = createHash("sha256");
for (const name of names.sort()) {
  digest.update(`${name}\n`);
  digest.update(readFileSync(join(here, name)));
}
const built = {};
for (const name of ["explorer.js", "explorer.css"]) {
  built[name] = createHash("sha256").update(readFileSync(join(assets, name))).digest("hex");
}
writeFileSync(join(assets, "build.json"), `${JSON.stringify({ sources: digest.digest("hex"), ...built }, null, 2)}\n`);
console.log("built", [...packages].join(", "));
