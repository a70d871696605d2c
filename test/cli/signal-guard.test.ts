/** Signals end a process whose main thread is blocked, and are handled as ever while it is not. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { servingBlockedMs } from "../../src/cli/signal-guard/guard.ts";
import { root } from "../support/claudikins.ts";

const guard = join(root, "src/cli/signal-guard/guard.ts");
const silent = "{ debug() {}, info() {}, warn() {} }";

/** A program with the guard and a handler for SIGTERM, which prints its steps on stdout. */
function program(body: string, afterMs?: number) {
  const code = `
    const { guardSignals } = await import(${JSON.stringify(guard)});
    process.on("SIGTERM", () => { console.log("handled"); process.exit(7); });
    using guarded = guardSignals(${silent}, ${afterMs});
    await Bun.sleep(2_000);
    const block = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };
    ${body}`;
  return Bun.spawn([process.execPath, "-e", code], { stdout: "pipe", stderr: "inherit" });
}

async function until(text: string, stream: ReadableStream<Uint8Array>): Promise<void> {
  let seen = "";
  for await (const chunk of stream) {
    seen += new TextDecoder().decode(chunk);
    if (seen.includes(text)) return;
  }
  throw new Error(`it ended before it wrote ${text}: ${seen}`);
}

test("a signal ends a process whose main thread is blocked", async () => {
  const child = program(`console.log("blocked"); block(60_000);`);
  await until("blocked", child.stdout);
  await Bun.sleep(1_000);
  child.kill("SIGTERM");
  await child.exited;
  // After the block, the handler would end it.
  expect(child.signalCode).toBe("SIGTERM");
}, 60_000);

test("a signal is handled when the main thread is not blocked", async () => {
  const child = program(`console.log("waits"); await Bun.sleep(60_000);`);
  await until("waits", child.stdout);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(7);
}, 60_000);

test("a signal after a block is handled again", async () => {
  const child = program(`block(1_500); await Bun.sleep(1_000); console.log("back"); await Bun.sleep(60_000);`);
  await until("back", child.stdout);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(7);
}, 60_000);

test("a process that serves many agents ends in an orderly way after a short block", async () => {
  const child = program(`console.log("blocked"); block(2_000); await Bun.sleep(60_000);`, servingBlockedMs);
  await until("blocked", child.stdout);
  await Bun.sleep(1_000);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(7);
}, 60_000);
