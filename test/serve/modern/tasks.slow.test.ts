/** Calls that become tasks, for hosts that know them: over HTTP, and on stdin and stdout. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { eventsOf, httpServe } from "../../support/http-serve.ts";
import { type Answer, modernAnswer, modernRequest } from "../../support/modern-host.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { rawStdio } from "../../support/raw-stdio.ts";
import { fixture } from "../../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });
beforeEach(() => {
  folder.write("claudikins.json", {
    mcpServers: { newer: fixture("modern", "reject", folder.path), tasks: fixture("tasks", folder.path) },
  });
});

const extension = "io.modelcontextprotocol/tasks";
const capabilities = { elicitation: { form: {} }, extensions: { [extension]: {} } };

/** Accepts all questions with the same name. */
const accepted = (questions: unknown, name: string) =>
  Object.fromEntries(Object.keys(Object(questions)).map((key) => [key, { action: "accept", content: { name } }]));

interface State {
  taskId: string;
  status: string;
  ttlMs: number | null;
  inputRequests?: Record<string, { params: { message: string } }>;
  result?: { content: { text: string }[]; resultType: string; isError?: boolean };
  error?: { code: number; message: string };
}

type Ask = (method: string, params: Record<string, unknown>, options?: object) => Promise<Answer>;

/** Asks for the state until it is one of these. */
async function stateOf(ask: Ask, taskId: unknown, ...wanted: string[]): Promise<State> {
  for (;;) {
    const { result, error } = await ask("tasks/get", { taskId });
    if (error) throw new Error(error.message);
    const state = result as unknown as State;
    if (wanted.includes(state.status)) return state;
    await Bun.sleep(20);
  }
}

const executing = (code: string) => ({ name: "execute_code", arguments: { code } });
const textOf = (state: State) => state.result?.content[0]?.text ?? JSON.stringify(state);

