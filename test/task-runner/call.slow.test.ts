/** The call at the end of a task: results and failures of real servers, which calls are repeated, and cancellation. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { App } from "../../src/app/app.ts";
import type { TaskOptions, TaskOutcome } from "../../src/task-runner/model.ts";
import { runTask } from "../../src/task-runner/run-task.ts";
import { Person, Recorded } from "../policy/recorded.ts";
import { fixture } from "../support/servers.ts";
import { ledgerOf } from "../support/session.ts";
import { type Project, project } from "../tools/generation/project.ts";
import { demoEntry } from "./demo-requests.ts";
import { type Answer, choice, ScriptedModel } from "./scripted-model.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: Project;
let app: App | undefined;
beforeEach(() => {
  folder = project();
});
afterEach(async () => {
  await app?.[Symbol.asyncDispose]();
  app = undefined;
  folder[Symbol.dispose]();
});

async function open(servers: Record<string, object>): Promise<App> {
  folder.configure(servers);
  app = await folder.open();
  return app;
}

async function run(options: Partial<TaskOptions>, ...answers: Answer[]): Promise<TaskOutcome> {
  if (!app) throw new Error("there is no app");
  const model = new ScriptedModel(...answers);
  const outcome = await runTask({ task: "do it", ...options }, model, app);
  expect(model.left).toBe(0);
  return outcome;
}

describe("the result", () => {
  test("is the tool's value, and the call is counted like others", async () => {
    await open({ demo: demoEntry });
    const outcome = await run({ task: "show order ord_00042" }, choice("get_order"), { order_id: "ord_00042" });
    expect(outcome).toMatchObject({ success: true, tool_used: "demo.get_order", result: { id: "ord_00042" } });
    await app?.[Symbol.asyncDispose]();
    app = undefined;
    expect((await ledgerOf(folder.path))?.tools.get("demo")?.get("get_order")).toMatchObject({
      calls: 1,
      takenChars: 0,
    });
  });

  test("is preceded by progress", async () => {
    await open({ demo: demoEntry });
    const lines: string[] = [];
    await run({ onProgress: (line) => lines.push(line) }, choice("slow_audit"), { seconds: 0.3 });
    expect(lines.slice(0, 2)).toEqual(["tool: slow_audit", "calling demo.slow_audit"]);
    expect(lines).toContain("demo.slow_audit: done");
    expect(lines.some((line) => line.includes("orders checked"))).toBe(true);
  });

  test.each([
    ["failing", "TOOL_FAILED", "the tool says no"],
    ["rpc-error", "TOOL_FAILED", "odd.rpc-error: broken inside"],
  ])("is a failure if the tool fails: %s", async (tool, type, message) => {
    await open({ odd: fixture("odd") });
    const outcome = await run({}, choice(tool), {});
    expect(outcome).toMatchObject({
      success: false,
      tool_used: `odd.${tool}`,
      error: { type, message: expect.stringContaining(message) },
      receipt: { callMs: expect.any(Number), modelCalls: 2 },
    });
  });
});

describe("a tool that needs confirmation", () => {
  test.each<[string, boolean]>([
    ["once", true],
    ["no", false],
  ])("is called only if the person allows it: %s", async (answer, isCalled) => {
    await using recorded = new Recorded();
    const opened = await recorded.open({ confirm: "always" });
    const person = new Person(answer);
    opened.pool.setHost({ responder: person.host });
    const outcome = await runTask({ task: "do it" }, new ScriptedModel(choice("plain-it")), opened);
    expect(outcome).toMatchObject(
      isCalled
        ? { success: true, result: "did plain-it" }
        : { success: false, tool_used: "rec.plain-it", error: { type: "POLICY_DENIED" } },
    );
    expect(person.asked).toHaveLength(1);
    expect(recorded.got().map(({ name }) => name)).toEqual(isCalled ? ["plain-it"] : []);
  });
});

describe("a server that dies during the call", () => {
  const starts = () => {
    const file = join(folder.path, "starts");
    return existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  };
  const flaky = () => fixture("flaky", join(folder.path, "starts"));

  test.each(["reads", "sets-to"])("is called again if that does no harm: %s", async (tool) => {
    await open({ flaky: flaky() });
    expect(await run({}, choice(tool))).toMatchObject({ success: true, result: 2 });
    expect(starts()).toBe(2);
  });

  test("is not called again if the tool may have run", async () => {
    await open({ flaky: flaky() });
    const outcome = await run({}, choice("adds"));
    expect(outcome).toMatchObject({ success: false, tool_used: "flaky.adds", error: { type: "SERVER_UNAVAILABLE" } });
    expect(starts()).toBe(1);
  });

  test("every time is reported after three attempts", async () => {
    await open({ flaky: flaky() });
    const lines: string[] = [];
    const outcome = await run({ onProgress: (line) => lines.push(line) }, choice("dies"));
    expect(outcome).toMatchObject({ success: false, tool_used: "flaky.dies", error: { type: "SERVER_UNAVAILABLE" } });
    expect(lines.filter((line) => line.includes("attempt "))).toEqual([
      "flaky does not answer: attempt 2 of 3",
      "flaky does not answer: attempt 3 of 3",
    ]);
  });
});

describe("a server that does not start", () => {
  /** The registry has its tools. */
  async function gone(): Promise<string> {
    const entry = folder.offering("gone", { add: {} });
    const first = await open({ gone: entry });
    await first.catalog.list("gone");
    await first[Symbol.asyncDispose]();
    await open({ gone: entry });
    return join(folder.path, "tools", "gone.json");
  }

  test("is started again, and reported after three attempts, even for a tool that must run only once", async () => {
    const file = await gone();
    rmSync(file);
    const lines: string[] = [];
    const outcome = await run({ onProgress: (line) => lines.push(line) });
    expect(outcome).toMatchObject({ success: false, tool_used: "gone.add", error: { type: "SERVER_UNAVAILABLE" } });
    expect(lines.filter((line) => line.includes("attempt "))).toHaveLength(2);
  });

  test("at first but starts at the second attempt is called", async () => {
    const file = await gone();
    const list = readFileSync(file, "utf8");
    rmSync(file);
    const comesBack = (line: string) => line.includes("attempt 2") && writeFileSync(file, list);
    expect(await run({ onProgress: comesBack })).toMatchObject({ success: true, tool_used: "gone.add" });
  });
});

