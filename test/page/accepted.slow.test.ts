/** Definitions that changed while their server ran in the daemon: acceptance takes effect at once, or the page says that the server is old. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { PageHeld, PageTools } from "../../src/page/servers-contract.ts";
import { type GeneratedProject, generatedProject } from "../support/daemon.ts";
import { eventually } from "../support/eventually.ts";
import { Page } from "../support/page.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(120_000);

const before = {
  name: "pay",
  description: "Pays an invoice.",
  inputSchema: { type: "object", properties: { id: {} } },
};
const after = { ...before, inputSchema: { type: "object", properties: { invoice: {} } } };

let project: GeneratedProject;
let page: Page;
const offer = (tool: object) => project.write("tools.json", { version: "1.0.0", tools: [tool] });

/** `live` reads the file for each list, and `kept` only when it starts. */
beforeEach(async () => {
  project = await generatedProject((folder) => ({
    live: fixture("changing", "stdio", join(folder, "tools.json")),
    kept: fixture("changing", "kept", join(folder, "tools.json")),
  }));
  project.env["CLAUDIKINS_DAEMON"] = "on";
  offer(before);
  await project.claudikins("list", "--check");
  for (const server of ["live", "kept"]) expect(await call(server, "id=1")).toBe("called pay\n");
  page = await Page.open(JSON.parse((await project.claudikins("ui", "--json")).stdout).url);
  offer(after);
  // A check starts a process of its own.
  for (const server of ["live", "kept"]) await page.post("api/servers/check", { server });
});
afterEach(() => project[Symbol.asyncDispose]());

async function call(server: string, argument: string): Promise<string> {
  const { stdout, stderr } = await project.claudikins("call", `${server}.pay`, argument);
  return stdout + stderr;
}

const held = async (server: string) => (await (await page.get(`api/held?server=${server}`)).json()) as PageHeld;
const accept = async (server: string) => {
  const marks = Object.fromEntries((await held(server)).tools.map(({ tool, mark }) => [tool, mark]));
  return (await (await page.post("api/held", { server, tools: marks })).json()) as PageHeld;
};
const shown = async (server: string) => {
  const { tools } = (await (await page.get(`api/tools?server=${server}`)).json()) as PageTools;
  return tools.map(({ name }) => name);
};

test("the tool of a server that reads its definitions again is there at once: on the page, in lists and for calls", async () => {
  expect((await held("live")).tools).toMatchObject([{ tool: "pay", isReplaced: false }]);
  expect((await accept("live")).tools).toEqual([]);
  expect(await shown("live")).toEqual(["announce", "pay"]);
  expect((await project.claudikins("list", "tools", "live")).stderr).not.toContain("live.pay");
  expect(await call("live", "invoice=1")).toBe("called pay\n");
});

test("a server that still runs with the former definition is named until it is restarted, and is not called meanwhile", async () => {
  const { tools } = await accept("kept");
  expect(tools).toMatchObject([
    { tool: "pay", isReplaced: true, why: [expect.stringContaining("as before the change")] },
  ]);
  const { stderr } = await project.claudikins("exec", "-e", "return await kept.pay({ invoice: '1' })");
  expect(stderr).toContain("it is as before the change that was accepted");
  const review = await project.claudikins("review");
  expect(review.stdout).toContain("kept.pay: it is as before the change that was accepted");
  expect(review.stderr).toContain("If it still runs its earlier program: claudikins daemon restart kept");
  expect((await page.post("api/servers/restart", { server: "kept" })).status).toBe(200);
  expect((await held("kept")).tools).toEqual([]);
  expect(await shown("kept")).toEqual(["announce", "pay"]);
  expect(await call("kept", "invoice=1")).toBe("called pay\n");
});

test("review --accept says the same, and how to restart the server", async () => {
  const { stdout, stderr } = await project.claudikins("review", "--accept", "--all");
  expect(stdout).toBe("Accepted live.pay, kept.pay\n");
  expect(stderr).toContain("claudikins daemon restart kept");
  expect(stderr).not.toContain("restart live");
  // The page, which asks for the state while it is open, follows what the command has accepted.
  await eventually(async () => {
    await page.get("api/state");
    return (await shown("live")).includes("pay");
  });
  expect(await call("live", "invoice=1")).toBe("called pay\n");
  await project.claudikins("daemon", "restart", "kept");
  expect(await call("kept", "invoice=1")).toBe("called pay\n");
});
