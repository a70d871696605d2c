/** The page of a real daemon: `claudikins ui` opens it, the daemon stays for it, and a changed config does not close it. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { type GeneratedProject, generatedProject } from "../support/daemon.ts";
import { processesWith, runProgram } from "../support/process.ts";

setDefaultTimeout(60_000);

let project: GeneratedProject;
beforeEach(async () => {
  project = await generatedProject();
});
afterEach(() => project[Symbol.asyncDispose]());

const ui = (...args: string[]) => project.claudikins("ui", ...args);

/** The address that a file leads to. */
const addressIn = (html: string) => /;\s*url=([^"]+)"/.exec(html)![1]!.replaceAll("&amp;", "&");

interface OpenedPage {
  url: URL;
  get(path: string): Promise<Response>;
  post(path: string, body: object): Promise<Response>;
}

/** Does what the page's script does with the address. */
async function open(address: string): Promise<OpenedPage> {
  const url = new URL(address);
  const token = url.hash.slice(1);
  url.hash = "";
  let cookie = "";
  const ask = (path: string, init: { method?: string; body?: string } = {}) =>
    fetch(new URL(path, url), {
      ...init,
      headers: { origin: url.origin, cookie, "content-type": "application/json", "claudikins-ui": "1" },
    });
  const post = (path: string, body: object) => ask(path, { method: "POST", body: JSON.stringify(body) });
  const answer = await post("api/session", { token });
  cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  return { url, get: ask, post };
}

test("ui --json prints an address that works once, on a daemon that it starts", async () => {
  const { exitCode, stdout } = await ui("--json");
  const { url, opened } = JSON.parse(stdout);
  expect([exitCode, opened]).toEqual([0, false]);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}\/#[\w-]{43}$/);
  const page = await open(url);
  const state = (await (await page.get("api/state")).json()) as { config: string; servers: { name: string }[] };
  expect([state.config, state.servers.map(({ name }) => name)]).toEqual([project.config, ["seen"]]);
  expect(await project.daemons()).toMatchObject([{ config: project.config, page: true }]);
  const { stdout: again } = await ui("--json");
  expect(new URL(JSON.parse(again).url).port).toBe(page.url.port);
});

test("without a browser, ui prints the address and how to forward its port", async () => {
  const { stdout, stderr } = await ui();
  const port = /^http:\/\/127\.0\.0\.1:(\d+)\//.exec(stdout)?.[1];
  expect(stderr).toBe(`Open this address within a minute. It works once.
If your browser is on another machine, forward the port first: ssh -L ${port}:127.0.0.1:${port} <this machine>
The daemon keeps running while the page is open.
`);
});

test("with a browser, ui opens it; --no-open does not", async () => {
  const seen = join(project.path, "opened");
  const browser = project.write("browser.sh", `#!/bin/sh\nprintf %s "$1" > ${seen}\n`);
  await runProgram(["chmod", "+x", browser]);
  const run = (...args: string[]) =>
    runProgram([...claudikinsCommand, "ui", ...args], {
      cwd: join(project.path, "project"),
      env: { ...project.env, BROWSER: browser },
    });
  expect((await run("--no-open")).stdout).toStartWith("http://127.0.0.1:");
  expect(await Bun.file(seen).exists()).toBe(false);
  const { stdout, stderr } = await run();
  expect([stdout, stderr]).toEqual([
    "The page is open in your browser.\n",
    "The daemon keeps running while the page is open.\nIf the browser shows an error instead, run claudikins ui --no-open.\n",
  ]);
  const file = new URL(readFileSync(seen, "utf8"));
  const page = await open(addressIn(readFileSync(file, "utf8")));
  expect((await page.get("api/state")).status).toBe(200);
  // The token is used, so nothing leads there any more.
  expect(existsSync(new URL(".", file))).toBe(false);
});

test("the daemon stays while the page is open, and ends as usual afterwards", async () => {
  const args = ["daemon", "run", "--config", project.config, "--trust", "--idle", "1s"];
  const daemon = Bun.spawn([...claudikinsCommand, ...args], {
    cwd: join(project.path, "project"),
    env: project.env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  await daemon.stderr.getReader().read();
  const page = await open(JSON.parse((await ui("--json")).stdout).url);
  await Bun.sleep(2_500);
  expect((await page.get("api/state")).status).toBe(200);
  expect(daemon.exitCode).toBe(null);
  await project.claudikins("daemon", "stop");
  expect(await daemon.exited).toBe(0);
});

test("a policy that the page changes ends the daemon for others, while the page stays; daemon stop ends both", async () => {
  const page = await open(JSON.parse((await ui("--json")).stdout).url);
  const [before] = await project.daemons();
  const saved = await page.post("api/policy/states", { tools: [{ server: "seen", tool: "wait" }], state: "deny" });
  expect(saved.status).toBe(200);
  expect(JSON.parse(readFileSync(project.config, "utf8")).mcpServers.seen.deny).toEqual(["wait"]);
  // Somebody else's change.
  const config = JSON.parse(readFileSync(project.config, "utf8"));
  writeFileSync(project.config, JSON.stringify({ ...config, policy: { confirm: "never" } }));
  const called = await runProgram([...claudikinsCommand, "call", "seen.seen"], {
    cwd: join(project.path, "project"),
    env: { ...project.env, CLAUDIKINS_DAEMON: "on" },
  });
  expect(called).toMatchObject({ exitCode: 0 });
  const daemons = await project.daemons();
  expect(daemons).toHaveLength(2);
  expect(daemons.find(({ pid }) => pid === before?.pid)).toMatchObject({ page: true, config: project.config });
  const state = (await (await page.get("api/state")).json()) as { servers: { state: string; toolsMark: string }[] };
  // The state of the servers comes from the new daemon.
  expect(state.servers).toMatchObject([{ state: "ready" }]);
  const { exitCode } = await project.claudikins("daemon", "stop");
  expect(exitCode).toBe(0);
  expect(page.get("api/state")).rejects.toThrow();
  expect(processesWith(`--config ${project.config}`)).toEqual([]);
});

test("a saved program runs in the daemon that has taken its place, and the page has its outcome", async () => {
  const opened = await runProgram([...claudikinsCommand, "ui", "--json"], {
    cwd: join(project.path, "project"),
    env: { ...project.env, CLAUDIKINS_DAEMON: "on" },
  });
  const page = await open(JSON.parse(opened.stdout).url);
  // Saving a program ends the daemon for others, because it has the programs from before.
  project.write("project/twice.ts", "return { twice: input.n * 2 };");
  const saved = await project.claudikins("programs", "save", "twice.ts", "--name", "twice", "n:=1");
  expect(saved).toMatchObject({ exitCode: 0 });
  const started = await page.post("api/programs/run", { name: "twice", input: { n: "21" } });
  const { execution } = (await started.json()) as { execution: string };
  expect([started.status, execution]).toEqual([200, expect.any(String)]);
  const outcome = async () => {
    const answer = await page.get(`api/executions/${execution}/outcome`);
    return [answer.status, await answer.json()];
  };
  for (let look = 0; look < 200 && (await outcome())[0] !== 200; look += 1) await Bun.sleep(50);
  expect(await outcome()).toMatchObject([200, { ok: true, text: '{\n  "twice": 42\n}', isCut: false, logs: [] }]);
  const { programs } = (await (await page.get("api/state")).json()) as { programs: { runs: object[] }[] };
  expect(programs).toMatchObject([{ name: "twice", runs: [{ id: execution, kind: "good", isOver: true }] }]);
  const schedule = { name: "twice", input: { n: "1" }, cron: "0 8 1 1 *" };
  expect(await (await page.post("api/programs/schedule", schedule)).json()).toMatchObject({ isWatched: true });
  expect((await project.daemons()).some((daemon) => !daemon.page)).toBe(true);
  await project.claudikins("daemon", "stop");
});

test("the code of an execution runs again in the daemon, from the page and from the command line, also as a dry run", async () => {
  const on = { cwd: join(project.path, "project"), env: { ...project.env, CLAUDIKINS_DAEMON: "on" } };
  const run = (...args: string[]) => runProgram([...claudikinsCommand, ...args], on);
  const config = JSON.parse(readFileSync(project.config, "utf8"));
  writeFileSync(project.config, JSON.stringify({ ...config, policy: { confirm: "always" } }));
  const page = await open(JSON.parse((await run("ui", "--json")).stdout).url);
  const first = (await run("exec", "--detach", "-e", "// It's half\nreturn { half: 21 };")).stdout.trim();
  const outcomeOf = async (id: string) => {
    const look = async () => page.get(`api/executions/${id}/outcome`);
    for (let looks = 0; looks < 200 && (await look()).status !== 200; looks += 1) await Bun.sleep(50);
    return await (await look()).json();
  };
  await outcomeOf(first);
  expect(await (await page.get(`api/executions/${first}/about`)).json()).toMatchObject({
    execution: { id: first, title: "It's half", stateText: "done" },
    canRunAgain: true,
    command: `claudikins exec -e '// It'\\''s half\nreturn { half: 21 };'`,
  });
  const again = await page.post(`api/executions/${first}/again`, { dryRun: false });
  const { execution } = (await again.json()) as { execution: string };
  expect([again.status, execution === first]).toEqual([200, false]);
  expect(await outcomeOf(execution)).toMatchObject({ ok: true, text: '{\n  "half": 21\n}' });
  const dry = await page.post(`api/executions/${first}/again`, { dryRun: true });
  const planned = await outcomeOf(((await dry.json()) as { execution: string }).execution);
  expect(planned).toMatchObject({ ok: true, text: expect.stringContaining("Would have called nothing") });
  expect((await run("executions", "code", first)).stdout).toBe("// It's half\nreturn { half: 21 };\n");
  const other = (await run("executions", "again", first)).stdout.trim();
  expect(await outcomeOf(other)).toMatchObject({ ok: true, text: '{\n  "half": 21\n}' });
  // Each of them knows the one that it repeats, and the store has the code and the value of both.
  for (const id of [execution, other])
    expect((await run("executions", "show", id)).stdout).toContain(`again from ${first}`);
  const { stdout: side } = await run("executions", "compare", other);
  expect(side).toContain(`${first}  ${other}`);
  expect(side).toContain("Code: the same\n\nValue: the same\n\nLogs: the same");
  // A program that waits for a decision has not ended, and can be tried before it is decided.
  const asks = (await run("exec", "--detach", "-e", "return await seen.wait({ ms: 1 });")).stdout.trim();
  const waiting = async () => ((await (await page.get("api/state")).json()) as { approvals: object[] }).approvals;
  for (let looks = 0; looks < 200 && (await waiting()).length === 0; looks += 1) await Bun.sleep(50);
  expect(await waiting()).toMatchObject([{ tool: "wait", execution: asks }]);
  const tried = await page.post(`api/executions/${asks}/again`, { dryRun: true });
  const would = await outcomeOf(((await tried.json()) as { execution: string }).execution);
  expect(would).toMatchObject({ ok: true, text: expect.stringContaining("seen.wait") });
  expect(await waiting()).toHaveLength(1);
  const refused = await page.post("api/executions/0tsj8yf27sw6astfxpenfht03rvr/again", { dryRun: false });
  expect([refused.status, await refused.json()]).toMatchObject([
    422,
    { error: expect.stringContaining("no execution") },
  ]);
  await project.claudikins("daemon", "stop");
});

test("code that is opened from an execution and changed begins with what that had read, and other code with nothing", async () => {
  const config = JSON.parse(readFileSync(project.config, "utf8"));
  config.mcpServers.seen.labels = { "*": ["private"] };
  writeFileSync(project.config, JSON.stringify(config));
  const on = { cwd: join(project.path, "project"), env: { ...project.env, CLAUDIKINS_DAEMON: "on" } };
  const run = (...args: string[]) => runProgram([...claudikinsCommand, ...args], on);
  const page = await open(JSON.parse((await run("ui", "--json")).stdout).url);
  const first = (await run("exec", "--detach", "-e", "return (await seen.seen()).cwd;")).stdout.trim();
  await run("executions", "wait", first);
  expect(await (await page.get(`api/executions/${first}/source`)).json()).toEqual({
    code: "return (await seen.seen()).cwd;",
  });
  const ran = async (body: object) => {
    const answer = await page.post("api/editor/run", { code: "return 1;", dryRun: false, ...body });
    const { execution } = (await answer.json()) as { execution: string };
    await run("executions", "wait", execution);
    const shown = async () => JSON.parse((await run("executions", "show", execution, "--json")).stdout);
    // An execution is recorded a moment after its answer. Until then, its stored row is shown.
    for (let looks = 0; looks < 100 && (await shown()).timeline === undefined; looks += 1) await Bun.sleep(50);
    const { agent, startedBy, labels = [] } = (await shown()) as Record<string, unknown>;
    return { agent, startedBy, labels };
  };
  const from = { agent: "claudikins ui", startedBy: "exec" };
  expect(await ran({})).toEqual({ ...from, labels: [] });
  expect(await ran({ codeOf: first })).toEqual({ ...from, labels: [{ label: "private", source: "seen.seen" }] });
  await project.claudikins("daemon", "stop");
});

test("a server is started and restarted in the daemon, from the page and from the command line, and its state says so", async () => {
  const on = { cwd: join(project.path, "project"), env: { ...project.env, CLAUDIKINS_DAEMON: "on" } };
  const run = (...args: string[]) => runProgram([...claudikinsCommand, ...args], on);
  const page = await open(JSON.parse((await run("ui", "--json")).stdout).url);
  const held = async () => (await project.daemons()).flatMap((daemon) => daemon.held.map(({ pid }) => pid));
  const started = await page.post("api/servers/restart", { server: "seen" });
  expect(await started.json()).toMatchObject({ ended: 0, tools: expect.any(Number) });
  const first = await held();
  expect(first).toHaveLength(1);
  const { servers } = (await (await page.get("api/state")).json()) as { servers: object[] };
  expect(servers).toMatchObject([{ name: "seen", state: "ready" }]);
  const again = await page.post("api/servers/restart", { server: "seen" });
  expect(await again.json()).toMatchObject({ ended: 1 });
  const second = await held();
  expect([second.length, second[0] === first[0]]).toEqual([1, false]);
  const { stdout } = await run("daemon", "restart", "seen");
  expect(stdout).toMatch(/^Restarted seen: \d+ tools\n$/);
  expect((await held())[0]).not.toBe(second[0]);
  // It can be called as before.
  expect((await run("call", "seen.seen")).exitCode).toBe(0);
  const unknown = await page.post("api/servers/restart", { server: "nobody" });
  expect([unknown.status, await unknown.json()]).toMatchObject([422, { error: expect.stringContaining("nobody") }]);
  await project.claudikins("daemon", "stop");
});
