/** The daemon applies the policy to generated programs, and to any other client of its socket. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { placeOf } from "../../src/daemon/place.ts";
import { entryMark } from "../../src/daemon/protocol.ts";
import { connectToDaemon } from "../../src/daemon/transport/connect.ts";
import type { MessageHandler } from "../../src/daemon/transport/message-connection.ts";
import { generatedProject } from "../support/daemon.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

test("generated files follow the policy: allowed, denied and confirmed tools; a changed policy needs no gen", async () => {
  await using project = await generatedProject((folder) => ({
    rec: {
      ...fixture("recording", join(folder, "got.jsonl")),
      category: "test",
      deny: ["remove-it"],
      confirm: { "plain-it": "always" },
    },
  }));
  const record = join(project.path, "got.jsonl");
  const got = () =>
    existsSync(record)
      ? readFileSync(record, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line).name)
      : [];
  const run = async (tool: string) => {
    const { exitCode, stdout, stderr } = await project.run(join("..", "rec", tool), {});
    return { exitCode, stdout, error: stderr === "" ? undefined : JSON.parse(stderr.trim().split("\n").at(-1)!) };
  };
  expect(await run("read_it")).toEqual({ exitCode: 0, stdout: '"did read-it"\n', error: undefined });
  // A denied tool has no file.
  expect(existsSync(project.file("remove_it", "rec"))).toBe(false);
  expect(await run("plain_it")).toEqual({
    exitCode: 2,
    stdout: "",
    error: {
      code: "POLICY_DENIED",
      error: "rec.plain-it needs a person's confirmation, and nobody can be asked here",
      suggestion:
        'To call it without confirmation, set "confirm": { "plain-it": "never" } in mcpServers.rec of the config',
    },
  });
  expect(got()).toEqual(["read-it"]);

  const config = JSON.parse(readFileSync(project.config, "utf8"));
  const { rec } = config.mcpServers;
  writeFileSync(
    project.config,
    JSON.stringify({ mcpServers: { ...config.mcpServers, rec: { ...rec, deny: ["read-it"], confirm: "never" } } }),
  );
  // Its file still exists.
  expect((await run("read_it")).error).toMatchObject({
    code: "POLICY_DENIED",
    error: 'rec.read-it is denied in the config by mcpServers.rec.deny[0], "read-it"',
  });
  expect((await run("plain_it")).exitCode).toBe(0);
  expect((await run("remove_it")).exitCode).toBe(0);
  expect(got()).toEqual(["read-it", "plain-it", "remove-it"]);
});

describe("another client of the socket", () => {
  const call = (name: unknown, id?: number) => ({
    jsonrpc: "2.0",
    ...(id === undefined ? {} : { id }),
    method: "tools/call",
    params: { name, arguments: {} },
  });

  async function opened(keys: object) {
    const project = await generatedProject((folder) => ({
      rec: { ...fixture("recording", join(folder, "got.jsonl")), category: "test", ...keys },
    }));
    // Starts the daemon.
    await project.run("seen");
    const { env, config } = project;
    const cwd = join(project.path, "project");
    const rec = (await loadConfig({ flag: config, cwd, env })).servers.get("rec")!;
    const messages: Record<string, unknown>[] = [];
    let heard = Promise.withResolvers<void>();
    const handler: MessageHandler = {
      message(bytes) {
        messages.push(JSON.parse(String(bytes)));
        heard.resolve();
      },
      close: () => heard.resolve(),
    };
    const signal = AbortSignal.timeout(10_000);
    const socket = await connectToDaemon(placeOf(config, env).socket, "/servers", () => handler, signal);
    const next = async (message: object) => {
      heard = Promise.withResolvers();
      socket.send(JSON.stringify(message));
      await heard.promise;
      return messages.at(-1);
    };
    const open = { version: "0.0.1", server: "rec", entry: entryMark(rec), cwd, env, capabilities: {}, session: "raw" };
    const answer = await next({ open: { ...open, endsWithCaller: true, startsNothing: false } });
    const record = join(project.path, "got.jsonl");
    const got = () => (existsSync(record) ? readFileSync(record, "utf8").trim().split("\n") : []);
    return { project, socket, next, answer, got, rec };
  }

  test("cannot call a denied tool, whatever its message looks like", async () => {
    const { project, socket, next, answer, got } = await opened({ deny: ["remove-it"] });
    await using _ = project;
    expect(answer).toHaveProperty("opened");
    await next({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} });
    // A message without an id gets no answer, but some servers would still carry it out.
    socket.send(JSON.stringify(call("remove-it")));
    expect(await next(call("remove-it", 2))).toMatchObject({
      id: 2,
      error: { message: expect.stringMatching(/is denied in the config/) },
    });
    expect(await next(call(["remove-it"], 3))).toMatchObject({
      id: 3,
      error: { message: expect.stringMatching(/has no tool name/) },
    });
    expect(await next({ jsonrpc: "2.0", id: 4, method: "tools/CALL" })).toMatchObject({
      error: { message: expect.stringMatching(/is not an MCP request/) },
    });
    expect(await next(call("read-it", 5))).toMatchObject({ id: 5, result: {} });
    expect(got()).toEqual([expect.stringContaining("read-it")]);
    socket.close();
  });

  test.each([[{ deny: ["*"] }], [{ allow: [] }]])(
    "does not reach a server that is denied as a whole: %j",
    async (keys) => {
      const { project, socket, answer, got } = await opened(keys);
      await using _ = project;
      expect(answer).toMatchObject({ refused: { code: "POLICY_DENIED" } });
      expect(got()).toEqual([]);
      socket.close();
    },
  );

  test("is refused by the current config, even over an older connection", async () => {
    const { project, socket, next, got } = await opened({});
    await using _ = project;
    await next({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} });
    expect(await next(call("remove-it", 2))).toMatchObject({ id: 2, result: {} });
    const config = JSON.parse(readFileSync(project.config, "utf8"));
    config.mcpServers.rec.deny = ["remove-it"];
    writeFileSync(project.config, JSON.stringify(config));
    expect(await next(call("remove-it", 3))).toMatchObject({ end: {} });
    expect(got()).toHaveLength(1);
    socket.close();
  });
});
