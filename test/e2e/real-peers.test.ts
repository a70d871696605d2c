/**
 * Peers that are too large to be installed with the tests: Claude Code as a host, and context7 as a server of both eras.
 * `TEST_SERVERS` is a folder in which they were installed:
 *
 *     npm install @anthropic-ai/claude-code@2.1.330 @upstash/context7-mcp@4.1.1
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Pool } from "../../src/servers/pool.ts";
import { claude, claudeCode, scriptedModel } from "../support/claude-code.ts";
import { claudikinsCommand } from "../support/command.ts";
import { freePort } from "../support/free-port.ts";
import { httpServe } from "../support/http-serve.ts";
import { ownFolder } from "../support/own-folder.ts";
import { openPool, surroundings } from "../support/pool.ts";
import { testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(120_000);

const context7 = join(process.env["TEST_SERVERS"] ?? "", "node_modules/@upstash/context7-mcp/dist/index.js");
const isInstalled = (file: string) => process.env["TEST_SERVERS"] !== undefined && existsSync(file);
const skipped = (file: string) => (isInstalled(file) ? "" : " (skipped: TEST_SERVERS has no such package)");

const folder = ownFolder({ endsProcesses: true });

describe.skipIf(!isInstalled(claude))(`Claude Code${skipped(claude)}`, () => {
  test.each(["stdio", "http"])("runs a program over %s in which an old server asks for roots", async (way) => {
    folder.write("claudikins.json", {
      mcpServers: { older: fixture("protocol", "stdio", folder.path), newer: fixture("modern", "reject", folder.path) },
    });
    const code = `return [await newer.era({}), await newer.places({}), await older.ask({ method: "roots/list", params: {} })]`;
    await using model = scriptedModel([code]);
    await using door = way === "http" ? await httpServe(folder) : undefined;
    const [command, ...args] = [...claudikinsCommand, "serve", "--trust"];
    const env = testEnvironment({ XDG_DATA_HOME: `${folder.path}/data` });
    const entry = door ? { type: "http", url: door.url } : { type: "stdio", command, args, env };
    const { exitCode } = await claudeCode(folder, entry, model.url);
    expect(exitCode).toBe(0);
    expect(model.results.join()).toContain("modern");
    expect(model.results.join().split(`file://${folder.path}`)).toHaveLength(3);
  });
});

/** A server that spoke this era before. */
const storedOf = (era: "2025" | "2026") => ({ protocol: era === "2026" ? "2026-07-28" : "2025-11-25", tools: [] });

describe.skipIf(!isInstalled(context7))(`context7${skipped(context7)}`, () => {
  const names = async (pool: Pool) => (await pool.listTools("context7")).map(({ name }) => name);

  test.each(["2025", "2026"] as const)("is connected and listed over stdio in the era %s", async (era) => {
    const entries = { context7: { command: "node", args: [context7] } };
    await using pool = openPool(entries, { ...surroundings(folder.path), stored: () => storedOf(era) });
    expect(await names(pool)).toContain("resolve-library-id");
  });

  test.each(["2025", "2026"] as const)("is connected and listed over HTTP in the era %s", async (era) => {
    const port = String(freePort());
    const server = Bun.spawn(["node", context7, "--transport", "http", "--port", port], {
      env: testEnvironment({ HOME: folder.path }),
      stdout: "ignore",
      stderr: "ignore",
    });
    const entries = { context7: { url: `http://127.0.0.1:${port}/mcp` } };
    await using pool = openPool(entries, { ...surroundings(folder.path), stored: () => storedOf(era) });
    try {
      const deadline = performance.now() + 30_000;
      while (!(await names(pool).catch((): string[] => [])).includes("resolve-library-id")) {
        expect(performance.now()).toBeLessThan(deadline);
        await Bun.sleep(50);
      }
    } finally {
      server.kill();
      await server.exited;
    }
  });
});