describe.each(["http", "stdio"])("over %s", (way) => {
  /** Runs work with one host of `serve`. */
  async function asHost(work: (ask: Ask) => Promise<void>, ...flags: string[]): Promise<void> {
    if (way === "stdio") {
      await using host = rawStdio(folder, capabilities, { flags });
      return await work(host.ask);
    }
    await using door = await httpServe(folder, flags);
    await work((method, params, options = {}) => modernAnswer(door.url, method, params, { capabilities, ...options }));
  }

  test("tasks are announced in both modes", async () => {
    for (const mode of ["code", "direct"]) {
      await asHost(
        async (ask) => {
          const { result } = await ask("server/discover", {});
          expect(result).toMatchObject({ capabilities: { tools: {}, extensions: { [extension]: {} } } });
        },
        "--mode",
        mode,
      );
    }
  });

  test("a program that asks becomes a task, whose questions are answered one by one", async () => {
    await asHost(async (ask) => {
      const code =
        "const all = await Promise.all([newer.greet({}), newer.pair({})]); return [...all, await newer.greet({})]";
      const { result } = await ask("tools/call", executing(code));
      expect(result).toMatchObject({ resultType: "task", ttlMs: null, pollIntervalMs: expect.any(Number) });
      expect(Object.keys(result ?? {})).not.toContain("inputRequests");
      const { taskId } = result ?? {};
      let state = await stateOf(ask, taskId, "input_required");
      while (Object.keys(state.inputRequests ?? {}).length < 3) state = await stateOf(ask, taskId, "input_required");
      const messagesIn = ({ inputRequests = {} }: State) =>
        Object.values(inputRequests)
          .map(({ params }) => params.message)
          .sort();
      const [who, first, second] = ["[newer] Who are you?", "[newer] First?", "[newer] Second?"];
      expect(messagesIn(state)).toEqual([first, second, who]);
      const answers = accepted(state.inputRequests, "Ada");
      const [key = ""] =
        Object.entries(state.inputRequests ?? {}).find(([, each]) => each.params.message === who) ?? [];
      const { result: noted } = await ask("tasks/update", { taskId, inputResponses: { [key]: answers[key] } });
      expect(noted).toMatchObject({ resultType: "complete" });
      expect(noted).not.toHaveProperty("taskId");
      expect(messagesIn(await stateOf(ask, taskId, "input_required"))).toEqual([first, second]);
      await ask("tasks/update", { taskId, inputResponses: { ...answers, unknown: {} } });
      const last = await stateOf(ask, taskId, "input_required");
      expect(messagesIn(last)).toEqual([who]);
      expect(Object.keys(last.inputRequests ?? {})).not.toContain(key);
      await ask("tasks/update", { taskId, inputResponses: accepted(last.inputRequests, "Grace") });
      const done = await stateOf(ask, taskId, "completed");
      expect(done.result).toMatchObject({ resultType: "complete" });
      expect(textOf(done)).toStartWith('["hello Ada", "Ada and Ada", "hello Grace"]');
      expect(done.ttlMs).toBeGreaterThan(3_000_000);
      expect(done).not.toHaveProperty("inputRequests");
    });
  });

  test("a cancelled task cancels its program and the calls of its program", async () => {
    await asHost(async (ask) => {
      const code = "await Promise.all([newer.wait({}), newer.greet({})])";
      const { result } = await ask("tools/call", executing(code));
      const { taskId } = result ?? {};
      expect((await ask("tasks/cancel", { taskId })).result).toMatchObject({ resultType: "complete" });
      const state = await stateOf(ask, taskId, "cancelled");
      expect(state).not.toHaveProperty("result");
      // Once more, as a host may that has not seen the end.
      expect((await ask("tasks/cancel", { taskId })).result).toMatchObject({ resultType: "complete" });
      for (;;) {
        const { result: answer } = await ask("tools/call", executing("return await newer.waiting({})"));
        if (answer?.content?.[0]?.text.startsWith('"0\n') || answer?.content?.[0]?.text.startsWith("0")) break;
        await Bun.sleep(20);
      }
    });
  });

  test("a program that ends soon is answered at once", async () => {
    await asHost(async (ask) => {
      const { result } = await ask(
        "tools/call",
        executing("return (await tasks.slow_compute({ seconds: 0.1, label: 'a' }))"),
      );
      expect(result).toMatchObject({ resultType: "complete" });
      expect(result?.content?.[0]?.text).toStartWith("computed a");
    });
  });

  test("in direct mode, a task of a server becomes a task, and other calls do not", async () => {
    await asHost(
      async (ask) => {
        const call = async (name: string, args: object = {}) =>
          (await ask("tools/call", { name, arguments: args })).result;
        expect(await call("tasks__greet", { name: "Ada" })).toMatchObject({ resultType: "complete" });
        expect(await call("pair")).toMatchObject({ resultType: "input_required" });
        const slow = await call("slow_compute", { seconds: 0.2, label: "it" });
        expect(slow).toMatchObject({ resultType: "task", status: "working" });
        expect(textOf(await stateOf(ask, slow?.["taskId"], "completed"))).toBe("computed it");
        const broken = await call("protocol_error_job");
        const { error } = await stateOf(ask, broken?.["taskId"], "failed");
        expect(error).toEqual({ code: -32_603, message: "the job broke", data: { why: "it" } } as never);
        const asking = await call("confirm_delete", { filename: "a" });
        const { inputRequests } = await stateOf(ask, asking?.["taskId"], "input_required");
        expect(inputRequests?.["confirm"]?.params.message).toBe("[tasks] Delete a?");
        await ask("tasks/update", { taskId: asking?.["taskId"], inputResponses: accepted(inputRequests, "yes") });
        expect(textOf(await stateOf(ask, asking?.["taskId"], "completed"))).toBe("a: yes");
      },
      "--mode",
      "direct",
    );
  });

  test("hosts that do not know tasks get none, and may not ask for them", async () => {
    await asHost(
      async (ask) => {
        const without = { capabilities: { elicitation: { form: {} } } };
        const args = { name: "slow_compute", arguments: { seconds: 0.1, label: "it" } };
        const { result } = await ask("tools/call", args, without);
        expect(result).toMatchObject({ resultType: "complete", content: [{ text: "computed it" }] });
        for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
          const { error } = await ask(method, { taskId: "a", inputResponses: {} }, without);
          expect(error).toMatchObject({
            code: -32_021,
            data: { requiredCapabilities: { extensions: { [extension]: {} } } },
          });
        }
        const { error } = await ask("subscriptions/listen", { notifications: { taskIds: ["a"] } }, without);
        expect(error).toMatchObject({ code: -32_021 });
      },
      "--mode",
      "direct",
    );
  });

  test("unknown tasks are an error", async () => {
    await asHost(async (ask) => {
      for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
        const { error } = await ask(method, { taskId: "none", inputResponses: {} });
        expect(error).toMatchObject({ code: -32_602 });
      }
    });
  });
});

