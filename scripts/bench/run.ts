/**
 * `bun run bench`: measures the executable and its peers in turn on this machine, prints a table, and writes all
 * figures to bench.json. With --write it also updates docs/benchmarks.md, the README and scripts/bench/results.json,
 * which a test compares with both pages.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { executable, root } from "../../test/support/claudikins.ts";
import { figuresOf, type Results } from "./figures.ts";
import { type Options, optionsOf } from "./options.ts";
import { pages, withFigures } from "./pages.ts";
import { type Found, findPeers } from "./peers/found.ts";
import { type Section, table, thisMachine } from "./report.ts";
import type { Bench } from "./section.ts";
import { measures } from "./sections.ts";

const options = optionsOf(process.argv.slice(2));
const results = join(root, "scripts", "bench", "results.json");
const out = resolve(options.out);
// The files of an earlier run must not be mistaken for results of this one.
rmSync(out, { force: true });
const home = mkdtempSync(join(tmpdir(), "claudikins-bench-"));
try {
  const user = { ...process.env };
  // Peers are searched in the user's own cache, before the home changes.
  const found = await findPeers(user, options.without, () => newFolder());
  // The rest of the environment is unchanged for all contestants: it belongs to the user, and parts of it cost some contestants time.
  process.env["HOME"] = home;
  // Configs are written for each measurement, and nobody can be asked to trust them.
  process.env["CI"] = "true";
  for (const name of Object.keys(process.env)) if (name.startsWith("XDG_")) delete process.env[name];
  const machine = thisMachine();
  const { sections, failures } = await measureAll(options, { found, user });
  const document: Results = {
    run: crypto.randomUUID().slice(0, 8),
    date: new Date().toISOString().slice(0, 10),
    command: ["bun run bench", ...options.words].join(" "),
    machine,
    peers: found.versions,
    sections: failures.length > 0 ? [] : figuresOf(sections, found.versions),
  };
  if (!options.json) process.stdout.write(`${table(sections, machine)}${absent(found)}`);
  if (failures.length > 0) {
    process.stderr.write(`Nothing was written, because some sections failed:\n${failures.join("\n")}\n`);
    process.exitCode = 1;
  } else {
    publish(document);
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** Measures each section in turn. A failed section does not stop the others; all failures are reported together. */
async function measureAll(
  { names, runs, rounds, binary, corpus }: Options,
  { found, user }: Pick<Bench, "found" | "user">,
): Promise<{ sections: Section[]; failures: string[] }> {
  const bench: Bench = {
    binary: binary === undefined ? executable("--released") : resolve(binary),
    rounds,
    runs,
    found,
    user,
    corpus,
    folder: newFolder,
  };
  const sections: Section[] = [];
  const failures: string[] = [];
  for (const name of names) {
    const startedAt = performance.now();
    try {
      const { rows, notes = [] } = await measures[name]!(bench);
      figuresOf([{ name, rows, notes }], found.versions);
      sections.push({ name, rows, notes });
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (process.stderr.isTTY)
      process.stderr.write(`${name}: ${Math.round((performance.now() - startedAt) / 1_000)} s\n`);
  }
  return { sections, failures };
}

function publish(document: Results): void {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (options.json) process.stdout.write(text);
  const changed = options.write ? pages.map((page) => pageWith(page, document)) : [];
  writeFileSync(out, text);
  if (!options.write) return;
  writeFileSync(results, text);
  for (const page of changed) writeFileSync(page.file, page.text);
}

function pageWith(page: string, document: Results): { file: string; text: string } {
  const file = join(root, page);
  return { file, text: withFigures(readFileSync(file, "utf8"), document) };
}

function absent({ versions }: Found): string {
  const missing = Object.entries(versions).filter(([, peer]) => "missing" in peer) as [string, { missing: string }][];
  return missing.map(([name, peer]) => `\n${name} was not measured: ${peer.missing}\n`).join("");
}

function newFolder(...[servers, more]: Parameters<Bench["folder"]>): string {
  const folder = mkdtempSync(join(home, "folder-"));
  if (servers) writeFileSync(join(folder, "claudikins.json"), JSON.stringify({ mcpServers: servers, ...more }));
  return folder;
}
