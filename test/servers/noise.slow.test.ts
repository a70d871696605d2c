/** A server that writes more than it should: correct answers are found, and only its own process ends. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { Pool } from "../../src/servers/pool.ts";
import { failureOf, failureText, openPool, surroundings } from "../support/pool.ts";
import { processesLeft } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let pool: Pool;
beforeEach(() => {
  folder = temporaryFolder();
  const noisy = fixture("noisy", folder.path);
  pool = openPool({ noisy, other: noisy }, surroundings(folder.path));
});
afterEach(async () => {
  await pool.close();
  expect(await processesLeft(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

const right = { content: [{ type: "text", text: "right" }] };

test("log lines, invalid JSON, unknown messages and wrong ids are skipped", async () => {
  expect((await pool.listTools("noisy")).map(({ name }) => name)).toEqual(["right"]);
  expect(await pool.callTool("noisy", "right", {})).toEqual(right);
  expect(await Promise.all(Array.from({ length: 20 }, () => pool.callTool("noisy", "right", {})))).toEqual(
    Array(20).fill(right),
  );
});

test("an endless line ends its server, and memory stays within the limit of a message", async () => {
  await pool.callTool("other", "right", {});
  const before = process.memoryUsage.rss();
  const failure = failureOf(pool.callTool("noisy", "endless", {}));
  expect(await pool.callTool("other", "right", {})).toEqual(right);
  expect(failureText(await failure)).toBe(
    'SERVER_UNAVAILABLE: noisy.endless: server "noisy" is gone: its process sent more than 256 MB in one message\nhint: Call again to restart it.',
  );
  expect(process.memoryUsage.rss() - before).toBeLessThan(600 * 1_048_576);
  expect(await pool.callTool("other", "right", {})).toEqual(right);
  expect(await pool.callTool("noisy", "right", {})).toEqual(right);
});
