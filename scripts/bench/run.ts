/**
 * `bun run bench`: measures the executable and its peers in turn on this machine, prints a table, and writes all
 * figures to bench.json. With --write it also updates docs/benchmarks.md, the README and scripts/bench/results.json,
 * which a test compares with both pages. A section that fails does not stop the others, and its error stands in place of
 * its figures. Then the exit code is 1 and nothing is published.
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
  const { sections, failed } = await measureAll(options, { found, user });
  const document: Results = {
    run: crypto.randomUUID().slice(0, 8),
    date: new Date().toISOString().slice(0, 10),
    command: ["bun run bench", ...options.words].join(" "),
    machine,
    peers: found.versions,
    sections: figuresOf(sections, found.versions),
  };
  if (!options.json) process.stdout.write(`${table(sections, machine)}${absent(found)}`);
  writeResults(document);
  if (failed.length > 0) {
    process.stderr.write(
      `Some sections failed${options.write ? ", so nothing was published" : ""}:\n${failed.join("\n")}\n`,
    );
    process.exitCode = 1;
  } else if (options.write) {
    publish(document);
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** Measures each section in turn. The sections that failed are also returned as lines: the name and the error. */
async function measureAll(
  { names, runs, rounds, binary, corpus }: Options,
  { found, user }: Pick<Bench, "found" | "user">,
): Promise<{ sections: Section[]; failed: string[] }> {
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
  const failed: string[] = [];
  for (const name of names) {
    const startedAt = performance.now();
    try {
      const { rows, notes = [] } = await measures[name]!(bench);
      figuresOf([{ name, rows, notes }], found.versions);
      sections.push({ name, rows, notes });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      failed.push(`${name}: ${reason}`);
      sections.push({ name, rows: [], notes: [`Not measured: ${reason}`] });
    }
    if (process.stderr.isTTY)
      process.stderr.write(`${name}: ${Math.round((performance.now() - startedAt) / 1_000)} s\n`);
  }
  return { sections, failed };
}

function asText(document: Results): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

function writeResults(document: Results): void {
  if (options.json) process.stdout.write(asText(document));
  writeFileSync(out, asText(document));
}

/** Updates the pages and the results that they are compared with. Nothing is written if a page cannot be updated. */
function publish(document: Results): void {
  const changed = pages.map((page) => pageWith(page, document));
  writeFileSync(results, asText(document));
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
