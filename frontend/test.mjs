// Bundles test/*.test.ts, which Node cannot read itself, and runs them by Node's own test runner.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "graphheat-test-"));
try {
  await build({
    absWorkingDir: here,
    entryPoints: readdirSync(join(here, "test")).filter((name) => name.endsWith(".test.ts")).map((name) => join("test", name)),
    bundle: true,
    platform: "node",
    format: "cjs",
    logLevel: "warning",
    outdir: folder,
  });
  const files = readdirSync(folder).map((name) => join(folder, name));
  process.exitCode = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" }).status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
