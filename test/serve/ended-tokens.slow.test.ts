/** Programs of a token that has ended, wherever they are: in the daemon, in the store, and before a person's decision. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Approvals } from "../../src/policy/approvals/approvals.ts";
import { issueToken, revokeTokens } from "../../src/serve/tokens/manage.ts";
import { changeTokens, type StoredToken } from "../../src/serve/tokens/token-file.ts";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { type HttpServe, httpServe, rawSession, resultText } from "../support/http-serve.ts";
import { modernAnswer } from "../support/modern-host.ts";
import { processesLeft, runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

let folder: TemporaryFolder;
let env: Record<string, string>;
const serves: HttpServe[] = [];

beforeEach(() => {
  folder = temporaryFolder();
  const runtime = join(folder.path, "runtime");
  mkdirSync(runtime, { mode: 0o700 });
  env = { XDG_DATA_HOME: join(folder.path, "data"), XDG_RUNTIME_DIR: runtime, CLAUDIKINS_DAEMON: "on" };
  folder.write("claudikins.json", {
    mcpServers: { counting: { ...fixture("counting", join(folder.path, "counts")), confirm: { act: "always" } } },
    doors: { qa: { servers: ["counting"] } },
  });
});
afterEach(async () => {
  for (const serve of serves.splice(0)) await serve[Symbol.asyncDispose]();
  await claudikins("daemon", "stop", "--all", "--now");
  expect(await processesLeft(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

const claudikins = (...argv: string[]) => runProgram([...claudikinsCommand, ...argv], { cwd: folder.path, env });

async function serve(): Promise<HttpServe> {
  const started = await httpServe(folder, [], { token: "kept", env });
  serves.push(started);
  return started;
}

async function end(serving: HttpServe): Promise<void> {
  serving.signal("SIGTERM");
  expect(await serving.exited).toBe(0);
}

const issue = async (door?: string) => {
  const { token, stored } = await issueToken({ config: join(folder.path, "claudikins.json"), door }, env);
  return { headers: { authorization: `Bearer ${token}` }, stored };
};

const expire = ({ hash }: StoredToken) =>
  changeTokens(env, (tokens) => {
    for (const each of tokens) if (each.hash === hash) each.expiresAt = Date.now();
  });

/** Adds to a file of the workspace, until it is cancelled. */
const endless = () => `while (true) { await fs.appendFile("./workspace/mark", "x"); await sleep(100); }`;

const workspace = (door?: string) =>
  join(folder.path, ".claudikins", ...(door === undefined ? [] : ["doors", door]), "workspace/mark");

function sizeOf(file: string): number {
  try {
    return readFileSync(file).length;
  } catch {
    return 0;
  }
}

/** Before the time limit of a program. */
const soon = { withinMs: 10_000 };

/** Whether the program goes on. */
async function grows(file: string): Promise<boolean> {
  const before = sizeOf(file);
  await Bun.sleep(600);
  return sizeOf(file) > before;
}

const idIn = (text: string) => /\{"resume": "(\w+)"\}/.exec(text)?.[1] ?? text;

/** Starts a program in the background, as a client of one era. Returns its id. */
async function begin(serving: HttpServe, headers: Record<string, string>, era: string, code: string, path = "/mcp") {
  const url = new URL(path, serving.url).href;
  const params = { name: "execute_code", arguments: { code, background: true } };
  if (era === "2026") {
    const { result } = await modernAnswer(url, "tools/call", params, { headers });
    return idIn(result?.content?.[0]?.text ?? "");
  }
  const session = await rawSession(url, "2025-11-25", {}, "raw", headers);
  return idIn(await resultText(await session.post({ jsonrpc: "2.0", id: 1, method: "tools/call", params })));
}

/** The state of an execution of the config or of one of its doors. */
async function stateOf(wanted: string): Promise<string | undefined> {
  const { stdout } = await claudikins("executions", "list", "--json");
  const { executions } = JSON.parse(stdout) as { executions: { id: string; state: string }[] };
  return executions.find(({ id }) => id === wanted)?.state;
}

describe.each(["2025", "2026"])(
  "a program that the daemon continues for a client of %s after the end of serve",
  (era) => {
    test("is cancelled when its token is revoked while no server runs", async () => {
      const { headers, stored } = await issue();
      const other = await issue();
      const serving = await serve();
      const id = await begin(serving, headers, era, endless());
      const kept = await begin(serving, other.headers, era, "await sleep('1h')");
      await eventually(() => sizeOf(workspace()) > 0);
      await end(serving);
      expect(await grows(workspace())).toBe(true);
      await revokeTokens([stored], env);
      await eventually(async () => !(await grows(workspace())), soon);
      expect([await stateOf(id), await stateOf(kept)]).toEqual(["ended", "asleep"]);
    });

    test("is cancelled by the next server when its token expires, also behind a door that nobody has used since", async () => {
      const { headers, stored } = await issue("qa");
      const before = await serve();
      const id = await begin(before, headers, era, endless(), "/qa");
      await eventually(() => sizeOf(workspace("qa")) > 0);
      await end(before);
      expect(await grows(workspace("qa"))).toBe(true);
      await serve();
      expect(await grows(workspace("qa"))).toBe(true);
      await expire(stored);
      await eventually(async () => !(await grows(workspace("qa"))), soon);
      expect(await stateOf(id)).toBe("ended");
    });
  },
);

describe("a program that waits for a person's approval", () => {
  const code = "return await counting.act({ name: 'now' })";

  /** Starts it, and waits until somebody must decide. Returns the ids of the execution and of the approval. */
  async function waiting(
    serving: HttpServe,
    headers: Record<string, string>,
  ): Promise<{ id: string; approval: string }> {
    const id = await begin(serving, headers, "2026", code);
    await using approvals = new Approvals({ env: testEnvironment(env) });
    const approval = await eventually(async () => (await approvals.open())[0]?.id);
    return { id, approval };
  }

  async function expectWithdrawn({ id, approval }: { id: string; approval: string }): Promise<void> {
    await using approvals = new Approvals({ env: testEnvironment(env) });
    await eventually(async () => (await approvals.open()).length === 0, soon);
    expect((await approvals.get(approval))?.state).toBe("withdrawn");
    expect(await stateOf(id)).toBe("ended");
  }

  test("is cancelled while its server runs", async () => {
    const { headers, stored } = await issue();
    const found = await waiting(await serve(), headers);
    await expire(stored);
    await expectWithdrawn(found);
  });

  test("is cancelled in the store, where no process runs it", async () => {
    env["CLAUDIKINS_DAEMON"] = "off";
    const { headers, stored } = await issue();
    const serving = await serve();
    const found = await waiting(serving, headers);
    await end(serving);
    expect(await stateOf(found.id)).toBe("stopped");
    await revokeTokens([stored], env);
    await expectWithdrawn(found);
  });
});

test("a program whose session has ended is cancelled with its token", async () => {
  const { headers, stored } = await issue();
  const serving = await serve();
  const elicitation = { elicitation: { form: {} } };
  const session = await rawSession(serving.url, "2025-11-25", elicitation, "raw", headers);
  const params = { name: "execute_code", arguments: { code: endless(), background: true } };
  const id = idIn(await resultText(await session.post({ jsonrpc: "2.0", id: 1, method: "tools/call", params })));
  await eventually(() => sizeOf(workspace()) > 0);
  await session.end();
  await expire(stored);
  await eventually(async () => (await stateOf(id)) === "ended", soon);
  expect(await grows(workspace())).toBe(false);
});