describe("a tool that never answers", () => {
  test.each<[string, object, number]>([
    ["is not called again if it may have run", {}, 1],
    ["is called once more if it only reads", { annotations: { readOnlyHint: true } }, 2],
    ["is called once more if it is idempotent", { annotations: { idempotentHint: true } }, 2],
  ])("%s", async (_, more, calls) => {
    const tools = [{ name: "hang", inputSchema: { type: "object" }, ...more }];
    const script = { answers: { "tools/list": { tools }, "tools/call": { $never: true } } };
    const file = folder.write("script.json", script);
    await open({ silent: { ...fixture("scripted", file), callTimeoutMs: 1_000 } });
    const outcome = await run({});
    expect(outcome).toMatchObject({ success: false, tool_used: "silent.hang", error: { type: "CALL_TIMEOUT" } });
    expect(readFileSync(`${file}.log`, "utf8").match(/"tools\/call"/g)).toHaveLength(calls);
  });
});

describe("a cancelled task", () => {
  test("ends during a request to the model, and calls nothing", async () => {
    await open({ odd: fixture("odd") });
    const controller = new AbortController();
    const outcome = await run({ signal: controller.signal }, () => {
      controller.abort();
      return choice("failing");
    });
    expect(outcome).toMatchObject({ success: false, error: { type: "CANCELLED" }, receipt: { modelCalls: 1 } });
  });

  test("ends even if the model never answers", async () => {
    await open({ odd: fixture("odd") });
    const controller = new AbortController();
    const outcome = await run({ signal: controller.signal }, () => {
      setImmediate(() => controller.abort());
      return new Promise(() => {});
    });
    expect(outcome).toMatchObject({ success: false, error: { type: "CANCELLED" }, receipt: { modelCalls: 1 } });
  });

  test("ends during a question to the person", async () => {
    await open({ demo: demoEntry });
    const controller = new AbortController();
    const askForMissing = () => {
      setImmediate(() => controller.abort());
      return new Promise<never>(() => {});
    };
    const outcome = await run({ signal: controller.signal, askForMissing }, choice("get_order"), {});
    expect(outcome).toMatchObject({ success: false, tool_used: "demo.get_order", error: { type: "CANCELLED" } });
  });

  test("ends during the call", async () => {
    await open({ demo: demoEntry });
    const controller = new AbortController();
    const whenRunning = (line: string) => line.includes("orders checked") && controller.abort();
    const options = { signal: controller.signal, onProgress: whenRunning };
    const outcome = await run(options, choice("slow_audit"), { seconds: 600 });
    expect(outcome).toMatchObject({ success: false, tool_used: "demo.slow_audit", error: { type: "CANCELLED" } });
  });

  test("ends before it begins", async () => {
    await open({ odd: fixture("odd") });
    const outcome = await run({ signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ success: false, error: { type: "CANCELLED" }, receipt: { modelCalls: 0 } });
  });
});
