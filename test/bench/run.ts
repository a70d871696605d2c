/**
 * `bun run bench [--runs n] [--only name,…] [--no-deno] [--json]`: measures the executable beside the SDK's own client,
 * `node:vm`, Deno and mcporter, in turn on this machine.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { executable } from "../support/claudikins.ts";
import { measureCall } from "./call.ts";
import { measureCalls } from "./calls.ts";
import { measureCancel } from "./cancel.ts";
import { measureCompute } from "./compute.ts";
import { measureFiles } from "./files.ts";
import { measureGen } from "./gen.ts";
import { measureGrowthAlone } from "./growth.ts";
import { measureLargeResult } from "./large-result.ts";
import { measureMemory } from "./memory.ts";
import { type Deno, findDeno } from "./peers/deno.ts";
import { measurePool } from "./pool.ts";
import { type Section, table, thisMachine } from "./report.ts";
import { measureSearch } from "./search.ts";
import type { Bench, Measure } from "./section.ts";
import { measureStartup } from "./startup.ts";
import { measureSurface } from "./surface.ts";
import { measureWarm } from "./warm.ts";

const measures: Record<string, Measure> = {
  startup: measureStartup,
  surface: measureSurface,
  warm: measureWarm,
  call: measureCall,
  calls: measureCalls,
  pool: measurePool,
  "large-result": measureLargeResult,
  compute: measureCompute,
  memory: measureMemory,
  growth: measureGrowthAlone,
  cancel: measureCancel,
  files: measureFiles,
  search: measureSearch,
  gen: measureGen,
};

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "20" },
    only: { type: "string", default: Object.keys(measures).join(",") },
    "no-deno": { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const runs = Number(values.runs);
if (!Number.isInteger(runs) || runs < 1) throw new Error(`--runs takes a whole number, got ${values.runs}`);
const names = values.only.split(",");
const unknown = names.find((name) => !(name in measures));
if (unknown !== undefined) throw new Error(`--only has "${unknown}"; there are ${Object.keys(measures).join(", ")}`);

const home = mkdtempSync(join(tmpdir(), "claudikins-bench-"));
try {
  // Looked for in the user's own cache, before the home is another.
  const deno: Deno = values["no-deno"] ? { missing: "--no-deno" } : await findDeno(join(home, "deno"));
  const user = { ...process.env };
  // Everything else of the environment stays as it is, for all: it is the user's, and some of it costs one of them time.
  process.env["HOME"] = home;
  for (const name of Object.keys(process.env)) if (name.startsWith("XDG_")) delete process.env[name];
  const bench: Bench = { binary: executable(), runs, deno, user, folder: newFolder };
  const machine = thisMachine();
  const sections: Section[] = [];
  for (const name of names) {
    const { rows, notes = [] } = await measures[name]!(bench);
    sections.push({ name, rows, notes });
  }
  const text = values.json
    ? `${JSON.stringify({ machine, runs, deno: "missing" in deno ? deno : { version: deno.version }, sections })}\n`
    : `${table(sections, machine)}${"missing" in deno ? `\nNo deno here: ${deno.missing}\n` : ""}`;
  process.stdout.write(text);
} finally {
  rmSync(home, { recursive: true, force: true });
}

function newFolder(...[servers, more]: Parameters<Bench["folder"]>): string {
  const folder = mkdtempSync(join(home, "folder-"));
  if (servers) writeFileSync(join(folder, "claudikins.json"), JSON.stringify({ mcpServers: servers, ...more }));
  return folder;
}
