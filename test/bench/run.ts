/** `bun run bench [--runs n] [--json]`: measures the executable beside others, in turn on this machine. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { executable } from "../support/claudikins.ts";
import { everything } from "../support/servers.ts";
import { type Executions, measureExecutions } from "./executions.ts";
import { type Comparison, compare, initializeMs, processMs } from "./measure.ts";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "20" }, json: { type: "boolean", default: false } },
});
const runs = Number(values.runs);
if (!Number.isInteger(runs) || runs < 1) throw new Error(`--runs takes a whole number, got ${values.runs}`);

// Everything else of the environment stays as it is, for both: it is the user's, and some of it costs one of them time.
const home = mkdtempSync(join(tmpdir(), "claudikins-bench-"));
process.env["HOME"] = home;
for (const name of Object.keys(process.env)) if (name.startsWith("XDG_")) delete process.env[name];
try {
  const binary = executable();
  const node = () => processMs(["node", "-e", "0"], home);
  const rows = [
    await compare(
      "exec -e 'return 1', start to exit / node -e 0",
      runs,
      () => processMs([binary, "exec", "-e", "return 1"], home),
      node,
    ),
    await compare(
      "serve, start to initialize answered / node -e 0",
      runs,
      () => initializeMs([binary, "serve"], home),
      node,
    ),
  ];
  writeFileSync(join(home, "claudikins.json"), JSON.stringify({ mcpServers: { everything: everything() } }));
  const executions = await measureExecutions(binary, home, Math.min(runs, 15));
  process.stdout.write(
    values.json ? `${JSON.stringify({ measured: rows, executions })}\n` : table(rows) + executionsText(executions),
  );
} finally {
  rmSync(home, { recursive: true, force: true });
}

function table(rows: Comparison[]): string {
  const lines = rows.map(({ name, oursMs, otherMs, ratio }) => [
    name.padEnd(Math.max(...rows.map((row) => row.name.length))),
    `${oursMs.toFixed(1)} ms`.padStart(9),
    `${otherMs.toFixed(1)} ms`.padStart(9),
    `${ratio.toFixed(2)}x`.padStart(7),
  ]);
  const note = `Measured: whole processes in turn, medians of ${runs} pairs; the ratio is the median of the pairs' ratios.`;
  return `${lines.map((line) => line.join("  ")).join("\n")}\n${note}\n`;
}

function executionsText({ warmMs, residentMb, sequential, parallel }: Executions): string {
  const pair = (name: string, { oursMs, rawMs, ratio }: Executions["sequential"]) =>
    `${name}: ${oursMs.toFixed(1)} ms in code, ${rawMs.toFixed(1)} ms by the SDK's client, ${ratio.toFixed(2)}x`;
  return [
    `execute_code "return 1", warm, as the host sees it: p50 ${warmMs.p50.toFixed(2)} ms, p99 ${warmMs.p99.toFixed(2)} ms (${warmMs.runs} runs)`,
    residentMb
      ? `resident size of serve: ${residentMb.before} MB, after 1,000 more executions ${residentMb.after} MB`
      : "resident size of serve: not measurable here, there is no /proc",
    pair("100 calls one after the other", sequential),
    pair("100 calls together", parallel),
    "",
  ].join("\n");
}