test("over HTTP, a task belongs to the client that made it", async () => {
  await using door = await httpServe(folder);
  const ask = (method: string, params: Record<string, unknown>, name: string) =>
    modernAnswer(door.url, method, params, { capabilities, name });
  const { result } = await ask("tools/call", executing("return await newer.greet({})"), "one");
  const { taskId } = result ?? {};
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
    expect((await ask(method, { taskId, inputResponses: {} }, "two")).error).toMatchObject({ code: -32_602 });
  }
  expect((await ask("tasks/get", { taskId }, "one")).result).toMatchObject({ status: "input_required" });
});

describe("a task whose process was killed", () => {
  const until = () => join(folder.path, "go");
  const counts = () => join(folder.path, "counts");
  const called = () => (existsSync(counts()) ? readFileSync(counts(), "utf8").trim().split("\n").length : 0);

  beforeEach(() => {
    const mcpServers = { counting: fixture("counting", counts()) };
    folder.write("claudikins.json", { mcpServers, executions: { answerAfterMs: 100 } });
  });

  /** Kills `serve` while its program waits for a call that may be repeated. Returns the id of the task. */
  async function killed(): Promise<unknown> {
    const host = rawStdio(folder, capabilities);
    const code = `const list = [40]; list.push((await counting.read_wait({ until: ${JSON.stringify(until())} })).count); return list`;
    const { result } = await host.ask("tools/call", executing(code));
    expect(result).toMatchObject({ resultType: "task", status: "working" });
    await eventually(() => called() >= 1);
    await Bun.sleep(200);
    host.signal("SIGKILL");
    await host.exited;
    return result?.["taskId"];
  }

  test("is continued by the next process", async () => {
    const taskId = await killed();
    await using host = rawStdio(folder, capabilities);
    const [first, second] = await Promise.all([host.ask("tasks/get", { taskId }), host.ask("tasks/get", { taskId })]);
    expect([first.result, second.result]).toMatchObject([{ status: "working" }, { status: "working" }]);
    await Bun.write(until(), "");
    expect(textOf(await stateOf(host.ask, taskId, "completed"))).toStartWith("[40, 2]");
    expect(called()).toBe(2);
  });

  test("has its result in any later process", async () => {
    const taskId = await killed();
    await Bun.write(until(), "");
    await using host = rawStdio(folder, capabilities);
    await stateOf(host.ask, taskId, "completed");
    await using later = rawStdio(folder, capabilities);
    expect(textOf(await stateOf(later.ask, taskId, "completed"))).toStartWith("[40, 2]");
  });

  test("can be cancelled", async () => {
    const taskId = await killed();
    await using host = rawStdio(folder, capabilities);
    expect((await host.ask("tasks/cancel", { taskId })).result).toMatchObject({ resultType: "complete" });
    expect(await stateOf(host.ask, taskId, "cancelled")).toMatchObject({ taskId });
  });

  test("is not found without its secret, or by another client", async () => {
    const [execution] = String(await killed()).split(".");
    await using host = rawStdio(folder, capabilities);
    for (const taskId of [execution, `${execution}.${crypto.randomUUID()}`]) {
      expect((await host.ask("tasks/get", { taskId })).error).toMatchObject({ code: -32_602 });
    }
    await using door = await httpServe(folder);
    const { error } = await modernAnswer(door.url, "tasks/get", { taskId: await killed() }, { capabilities });
    expect(error).toMatchObject({ code: -32_602 });
  });
});

