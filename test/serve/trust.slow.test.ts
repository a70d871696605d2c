/** `serve` with a config that is not trusted: it answers at once, starts nothing, and works once the config is trusted. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chownSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type ElicitRequest, ElicitRequestSchema, type ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { claudikinsCommand } from "../support/command.ts";
import { type HostOptions, openHost, type TestHost } from "../support/host.ts";
import { httpServe } from "../support/http-serve.ts";
import { ownFolder } from "../support/own-folder.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
let env: Record<string, string>;
beforeEach(() => {
  mkdirSync(join(folder.path, "home"));
  env = {
    HOME: join(folder.path, "home"),
    XDG_DATA_HOME: join(folder.path, "data"),
    XDG_CONFIG_HOME: join(folder.path, "home", ".config"),
    CI: "",
    TOKEN: "secret-of-the-user",
  };
});

/** Whether the second server was started. */
const started = () => existsSync(join(folder.path, "started"));
const write = (more: object = {}) =>
  folder.write("claudikins.json", {
    mcpServers: {
      odd: { ...fixture("odd"), description: "INJECTED WORDS" },
      evil: { command: "sh", args: ["-c", `echo "$T" > '${folder.path}/started'`], env: { T: "${TOKEN}" } },
    },
    ...more,
  });
const trust = () => runProgram([...claudikinsCommand, "trust", "--yes"], { cwd: folder.path, env });
const host = (options: HostOptions = {}) => openHost(folder, { ...options, env });
const textOf = ({ content }: Record<string, unknown>) =>
  (content as { text: string }[]).map(({ text }) => text).join("\n");
const execute = (to: TestHost) => to.call("execute_code", { code: "return (await odd.structured()).answer" });

/** A host whose person gives these answers, and the questions that it got. */
function answering(...answers: ElicitResult[]): { asked: ElicitRequest["params"][]; options: HostOptions } {
  const asked: ElicitRequest["params"][] = [];
  const options: HostOptions = {
    capabilities: { elicitation: {} },
    prepare: (client) =>
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        asked.push(params);
        return answers[Math.min(asked.length, answers.length) - 1] ?? { action: "cancel" };
      }),
  };
  return { asked, options };
}
const yes: ElicitResult = { action: "accept", content: { answer: "trust" } };

describe("an agent that cannot ask a person", () => {
  test("gets its tools; each call returns the command to trust the config, starts nothing and shows nothing of the config", async () => {
    const file = write();
    await using agent = await host();
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["search_tools", "execute_code"]);
    expect(agent.client.getInstructions()).toContain("search_tools");
    expect(agent.client.getInstructions()).not.toMatch(/INJECTED|odd|evil/);
    for (const result of [await agent.call("search_tools", { query: "answer" }), await execute(agent)]) {
      expect(result["isError"]).toBe(true);
      expect(textOf(result)).toContain(`claudikins trust ${file}`);
      expect(textOf(result)).not.toMatch(/secret-of-the-user|INJECTED/);
    }
    expect(started()).toBe(false);
  });

  test("works with the next call after `claudikins trust`, without a restart", async () => {
    write();
    await using agent = await host();
    expect((await execute(agent))["isError"]).toBe(true);
    expect((await trust()).exitCode).toBe(0);
    expect(textOf(await execute(agent))).toStartWith("42");
    expect(textOf(await agent.call("search_tools", { query: "structured" }))).toContain("odd.structured");
  });

  test("policy, mode and model of the config have no effect before it is trusted", async () => {
    write({ mode: "direct", executeTask: true, llm: { baseUrl: "http://127.0.0.1:9/v1", model: "m" } });
    await using agent = await host({ capabilities: { sampling: {} } });
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["search_tools", "execute_code"]);
  });
});

