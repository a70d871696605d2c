/** Progress of a server restarts the time limit of a call, whether anybody listens to it or not. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Pool } from "../../src/servers/pool.ts";
import { failureOf, openPool, plainValue, surroundings } from "../support/pool.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

/** Each report is well within the time limit, and all together are far beyond it. */
const pauseMs = 400;
const callTimeoutMs = 1_600;

describe("a call that takes longer than its time limit", () => {
  const folder = temporaryFolder();
  let pool: Pool;
  beforeAll(() => {
    pool = openPool({ slow: { ...fixture("reporting", `${pauseMs}`), callTimeoutMs } }, surroundings(folder.path));
  });
  afterAll(async () => {
    await pool.close();
    folder[Symbol.dispose]();
  });

  test.each(["number", "text", "odd"])("succeeds if its server reports progress: %s", async (tool) => {
    expect(plainValue(await pool.callTool("slow", tool, {}))).toBe("done");
  });

  test("succeeds if somebody listens, who hears all of it", async () => {
    const heard: number[] = [];
    const onProgress = ({ progress }: { progress: number }) => void heard.push(progress);
    expect(plainValue(await pool.callTool("slow", "number", {}, { onProgress }))).toBe("done");
    expect(heard).toEqual([1, 1, 1, 1, 1]);
  });

  test("fails without progress", async () => {
    expect((await failureOf(pool.callTool("slow", "silent", {}))).code).toBe("CALL_TIMEOUT");
  });
});
