/** Answers of servers to calls that were cancelled. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { openPool, plainValue, surroundings } from "../support/pool.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

test("a large answer to a cancelled call is dropped, and is never written into a log", async () => {
  using folder = temporaryFolder();
  const debug: string[] = [];
  const log = { debug: (message: string) => void debug.push(message), info() {}, warn() {} };
  await using pool = openPool({ echo: fixture("echo") }, { ...surroundings(folder.path), log });
  const call = (args: object, signal?: AbortSignal) => pool.callTool("echo", "echo", { ...args }, { signal });
  const cancel = new AbortController();
  const given = call({ delayMs: 300, text: "large ".repeat(100_000) }, cancel.signal);
  await call({});
  cancel.abort();
  expect(await given.catch(({ code }) => code)).toBe("CANCELLED");
  // This call is answered after the late answer, over the same connection.
  expect(plainValue(await call({ delayMs: 600 }))).toMatchObject({ nth: 3 });
  expect(debug.filter((message) => message.includes("after the caller stopped waiting"))).toHaveLength(1);
  expect(debug.join("\n")).not.toContain("large large");
});
