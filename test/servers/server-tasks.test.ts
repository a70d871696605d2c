/** Calls that a server of 2026-07-28 answers as tasks. */
import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { ownPool } from "../support/own-pool.ts";
import { failureOf, plainValue } from "../support/pool.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

const own = ownPool();
beforeEach(() => {
  own.open({ tasks: fixture("tasks", own.mark) });
});

const value = async (tool: string, args: object = {}) => plainValue(await own.pool.callTool("tasks", tool, args));

/** A person who answers each form with a name that the message gets. */
function person(nameFor: (message: string) => Promise<string>): void {
  own.pool.setHost({
    responder: {
      capabilities: { elicitation: { form: {} } },
      elicit: async ({ message }) => ({ action: "accept", content: { name: await nameFor(message) } }),
    },
  });
}

test("a call that becomes a task returns the task's result", async () => {
  expect(await value("greet", { name: "Ada" })).toBe("Hello, Ada!");
  expect(await value("slow_compute", { seconds: 0.1, label: "it" })).toBe("computed it");
  expect(await value("slow_compute", { seconds: 0, label: "it" })).toBe("computed it");
  expect(await own.pool.callTool("tasks", "failing_job", {})).toMatchObject({ isError: true });
});

test("a task that fails is an error of the tool, as the server tells it", async () => {
  const failure = await failureOf(own.pool.callTool("tasks", "protocol_error_job", {}));
  expect(failure).toMatchObject({ code: "TOOL_FAILED" });
  expect(failure.message).toContain("the job broke");
  expect(failure.cause).toMatchObject({ code: -32_603, data: { why: "it" } });
});

test("the questions of a task are answered once each, as soon as their answers are there", async () => {
  const first = Promise.withResolvers<string>();
  const asked: string[] = [];
  person((message) => {
    asked.push(message);
    if (!message.includes("First")) queueMicrotask(() => first.resolve("Ada"));
    return message.includes("First") ? first.promise : Promise.resolve("Grace");
  });
  expect(await value("multi_input")).toBe("Ada and Grace");
  expect(asked).toEqual(["[tasks] First?", "[tasks] Second?"]);
  expect(await value("test_tool_with_task")).toBe("done for Grace");
});

test("a task whose question nobody can answer is cancelled, and the call fails with the reason", async () => {
  person(() => Promise.reject(new Error("the person has left")));
  const failure = await failureOf(own.pool.callTool("tasks", "confirm_delete", { filename: "a" }));
  expect(failure.message).toContain("the person has left");
  await eventually(async () => (await value("cancelled")) === 1);
});

test("a cancelled call cancels its task", async () => {
  const cancel = new AbortController();
  const args = { seconds: 600, label: "" };
  const failure = failureOf(own.pool.callTool("tasks", "slow_compute", args, { signal: cancel.signal }));
  await eventually(async () => (await value("asked")) !== "");
  cancel.abort();
  expect((await failure).code).toBe("CANCELLED");
  await eventually(async () => (await value("cancelled")) === 1);
});

test("a call that works as a task may take longer than the time limit of a call", async () => {
  const args = { seconds: 0.6, label: "late" };
  const result = await own.pool.callTool("tasks", "slow_compute", args, { timeoutMs: 300 });
  expect(plainValue(result)).toBe("computed late");
});

test("a server that has lost its task is reported", async () => {
  const call = own.pool.callTool("tasks", "slow_compute", { seconds: 600, label: "" });
  const failure = failureOf(call);
  await eventually(async () => (await value("asked")) !== "");
  await value("forget");
  expect((await failure).message).toContain("There is no such task");
});