describe("in a cloned folder, the user's own servers keep working", () => {
  const own = (more: object = {}) =>
    folder.write("home/.config/claudikins/claudikins.json", {
      mcpServers: { mine: fixture("seen", `${folder.path}/mine`) },
      ...more,
    });
  const seen = (to: TestHost) => to.call("execute_code", { code: "return (await mine.seen()).cwd" });

  test("and those of the project wait: nothing of its config is used or shown, and the agent is told once", async () => {
    const file = write({ policy: { deny: ["*.*"] }, mode: "direct" });
    own();
    await using agent = await host();
    expect(agent.client.getInstructions()).toMatch(/claudikins trust.*mine/s);
    expect(agent.client.getInstructions()).not.toMatch(/INJECTED|odd|evil/);
    const first = textOf(await seen(agent));
    expect(first).toStartWith(folder.path);
    expect(first).toContain(`claudikins trust ${file}`);
    expect(textOf(await seen(agent))).not.toContain("claudikins trust");
    expect(textOf(await agent.call("search_tools", { query: "seen" }))).toContain("mine.seen");
    const ofProject = await execute(agent);
    expect(ofProject["isError"]).toBe(true);
    expect(textOf(ofProject)).not.toMatch(/secret-of-the-user|INJECTED|42/);
    expect(started()).toBe(false);
    // Programs write to the user's own folders, and not to those of the project.
    await agent.call("execute_code", { code: "await fs.writeFile('workspace/a.txt', 'x')" });
    expect(existsSync(join(folder.path, ".claudikins"))).toBe(false);
  });

  test("until the project's config is trusted: then its own rules count", async () => {
    write({ policy: { deny: ["mine.*"] } });
    own();
    await using agent = await host();
    expect(textOf(await seen(agent))).toStartWith(folder.path);
    expect((await trust()).exitCode).toBe(0);
    expect(textOf(await execute(agent))).toStartWith("42");
    expect((await seen(agent))["isError"]).toBe(true);
  });

  test("also after the person has said no", async () => {
    write();
    own();
    const { asked, options } = answering({ action: "accept", content: { answer: "no" } });
    await using agent = await host(options);
    expect(textOf(await seen(agent))).toStartWith(folder.path);
    expect(textOf(await seen(agent))).toStartWith(folder.path);
    expect(asked).toHaveLength(1);
    expect(started()).toBe(false);
  });

  test("behind the door of the entry, and only there", async () => {
    write({ doors: { work: { servers: ["odd", "evil", "mine"] } } });
    own({ doors: { home: { servers: ["mine"] } } });
    await using agent = await openHost(folder, { env, flags: ["--door", "work"] });
    expect((await seen(agent))["isError"]).toBe(true);
  });

  test("but a config that was trusted and has changed lets nothing work, because its rules would not count", async () => {
    write({ policy: { deny: ["mine.*"] } });
    own();
    expect((await trust()).exitCode).toBe(0);
    write({ policy: { deny: [] } });
    await using agent = await host();
    const result = await seen(agent);
    expect(result["isError"]).toBe(true);
    expect(textOf(result)).toContain("has changed since you trusted it");
  });
});

describe("an agent that can ask a person", () => {
  test("asks once, shows what would be started and read, and continues", async () => {
    const file = write();
    const { asked, options } = answering(yes);
    await using agent = await host(options);
    const results = await Promise.all([execute(agent), execute(agent)]);
    for (const result of results) expect(textOf(result)).toStartWith("42");
    expect(asked).toHaveLength(1);
    expect(asked[0]?.message).toContain(file);
    expect(asked[0]?.message).toContain("start: sh -c ");
    expect(asked[0]?.message).toContain("read from the environment: TOKEN");
    expect(asked[0]?.message).not.toContain("secret-of-the-user");
    // The trust is stored: the next process does not ask.
    await using next = await host(options);
    await execute(next);
    expect(asked).toHaveLength(1);
  });

  for (const [name, answer] of Object.entries({
    no: { action: "accept", content: { answer: "no" } },
    "an empty answer": { action: "accept", content: {} },
    decline: { action: "decline" },
    cancel: { action: "cancel" },
  } satisfies Record<string, ElicitResult>)) {
    test(`${name}: is not asked again in this session, and gets the command`, async () => {
      write();
      const { asked, options } = answering(answer);
      await using agent = await host(options);
      for (const _ of [1, 2]) expect(textOf(await execute(agent))).toContain("claudikins trust ");
      expect(asked).toHaveLength(1);
      expect(started()).toBe(false);
      await trust();
      expect(textOf(await execute(agent))).toStartWith("42");
    });
  }

  test("is not asked a question that is too long to read", async () => {
    const many = Array.from({ length: 200 }, (_, at) => [`server${at}`, { command: "true", args: ["x".repeat(40)] }]);
    folder.write("claudikins.json", { mcpServers: Object.fromEntries(many) });
    const { asked, options } = answering(yes);
    await using agent = await host(options);
    expect(textOf(await execute(agent))).toContain("claudikins trust ");
    expect(asked).toHaveLength(0);
  });
});

