/** A server is called once it has the answers to its first requests, also after the host's roots have changed. */
import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Readiness } from "../../../src/servers/connection/readiness.ts";
import type { Responder } from "../../../src/servers/connection/responder.ts";
import { claudikinsCommand } from "../../support/command.ts";
import { openHost } from "../../support/host.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { openPool, plainValue, surroundings } from "../../support/pool.ts";
import { runProgram, testEnvironment } from "../../support/process.ts";
import { filesystem, fixture } from "../../support/servers.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const folder = ownFolder();
let data: string;
let project: string;
beforeEach(() => {
  data = join(folder.path, "data");
  project = join(folder.path, "project");
  for (const each of [data, project]) mkdirSync(each);
});

const uri = (path: string) => pathToFileURL(path).href;

/** A host whose roots are the result of the function. */
const hostWith = (roots: () => string[], answerMs = 0): Responder => ({
  capabilities: { roots: { listChanged: true } },
  async listRoots() {
    const uris = roots();
    await Bun.sleep(answerMs);
    return { roots: uris.map((each) => ({ uri: each })) };
  },
});

test("server-filesystem uses the roots in its first call, and in the first call after they have changed", async () => {
  // The server checks one root after another.
  const many = Array.from({ length: 20 }, (_, index) => join(folder.path, `root-${index}`));
  for (const each of many) mkdirSync(each);
  for (const roots of [[project], many]) {
    let current = roots;
    await using pool = openPool({ files: filesystem(data) }, surroundings(folder.path));
    pool.setHost({ responder: hostWith(() => current.map(uri)) });
    const write = (path: string) => pool.callTool("files", "write_file", { path, content: "x" });
    const outside = join(data, "outside.txt");
    expect(await write(outside)).toMatchObject({ isError: true });
    expect(existsSync(outside)).toBe(false);
    expect((await write(join(roots.at(-1)!, "inside.txt"))).isError).not.toBe(true);

    current = [data];
    pool.rootsChanged();
    expect(await write(join(roots[0]!, "late.txt"))).toMatchObject({ isError: true });
    expect((await write(outside)).isError).not.toBe(true);
    await Bun.file(outside).delete();
  }
});

test("the first execution of a session uses the agent's roots", async () => {
  folder.write("claudikins.json", { mcpServers: { files: filesystem(data) } });
  // A server whose tools are known gets its first request from the call.
  const env = testEnvironment({ XDG_DATA_HOME: join(folder.path, "data") });
  expect(await runProgram([...claudikinsCommand, "gen"], { cwd: folder.path, env })).toMatchObject({ exitCode: 0 });
  await using host = await openHost(folder, {
    capabilities: { roots: {} },
    prepare: (client) => client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: uri(project) }] })),
  });
  const path = join(data, "outside.txt");
  const code = `await files.write_file({ path: ${JSON.stringify(path)}, content: "x" })`;
  expect(JSON.stringify(await host.call("execute_code", { code }))).toContain("Access denied");
  expect(existsSync(path)).toBe(false);
});

test("a server that asks for roots twice is called after both answers of a slow host", async () => {
  const current = ["file:///first"];
  await using pool = openPool({ asker: fixture("by-hand", "asks-roots", folder.path) }, surroundings(folder.path));
  pool.setHost({ responder: hostWith(() => current, 300) });
  const roots = async () => plainValue(await pool.callTool("asker", "roots", {}));
  expect(await Promise.all([roots(), roots()])).toEqual([[{ uri: "file:///first" }], [{ uri: "file:///first" }]]);
  current[0] = "file:///second";
  pool.rootsChanged();
  expect(await roots()).toEqual([{ uri: "file:///second" }]);
});

test("a host that refuses and a server that ends delay no call", async () => {
  const entries = {
    asker: fixture("by-hand", "asks-roots", folder.path),
    ending: fixture("by-hand", "dies-at-once", folder.path),
  };
  await using pool = openPool(entries, surroundings(folder.path));
  pool.setHost({
    responder: {
      ...hostWith(() => []),
      listRoots: () => Promise.reject(new Error("not today")),
    },
  });
  const startedAt = performance.now();
  expect(plainValue(await pool.callTool("asker", "roots", {}))).toMatchObject({ message: "not today" });
  await expect(pool.callTool("ending", "hello", {})).rejects.toMatchObject({ code: "SERVER_UNAVAILABLE" });
  // The longest wait for an answer is 10 s.
  expect(performance.now() - startedAt).toBeLessThan(9_000);
});

test("calls that wait for these answers can be cancelled, and the pool can be closed", async () => {
  await using pool = openPool({ asker: fixture("by-hand", "asks-roots", folder.path) }, surroundings(folder.path));
  const asked = Promise.withResolvers<void>();
  pool.setHost({
    responder: {
      ...hostWith(() => []),
      listRoots() {
        asked.resolve();
        return new Promise(() => {});
      },
    },
  });
  const cancel = new AbortController();
  const cancelled = pool.callTool("asker", "roots", {}, { signal: cancel.signal });
  const waiting = pool.callTool("asker", "roots", {});
  waiting.catch(() => {});
  await asked.promise;
  cancel.abort();
  await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
  await pool.close();
  await expect(waiting).rejects.toMatchObject({ code: "CANCELLED" });
});

test("the wait ends with the answer to the last of several requests, and not with an earlier one", async () => {
  const pinged = Promise.withResolvers<void>();
  const readiness = new Readiness({ ping: () => pinged.promise, isCalled: () => false, warn: () => {} });
  const startedAt = performance.now();
  const settled = readiness.begin(1);
  for (const id of [1, 2]) readiness.received({ jsonrpc: "2.0", id, method: "roots/list" });
  pinged.resolve();
  await Bun.sleep(0);
  readiness.written({ jsonrpc: "2.0", id: 1, result: {} });
  // Longer than it takes once all are answered.
  expect(await Promise.race([settled, Bun.sleep(1_000).then(() => "waits")])).toBe("waits");
  readiness.written({ jsonrpc: "2.0", id: 2, result: {} });
  await settled;
  // The longest wait for an answer is 10 s.
  expect(performance.now() - startedAt).toBeLessThan(9_000);
  expect(readiness.current).toBeUndefined();
});
