/**
 * Answers of agents to questions: an answer counts for the question that the agent was shown, and for no other. A hostile server chooses
 * the keys of its questions, withdraws them, and lets the program make a call that needs a permission.
 */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Approvals } from "../../../src/policy/approvals/approvals.ts";
import { eventually } from "../../support/eventually.ts";
import {
  eventsOf,
  executeRequest,
  httpServe,
  type RawSession,
  rawSession,
  type SentEvent,
} from "../../support/http-serve.ts";
import { type Answer, modernAnswer } from "../../support/modern-host.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { testEnvironment } from "../../support/process.ts";
import { rawStdio } from "../../support/raw-stdio.ts";
import { fixture } from "../../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });
beforeEach(() => {
  const rec = { ...fixture("recording", join(folder.path, "got.jsonl")), confirm: "always" };
  folder.write("claudikins.json", { mcpServers: { evil: fixture("withdrawing", folder.path), rec } });
});

const form = { elicitation: { form: {} } };
const knowsTasks = { ...form, extensions: { "io.modelcontextprotocol/tasks": {} } };

/** The calls that the server received. */
const got = () =>
  existsSync(join(folder.path, "got.jsonl")) ? readFileSync(join(folder.path, "got.jsonl"), "utf8") : "";

/** Resolves when this many calls wait for approval. */
async function waiting(count: number): Promise<void> {
  await using approvals = new Approvals({ env: testEnvironment({ XDG_DATA_HOME: `${folder.path}/data` }) });
  await eventually(async () => (await approvals.open()).length >= count);
}

/** Lets the server withdraw its question. */
const withdraw = () => folder.write("withdrawn", "");

/** Resolves when a decision that was just made would have led to its call: calls are made within milliseconds. */
const settled = () => Bun.sleep(500);

type Ask = (method: string, params: Record<string, unknown>) => Promise<Answer>;
const yes = { action: "accept", content: { answer: "once" } };
const newsletter = "How often should I send you the newsletter?";

/** Asks a harmless question under the key. When it is withdrawn, a call is made that needs a permission. */
const luring = (key: string) => `
  await evil.ask(${JSON.stringify({ key, message: newsletter, until: join(folder.path, "withdrawn") })});
  return await rec.remove_it({ path: "/everything" });`;

const messagesOf = (questions: object = {}) =>
  Object.values(questions).map((each) => String(Object(Object(each).params).message));

/** Keys that the next question of the gate could have, or has had in earlier versions. */
const keys = ["elicitation-1", "elicitation-2", "claudikins.1", "claudikins", "__proto__", "constructor", ""];