test("a task outlives serve when its input ends", async () => {
  const until = join(folder.path, "go");
  const mcpServers = { counting: fixture("counting", join(folder.path, "counts")) };
  folder.write("claudikins.json", { mcpServers, executions: { answerAfterMs: 100 } });
  let taskId: unknown;
  {
    await using host = rawStdio(folder, capabilities);
    const code = `return (await counting.read_wait({ until: ${JSON.stringify(until)} })).count + 40`;
    taskId = (await host.ask("tools/call", executing(code))).result?.["taskId"];
    await eventually(() => existsSync(join(folder.path, "counts")));
    await Bun.sleep(200);
  }
  await using host = rawStdio(folder, capabilities);
  await Bun.write(until, "");
  expect(textOf(await stateOf(host.ask, taskId, "completed"))).toStartWith("42");
});

describe("changes of a task are told to a host that listens", () => {
  const listening = (taskId: unknown) => ({ notifications: { taskIds: [taskId, "none"], toolsListChanged: true } });
  const code = "return await newer.greet({})";

  test.each(["code", "direct"])("over HTTP, in %s mode", async (mode) => {
    await using door = await httpServe(folder, ["--mode", mode]);
    const ask: Ask = (method, params) => modernAnswer(door.url, method, params, { capabilities });
    const call = mode === "code" ? executing(code) : { name: "confirm_delete", arguments: { filename: "a" } };
    const { taskId } = (await ask("tools/call", call)).result ?? {};
    const { inputRequests } = await stateOf(ask, taskId, "input_required");
    const end = new AbortController();
    const response = await modernRequest(door.url, "subscriptions/listen", listening(taskId), {
      capabilities,
      signal: end.signal,
    });
    const events = eventsOf(response)[Symbol.asyncIterator]();
    const next = async () =>
      (await events.next()).value?.message as { method: string; params: Record<string, unknown> };
    const { method, params } = await next();
    expect(method).toBe("notifications/subscriptions/acknowledged");
    expect(params["notifications"]).toEqual({
      ...(mode === "direct" ? { toolsListChanged: true } : {}),
      taskIds: [taskId, "none"],
    });
    await ask("tasks/update", { taskId, inputResponses: accepted(inputRequests, "Ada") });
    const told = [await next(), await next()];
    expect(told.map((each) => [each.method, each.params["taskId"], each.params["status"]])).toEqual([
      ["notifications/tasks", taskId, "working"],
      ["notifications/tasks", taskId, "completed"],
    ]);
    const { _meta, ...state } = told[1]?.params ?? {};
    const { _meta: _, resultType, ...asked } = (await ask("tasks/get", { taskId })).result ?? {};
    expect(state).toEqual(asked);
    end.abort();
  });

  test("on stdin and stdout", async () => {
    await using host = rawStdio(folder, capabilities);
    const { taskId } = (await host.ask("tools/call", executing(code))).result ?? {};
    const { inputRequests } = await stateOf(host.ask, taskId, "input_required");
    // It has no answer.
    void host.ask("subscriptions/listen", listening(taskId));
    const acknowledged = await host.hears(({ method }) => method === "notifications/subscriptions/acknowledged");
    expect(acknowledged.params).toMatchObject({ notifications: { taskIds: [taskId, "none"] } });
    await host.ask("tasks/update", { taskId, inputResponses: accepted(inputRequests, "Ada") });
    const { params } = await host.hears((each) => each.params?.["status"] === "completed");
    expect(params).toMatchObject({ taskId, result: { resultType: "complete" } });
  });
});

test("a question that nobody has answered does not delay the end", async () => {
  await using door = await httpServe(folder, ["--grace", "300ms"]);
  const { result } = await modernAnswer(door.url, "tools/call", executing("return await newer.greet({})"), {
    capabilities,
  });
  expect(result).toMatchObject({ resultType: "task" });
  const startedAt = performance.now();
  door.signal("SIGTERM");
  expect(await door.exited).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});