test.skipIf(process.getuid?.() !== 0)(
  "a config of another user is not asked about, and is used once it belongs to the user",
  async () => {
    const file = write();
    chownSync(file, 65_534, 65_534);
    const { asked, options } = answering(yes);
    await using agent = await host(options);
    expect(textOf(await execute(agent))).toContain("belongs to another user");
    expect(asked).toHaveLength(0);
    expect(started()).toBe(false);
    chownSync(file, 0, 0);
    expect(textOf(await execute(agent))).toStartWith("42");
    expect(asked).toHaveLength(1);
  },
);

test("over HTTP nobody is asked, because the client may be another person; calls work once the config is trusted", async () => {
  write();
  await using serve = await httpServe(folder, [], { env });
  const { asked, options } = answering(yes);
  await using agent = await openHost(folder, { ...options, url: serve.url });
  await using second = await openHost(folder, { url: serve.url });
  for (const each of [agent, second]) expect(textOf(await execute(each))).toContain("claudikins trust ");
  expect(asked).toHaveLength(0);
  await trust();
  for (const each of [agent, second]) expect(textOf(await execute(each))).toStartWith("42");
});

test("a daemon does not load a config that is not trusted", async () => {
  const file = write();
  const run = (...flags: string[]) =>
    runProgram([...claudikinsCommand, "daemon", "run", "--config", file, "--idle", "1ms", "--json", ...flags], {
      cwd: folder.path,
      env: { ...env, CLAUDIKINS_CONFIG: file },
    });
  const refused = await run();
  expect(refused.exitCode).toBe(2);
  expect(JSON.parse(refused.stderr).error.code).toBe("CONFIG_NOT_TRUSTED");
  expect((await run("--trust")).exitCode).toBe(0);
  await trust();
  expect((await run()).exitCode).toBe(0);
});

test("call does not use a daemon whose config is trusted for one run only", async () => {
  folder.write("claudikins.json", { mcpServers: { odd: fixture("odd") } });
  const on = testEnvironment({ ...env, CLAUDIKINS_DAEMON: "on", XDG_RUNTIME_DIR: "" });
  const call = (...flags: string[]) =>
    runProgram([...claudikinsCommand, "call", "odd.structured", ...flags], { cwd: folder.path, env: on });
  expect((await call()).exitCode).toBe(2);
  expect((await call("--trust")).exitCode).toBe(0);
  expect((await call()).exitCode).toBe(2);
  expect((await call("--config", "claudikins.json")).exitCode).toBe(0);
  await runProgram([...claudikinsCommand, "trust", "--yes"], { cwd: folder.path, env: on });
  expect((await call()).exitCode).toBe(0);
  await runProgram([...claudikinsCommand, "trust", "--revoke"], { cwd: folder.path, env: on });
  const { stdout } = await runProgram([...claudikinsCommand, "daemon", "status", "--json"], {
    cwd: folder.path,
    env: on,
  });
  expect(JSON.parse(stdout)).toMatchObject({ daemons: [] });
});
