/**
 * Two agents work at the same moment, with a browser, a shell and a memory: neither sees the other's page or directory, and both see the
 * memory. They are two hosts over stdio with the daemon, two HTTP sessions, two shells, and Claude Code twice.
 *
 * The browser and the shell of the catalog are too large to be installed with the tests. `TEST_SERVERS` is a folder with them:
 *
 *     npm install @playwright/mcp @wonderwhy-er/desktop-commander @anthropic-ai/claude-code@2.1.330
 *
 * Without them, a small server of the tests is the shell, and there is no browser.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { browserNote, chromiumPath } from "../support/browser.ts";
import { claude, claudeCode, scriptedModel } from "../support/claude-code.ts";
import { claudikinsCommand } from "../support/command.ts";
import { openHost, type TestHost } from "../support/host.ts";
import { httpServe, sdkHost } from "../support/http-serve.ts";
import { processesLeft, runProgram, testEnvironment } from "../support/process.ts";
import { type Entry, fixture, memory } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

// Browsers start slowly on a small machine.
setDefaultTimeout(300_000);

const packages = process.env["TEST_SERVERS"] && join(process.env["TEST_SERVERS"], "node_modules");
const missing = " (skipped: TEST_SERVERS has no such package)";

/** The entry of an installed package; undefined if it is not installed. */
function installed(name: string, ...args: string[]): Entry | undefined {
  const folder = join(packages || "/nowhere", name);
  if (!existsSync(folder)) return undefined;
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { bin: string | object };
  return { command: "node", args: [join(folder, typeof bin === "string" ? bin : Object.values(bin)[0]), ...args] };
}

/** A server that keeps a state, and programs that set it and read it. */
interface Stateful {
  entry: Entry;
  set: (agent: string) => string;
  get: string;
  /** The state of the agent, as `get` returns it. */
  is: (agent: string) => unknown;
}

const browserArgs = ["--headless", "--isolated", "--no-sandbox", "--executable-path", chromiumPath ?? ""];
const browserEntry = chromiumPath === undefined ? undefined : installed("@playwright/mcp", ...browserArgs);
const shellEntry = installed("@wonderwhy-er/desktop-commander");

let site: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  site = Bun.serve({
    port: 0,
    fetch: ({ url }) => {
      const title = new URL(url).pathname.slice(1);
      return new Response(`<!doctype html><title>${title}</title>`, { headers: { "content-type": "text/html" } });
    },
  });
});
afterAll(() => site.stop(true));

const browser: Omit<Stateful, "entry"> = {
  set: (agent) => `await it.browser_navigate({ url: "${site.url.href}${agent}" })`,
  get: `String(await it.browser_evaluate({ function: "() => document.title" })).match(/"(agent-.)"/)?.[1]`,
  is: (agent) => agent,
};

const commander: Omit<Stateful, "entry"> = {
  set: (agent) => `const started = String(await it.start_process({ command: "bash", timeout_ms: 1000 }));
    const pid = Number(/PID (\\d+)/.exec(started)[1]);
    await it.interact_with_process({ pid, input: "mkdir -p ${agent} && cd ${agent}" })`,
  get: `await (async () => {
    const sessions = [...String(await it.list_sessions({})).matchAll(/PID: (\\d+)/g)].map(([, pid]) => Number(pid));
    const seen = sessions.map((pid) => it.interact_with_process({ pid, input: "basename $PWD" }));
    return (await Promise.all(seen)).map((text) => /^agent-.$/m.exec(String(text))?.[0]);
  })()`,
  is: (agent) => [agent],
};

const small: Omit<Stateful, "entry"> = {
  set: (agent) => `await it.set_working_directory({ path: "${agent}" })`,
  get: "(await it.print_working_directory()).directory",
  is: (agent) => agent,
};

const named = (name: string, code: string) => code.replaceAll("it.", `${name}.`);

/** A folder with the servers of the two agents, `agent-a` and `agent-b`, and what each of them runs. */
function desk(real: boolean) {
  const folder = temporaryFolder();
  const servers: Record<string, Stateful> = {
    shell:
      real && shellEntry ? { entry: shellEntry, ...commander } : { entry: fixture("shell", folder.path), ...small },
    ...(real && browserEntry ? { web: { entry: browserEntry, ...browser } } : {}),
  };
  for (const path of ["home", "runtime"]) mkdirSync(join(folder.path, path), { mode: 0o700 });
  const stateful = Object.entries(servers);
  const notes = memory(join(folder.path, "memory.jsonl"));
  const env = {
    HOME: join(folder.path, "home"),
    XDG_RUNTIME_DIR: join(folder.path, "runtime"),
    XDG_DATA_HOME: join(folder.path, "data"),
    XDG_CONFIG_HOME: join(folder.path, "home/.config"),
  };
  const entries = stateful.map(([name, { entry }]) => [name, { ...entry, cwd: folder.path }] as const);
  folder.write("claudikins.json", { mcpServers: { ...Object.fromEntries(entries), notes } });
  return {
    folder,
    env,
    /**
     * Three programs of the agent: sets its states, writes its name into the memory, and reads everything. `agent-a` writes first, because
     * the memory loses one of two changes that come at the same moment.
     */
    programs: (agent: string) => {
      const remember = `await notes.create_entities({ entities: [{ name: "${agent}", entityType: "agent", observations: [] }] });`;
      const isFirst = agent === "agent-a";
      return [
        `${stateful.map(([name, { set }]) => `{ ${named(name, set(agent))} }`).join("\n")}
        ${isFirst ? remember : ""} return "ready";`,
        `${isFirst ? "" : remember} return "ready";`,
        `const states = [${stateful.map(([name, { get }]) => named(name, get)).join(", ")}];
        const names = (await notes.read_graph({})).entities.map(({ name }) => name).sort();
        return JSON.stringify([...states, names]);`,
      ];
    },
    expected: (agent: string) => [...stateful.map(([, { is }]) => is(agent)), ["agent-a", "agent-b"]],
    async [Symbol.asyncDispose]() {
      await runProgram([...claudikinsCommand, "daemon", "stop", "--all"], { cwd: folder.path, env });
      expect(await processesLeft(folder.path)).toEqual([]);
      folder[Symbol.dispose]();
    },
  };
}

