/** The time from the abort of a busy loop to its outcome. */
import { defaultLimits } from "../../src/config/defaults.ts";
import { limitsFrom } from "../../src/programs/execute.ts";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import { inTurn, median } from "./measure.ts";
import { type DenoHere, startDeno } from "./peers/deno.ts";
import { type Other, rowOfAll } from "./report.ts";
import type { Measure } from "./section.ts";

const times = 10;

/** Time for the loop to start. */
const headStartMs = 50;

export const measureCancel: Measure = async (bench) => {
  const { deno } = bench.found;
  const here = "missing" in deno ? undefined : deno;
  const taken = await inTurn(times, {
    ours: () => cancelledMs(bench.folder()),
    ...(here ? { deno: () => killedMs(here) } : {}),
  });
  const missing: Record<string, Other> = { "node:vm": { none: "cannot" } };
  if (!here) missing["deno"] = { none: "not here" };
  return {
    rows: [
      rowOfAll("abort of a busy loop to its outcome, p50", taken, median, missing),
      rowOfAll("abort of a busy loop to its outcome, maximum", taken, (values) => Math.max(...values), missing),
    ],
    notes: [
      "The sandbox runs from source in the benchmark's own process: over MCP, a cancelled request gets no answer to wait for.",
      "node:vm cannot take part: a busy loop blocks its process. deno is timed from SIGKILL to exit.",
    ],
  };
};

async function cancelledMs(folder: string): Promise<number> {
  using sandbox = new Sandbox();
  const started = Promise.withResolvers<void>();
  const abort = new AbortController();
  const execution = sandbox.run("await bench.started(); for (;;);", {
    bindings: {
      namespaces: [{ name: "bench", jsName: "bench", functions: "any" }],
      async call() {
        started.resolve();
        return { json: "null" };
      },
    },
    limits: limitsFrom(defaultLimits),
    mounts: { workspace: folder, registry: folder },
    check: "off",
    signal: abort.signal,
  });
  await started.promise;
  await Bun.sleep(headStartMs);
  const startedAt = performance.now();
  abort.abort();
  const outcome = await execution;
  if (outcome.ok || outcome.reason !== "cancelled")
    throw new Error(`a loop was not cancelled: ${Bun.inspect(outcome)}`);
  return performance.now() - startedAt;
}

async function killedMs(deno: DenoHere): Promise<number> {
  const peer = await startDeno(deno);
  peer.leave("for (;;);");
  await Bun.sleep(10 * headStartMs);
  const startedAt = performance.now();
  await peer[Symbol.asyncDispose]();
  return performance.now() - startedAt;
}