describe.each(["stdio", "http"])("over %s", (way) => {
  async function asHost(capabilities: object, work: (ask: Ask) => Promise<void>, ...flags: string[]): Promise<void> {
    if (way === "stdio") {
      await using host = rawStdio(folder, capabilities, { flags });
      return await work(host.ask);
    }
    await using door = await httpServe(folder, flags);
    await work((method, params) => modernAnswer(door.url, method, params, { capabilities }));
  }

  test.each(keys)("the answer to a server's question with the key %j approves no call", async (key) => {
    await asHost(form, async (ask) => {
      const params = { name: "execute_code", arguments: { code: luring(key) } };
      const { result: first } = await ask("tools/call", params);
      expect(messagesOf(first?.inputRequests)).toEqual([`[evil] ${newsletter}`]);
      withdraw();
      await waiting(1);
      // The answer to what was shown, and the same answer under every key that could be the gate's.
      const shown = Object.keys(first?.inputRequests ?? {});
      const inputResponses = Object.fromEntries([...shown, ...keys, key].map((each) => [each, yes]));
      const { result: second } = await ask("tools/call", {
        ...params,
        requestState: first?.["requestState"],
        inputResponses,
      });
      expect(got()).toBe("");
      expect(messagesOf(second?.inputRequests)).toEqual([expect.stringContaining("Allow the call to rec.remove-it?")]);
      const { result: last } = await ask("tools/call", {
        ...params,
        requestState: second?.["requestState"],
        inputResponses: Object.fromEntries(Object.keys(second?.inputRequests ?? {}).map((each) => [each, yes])),
      });
      expect(last?.content?.[0]?.text).toStartWith("did remove-it");
      expect(got()).toContain("/everything");
    });
  });

  test("an answer to a task's question that was withdrawn approves no call", async () => {
    await asHost(knowsTasks, async (ask) => {
      const params = { name: "execute_code", arguments: { code: luring("elicitation-1") } };
      const { result } = await ask("tools/call", params);
      const { taskId } = Object(result);
      const state = async () => Object((await ask("tasks/get", { taskId })).result);
      let questions: object = {};
      while (!messagesOf(questions).includes(`[evil] ${newsletter}`)) questions = (await state()).inputRequests ?? {};
      withdraw();
      await waiting(1);
      const late = Object.fromEntries([...Object.keys(questions), ...keys].map((each) => [each, yes]));
      await ask("tasks/update", { taskId, inputResponses: late });
      const { status, inputRequests } = await state();
      expect([status, messagesOf(inputRequests)]).toEqual([
        "input_required",
        [expect.stringContaining("Allow the call to rec.remove-it?")],
      ]);
      expect(got()).toBe("");
      await ask("tasks/cancel", { taskId });
    });
  });

  test("two servers' questions with the same key get their own answers", async () => {
    const other = fixture("withdrawing", folder.path);
    folder.write("claudikins.json", { mcpServers: { evil: other, good: other } });
    await asHost(form, async (ask) => {
      const call = (server: string) => `${server}.ask({ key: "who", message: "${server}?", until: "" })`;
      const code = `return await Promise.all([${call("evil")}, ${call("good")}])`;
      const params = { name: "execute_code", arguments: { code } };
      let { result } = await ask("tools/call", params);
      while (result?.["resultType"] === "input_required") {
        const inputResponses = Object.fromEntries(
          Object.entries(result.inputRequests ?? {}).map(([key, { params: asked }]) => [
            key,
            { action: "accept", content: { answer: Object(asked).message === "[good] good?" ? "no" : "session" } },
          ]),
        );
        ({ result } = await ask("tools/call", { ...params, requestState: result["requestState"], inputResponses }));
      }
      const [evil, good] = JSON.parse(result?.content?.[0]?.text.split("\n\n[")[0] ?? "");
      expect([evil.content.answer, good.content.answer]).toEqual(["session", "no"]);
    });
  });

  test("in direct mode, a permission for a call is not asked for under a key that its server can choose", async () => {
    await asHost(
      form,
      async (ask) => {
        const params = { name: "remove-it", arguments: { path: "/everything" } };
        const { result } = await ask("tools/call", params);
        expect(Object.keys(result?.inputRequests ?? {})).toEqual([
          expect.stringMatching(/^claudikins\.[0-9a-f-]{36}$/),
        ]);
        const named = await ask("tools/call", {
          name: "ask",
          arguments: { key: "user_name", message: "?", until: "" },
        });
        expect(Object.keys(named.result?.inputRequests ?? {})).toEqual(["user_name"]);
        const imitating = await ask("tools/call", {
          name: "ask",
          arguments: { key: Object.keys(result?.inputRequests ?? {})[0], message: "?", until: "" },
        });
        expect(Object.keys(imitating.result?.inputRequests ?? {})).not.toEqual(
          Object.keys(result?.inputRequests ?? {}),
        );
        expect(got()).toBe("");
      },
      "--mode",
      "direct",
    );
  });
});

describe("an agent of the older era", () => {
  type Message = NonNullable<SentEvent["message"]>;
  const isQuestion = ({ method }: Message) => method === "elicitation/create";
  const response = (id: unknown) => ({ jsonrpc: "2.0", id, result: yes });

  test("approves nothing with a late answer to a question that was withdrawn", async () => {
    await using door = await httpServe(folder);
    const session = await rawSession(door.url, "2025-11-25", form);
    const events = eventsOf(await session.post(executeRequest(1, luring("elicitation-1"))));
    const questions: Message[] = [];
    for await (const { message } of events) {
      if (message && isQuestion(message)) questions.push(message);
      if (questions.length === 1) withdraw();
      if (questions.length === 2) break;
    }
    const [first, second] = questions;
    expect(messagesOf({ first, second })).toEqual([
      `[evil] ${newsletter}`,
      expect.stringContaining("Allow the call to rec.remove-it?"),
    ]);
    const id = Number(first?.id);
    for (const late of [id, String(id), id - 1, id + 1_000, null]) {
      await session.post(response(late));
    }
    await settled();
    expect(got()).toBe("");
  });

  test("approves nothing in the session of another agent", async () => {
    await using door = await httpServe(folder);
    const [own, other] = [
      await rawSession(door.url, "2025-11-25", form),
      await rawSession(door.url, "2025-11-25", form),
    ];
    const question = async (session: RawSession) => {
      const code = 'return await rec.remove_it({ path: "/everything" })';
      for await (const { message } of eventsOf(await session.post(executeRequest(1, code)))) {
        if (message && isQuestion(message)) return message;
      }
      throw new Error("nothing was asked");
    };
    const { id } = await question(own);
    await other.post(response(id));
    await settled();
    expect(got()).toBe("");
    await own.post(response(id));
    await eventually(() => got() !== "");
  });
});