type Desk = ReturnType<typeof desk>;

/** Both agents run their programs, each step of both at the same moment. `run` returns what the program of the agent returned. */
async function bothWork({ programs, expected }: Desk, run: (agent: string, code: string) => Promise<string>) {
  const agents = ["agent-a", "agent-b"];
  const step = (at: number) => Promise.all(agents.map((agent) => run(agent, programs(agent)[at]!)));
  for (const at of [0, 1]) expect((await step(at)).map((text) => text.split("\n")[0])).toEqual(["ready", "ready"]);
  expect((await step(2)).map((text) => JSON.parse(text.split("\n")[0] ?? ""))).toEqual(agents.map(expected));
}

async function execute(host: TestHost, code: string): Promise<string> {
  const { content } = await host.call("execute_code", { code });
  return (content as { text: string }[])[0]?.text ?? "";
}

const realNote = shellEntry === undefined ? missing : browserNote || (browserEntry === undefined ? missing : "");

describe.each([
  ["a small shell", false, ""],
  ["the browser and the shell of the catalog", true, realNote],
] as const)("with %s and a memory", (_, isReal, note) => {
  const scenario = (title: string, run: (at: Desk) => Promise<void>) =>
    test.skipIf(note !== "")(`${title}${note}`, async () => {
      await using at = desk(isReal);
      await run(at);
    });

  scenario("two hosts over stdio with the daemon do not notice each other", async (at) => {
    const env = { ...at.env, CLAUDIKINS_DAEMON: "on" };
    await using a = await openHost(at.folder, { env });
    await using b = await openHost(at.folder, { env });
    await bothWork(at, (agent, code) => execute(agent === "agent-a" ? a : b, code));
  });

  scenario("two sessions over HTTP do not notice each other", async (at) => {
    await using serve = await httpServe(at.folder, [], { env: at.env });
    await using a = await sdkHost(serve.url);
    await using b = await sdkHost(serve.url);
    await bothWork(at, (agent, code) => (agent === "agent-a" ? a : b).execute(code));
  });

  scenario("two shells with sessions of their own do not notice each other", async (at) => {
    await bothWork(at, async (agent, code) => {
      const env = testEnvironment({ ...at.env, CLAUDIKINS_DAEMON: "on", CLAUDIKINS_SESSION: agent });
      const { stdout, stderr } = await runProgram([...claudikinsCommand, "exec", "-e", code], {
        cwd: at.folder.path,
        env,
      });
      return stdout || stderr;
    });
  });

  const noClaude = existsSync(claude) ? "" : missing;
  test.skipIf(note !== "" || noClaude !== "")(
    `two Claude Codes do not notice each other${note || noClaude}`,
    async () => {
      await using at = desk(isReal);
      const [command, ...args] = [...claudikinsCommand, "serve"];
      const entry = { type: "stdio", command, args, env: testEnvironment({ ...at.env, CLAUDIKINS_DAEMON: "on" }) };
      // Each step begins when both agents have ended the one before it.
      const meetings = [0, 1, 2].map(() => meeting(2));
      const work = async (agent: string) => {
        const before = async (step: number) => {
          meetings[step]?.arrive();
          await meetings[step]?.reached;
        };
        await using model = scriptedModel(at.programs(agent), before);
        const { exitCode, stderr } = await claudeCode(at.folder, entry, model.url, agent);
        expect([exitCode, stderr]).toEqual([0, ""]);
        return model.results;
      };
      const agents = ["agent-a", "agent-b"];
      const results = await Promise.all(agents.map(work));
      for (const [place, agent] of agents.entries()) {
        const quoted = JSON.stringify(JSON.stringify(at.expected(agent))).slice(1, -1);
        expect(results[place]?.[2]).toContain(quoted);
      }
    },
  );
});

test("call sees the page or directory of its own shell only", async () => {
  await using at = desk(false);
  const call = async (agent: string, ...args: string[]) => {
    const env = testEnvironment({ ...at.env, CLAUDIKINS_DAEMON: "on", CLAUDIKINS_SESSION: agent });
    const { stdout } = await runProgram([...claudikinsCommand, "call", "--json", ...args], {
      cwd: at.folder.path,
      env,
    });
    return stdout;
  };
  const agents = ["agent-a", "agent-b"];
  await Promise.all(agents.map((agent) => call(agent, "shell.set_working_directory", `path=${agent}`)));
  const seen = await Promise.all(agents.map((agent) => call(agent, "shell.print_working_directory")));
  expect(seen.map((text) => /agent-./.exec(text)?.[0])).toEqual(agents);
});

/** `reached` resolves with the last arrival. */
function meeting(count: number): { reached: Promise<void>; arrive: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = count;
  return {
    reached: promise,
    arrive: () => {
      left -= 1;
      if (left === 0) resolve();
    },
  };
}
