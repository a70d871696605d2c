/** Requests of 2026-07-28 behind a balancer without affinity: answers, tasks and their questions find the replica that waits for them. */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { balancer } from "../../support/balancer.ts";
import { eventsOf, type HttpServe } from "../../support/http-serve.ts";
import { modernAnswer, modernRequest, openModernHost } from "../../support/modern-host.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { killReplica, openReplicas } from "../../support/replicas.ts";
import { fixture } from "../../support/servers.ts";

setDefaultTimeout(120_000);

const folder = ownFolder();
const form = { elicitation: { form: {} } };
const knowsTasks = { ...form, extensions: { "io.modelcontextprotocol/tasks": {} } };
const executing = (code: string) => ({ name: "execute_code", arguments: { code } });

/** Accepts all questions with the same name. */
const accepted = (questions: unknown, name: string) =>
  Object.fromEntries(Object.keys(Object(questions)).map((key) => [key, { action: "accept", content: { name } }]));

const textOf = (result: unknown) => String(Object(result).content?.[0]?.text).replace(/\n\n\[[^\n]*\]$/, "");

describe.skipIf(postgresNote !== "")(`requests at replicas${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  beforeEach(() => {
    folder.write("claudikins.json", {
      mcpServers: { newer: fixture("modern", "reject", folder.path), tasks: fixture("tasks", folder.path) },
    });
  });

  const greeting = executing(`return await newer.greet({})`);

  test("the official client is asked in the middle of programs, and its answers arrive anywhere", async () => {
    await using set = await openReplicas(folder, server, 3);
    await using door = balancer(set.all.map(({ url }) => url));
    await using host = await openModernHost(folder, {
      url: door.url,
      capabilities: form,
      prepare: (client) =>
        client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } })),
    });
    for (let round = 0; round < 8; round++) expect(textOf(await host.callTool(greeting))).toBe("hello Ada");
  });

  test("a task that was begun at one replica is asked for, answered and cancelled at another one", async () => {
    await using set = await openReplicas(folder, server, 2);
    const [a, b] = set.all as [HttpServe, HttpServe];
    const ask = (url: string, method: string, params: Record<string, unknown>) =>
      modernAnswer(url, method, params, { capabilities: knowsTasks });
    const stateAt = async (url: string, taskId: unknown, wanted: string) => {
      for (;;) {
        const { result, error } = await ask(url, "tasks/get", { taskId });
        if (error) throw new Error(error.message);
        if (Object(result).status === wanted) return Object(result);
        await Bun.sleep(50);
      }
    };
    const { result } = await ask(a.url, "tools/call", greeting);
    const { taskId } = Object(result);
    const { inputRequests } = await stateAt(b.url, taskId, "input_required");
    const notifications = { taskIds: [taskId] };
    const listening = await modernRequest(
      b.url,
      "subscriptions/listen",
      { notifications },
      { capabilities: knowsTasks },
    );
    const heard = eventsOf(listening);
    await ask(b.url, "tasks/update", { taskId, inputResponses: accepted(inputRequests, "Bob") });
    expect(textOf((await stateAt(b.url, taskId, "completed")).result)).toBe("hello Bob");

    for await (const { message } of heard) {
      if (message?.method === "notifications/tasks" && message.params?.["status"] === "completed") break;
    }

    const other = Object((await ask(a.url, "tools/call", greeting)).result).taskId;
    await stateAt(b.url, other, "input_required");
    expect((await ask(b.url, "tasks/cancel", { taskId: other })).error).toBe(undefined);
    await stateAt(a.url, other, "cancelled");
    // Another client has no such task.
    const foreign = await modernAnswer(b.url, "tasks/get", { taskId }, { capabilities: knowsTasks, name: "other" });
    expect(foreign.error?.message).toContain("There is no such task");
  });

  test("a replica that asked is killed: another one continues its program, and the call that asked has an unknown outcome", async () => {
    await using set = await openReplicas(folder, server, 2);
    const [a, b] = set.all as [HttpServe, HttpServe];
    const params = executing(`try { return await newer.greet({}); } catch (error) { return "after " + error.code; }`);
    const { result } = await modernAnswer(a.url, "tools/call", params, { capabilities: form });
    const { requestState, inputRequests } = Object(result);
    await killReplica(a, server, set.database);
    const round = { ...params, requestState, inputResponses: accepted(inputRequests, "Ada") };
    const foreign = modernAnswer(b.url, "tools/call", round, { capabilities: form, name: "other" });
    const own = await modernAnswer(b.url, "tools/call", round, { capabilities: form });
    expect(textOf(own.result)).toBe("after CALL_OUTCOME_UNKNOWN");
    expect((await foreign).error?.message).toContain("the replica that asked has ended");
  });

  test("in direct mode, a question of a replica that has ended is lost, and the error says that", async () => {
    await using set = await openReplicas(folder, server, 2, { flags: ["--mode", "direct"] });
    const [a, b] = set.all as [HttpServe, HttpServe];
    const params = { name: "newer__greet", arguments: {} };
    const { result } = await modernAnswer(a.url, "tools/call", params, { capabilities: form });
    const { requestState, inputRequests } = Object(result);
    const round = { ...params, requestState, inputResponses: accepted(inputRequests, "Ada") };
    const answered = await modernAnswer(b.url, "tools/call", round, { capabilities: form });
    expect(textOf(answered.result)).toBe("hello Ada");
    const again = Object((await modernAnswer(a.url, "tools/call", params, { capabilities: form })).result);
    a.signal("SIGTERM");
    await a.exited;
    const late = { ...params, requestState: again.requestState, inputResponses: accepted(again.inputRequests, "Ada") };
    const { error } = await modernAnswer(b.url, "tools/call", late, { capabilities: form });
    expect(error?.message).toContain("This requestState cannot be used: the replica that asked has ended");
  });
});
