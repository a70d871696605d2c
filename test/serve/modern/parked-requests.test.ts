/** Requests that wait for answers of the host: their rounds, their ends, and questions that outlive their request. */
import { describe, expect, test } from "bun:test";
import type { ServerContext } from "@modelcontextprotocol/server";
import { type ModernClient, openRequest } from "../../../src/serve/modern/client.ts";
import { ModernHost } from "../../../src/serve/modern/modern-host.ts";
import { type OpenRequest, requestEnded } from "../../../src/serve/modern/open-request.ts";
import { ParkedRequests, sealedStates } from "../../../src/serve/modern/parked-requests.ts";
import { onAbort } from "../../../src/servers/abort.ts";

interface Round {
  requestState?: unknown;
  inputResponses?: Record<string, unknown> | undefined;
  signal?: AbortSignal;
  progressToken?: string;
  capabilities?: object;
}

const told: object[] = [];

function context({ requestState, inputResponses, signal, progressToken, capabilities }: Round = {}): ServerContext {
  const envelope = { "io.modelcontextprotocol/clientCapabilities": capabilities ?? { elicitation: {} } };
  return {
    mcpReq: {
      id: 1,
      method: "tools/call",
      envelope,
      _meta: { progressToken },
      inputResponses,
      requestState: () => requestState,
      signal: signal ?? new AbortController().signal,
      notify: async (notification: object) => void told.push(notification),
    },
  } as unknown as ServerContext;
}

const asked = { method: "tools/call", params: { name: "one", arguments: { a: 1 } } };
const question = { method: "elicitation/create", params: { mode: "form", message: "?" } } as never;
const never = new AbortController().signal;
const usual = { answerMs: 60_000, maxRunning: 8, maxOpen: 8, closing: never };

interface Required {
  resultType: string;
  inputRequests: Record<string, object>;
  requestState: string;
}

const required = (of: object) => of as Required;

/** The same answer to all questions. */
const answersTo = (questions: object, answer: unknown = {}) =>
  Object.fromEntries(Object.keys(questions).map((key) => [key, answer]));

describe("a request with a question", () => {
  test("ends with the question, and continues with the answer", async () => {
    const parked = new ParkedRequests(usual);
    const first = required(
      await parked.round(asked, context(), async (open) => ({ got: await open.ask(question, never) })),
    );
    expect(first.resultType).toBe("input_required");
    expect(Object.values(first.inputRequests)).toEqual([question]);
    expect([parked.size, parked.running]).toEqual([1, 0]);
    const [key = ""] = Object.keys(first.inputRequests);
    const last = await parked.round(
      asked,
      context({ requestState: first.requestState, inputResponses: { [key]: "yes" } }),
      () => Promise.reject(new Error("must not begin again")),
    );
    expect(last).toEqual({ got: "yes" });
    expect(parked.size).toBe(0);
  });

  test("is cancelled when the host does not come back in time, and cannot be continued then", async () => {
    const parked = new ParkedRequests({ ...usual, answerMs: 20 });
    const ended = Promise.withResolvers<string>();
    const { requestState } = required(
      await parked.round(asked, context(), async (open) => {
        open.signal.addEventListener("abort", () => ended.resolve("cancelled"));
        return { got: await open.ask(question, open.signal) };
      }),
    );
    expect(await ended.promise).toBe("cancelled");
    expect(parked.size).toBe(0);
    await expect(parked.round(asked, context({ requestState }), async () => ({}))).rejects.toMatchObject({
      code: -32_602,
    });
  });

  test("keeps its result for the host if it ends while it is parked", async () => {
    const parked = new ParkedRequests(usual);
    const withdrawn = new AbortController();
    const { requestState } = required(
      await parked.round(asked, context(), async (open) => ({
        got: await open.ask(question, withdrawn.signal).catch((error: Error) => error.message),
      })),
    );
    withdrawn.abort();
    expect(await parked.round(asked, context({ requestState }), async () => ({}))).toEqual({
      got: "the question was withdrawn",
    });
  });

  test("is cancelled with the round that the host cancels, also the second one", async () => {
    const parked = new ParkedRequests(usual);
    const cancel = new AbortController();
    const { requestState, inputRequests } = required(
      await parked.round(asked, context(), async (open) => {
        await open.ask(question, never);
        await new Promise<void>((resolve) => onAbort(open.signal, resolve));
        throw new Error("cancelled");
      }),
    );
    const inputResponses = answersTo(inputRequests);
    const second = parked.round(
      asked,
      context({ requestState, inputResponses, signal: cancel.signal }),
      async () => ({}),
    );
    cancel.abort();
    await expect(second).rejects.toThrow("cancelled");
    expect(parked.size).toBe(0);
  });

  test("sends notifications during a round, and drops them between rounds", async () => {
    told.length = 0;
    const parked = new ParkedRequests(usual);
    const between = Promise.withResolvers<void>();
    const note = (method: string) => ({ method }) as never;
    const { requestState, inputRequests } = required(
      await parked.round(asked, context({ progressToken: "p" }), async (open) => {
        open.notify(note(`first ${open.progressToken}`));
        const answer = open.ask(question, never);
        await between.promise;
        open.notify(note("between"));
        await answer;
        open.notify(note(`second ${open.progressToken}`));
        return {};
      }),
    );
    between.resolve();
    await Bun.sleep(0);
    await parked.round(
      asked,
      context({ requestState, progressToken: "q", inputResponses: answersTo(inputRequests) }),
      async () => ({}),
    );
    expect(told).toEqual([note("first p"), note("second q")]);
  });

  test("sends progress with the token of its round", async () => {
    told.length = 0;
    const parked = new ParkedRequests(usual);
    const client = {
      parked,
      connections: () => ({ app: {}, host: new ModernHost({}, never) }),
    } as unknown as ModernClient;
    const { requestState, inputRequests } = required(
      await parked.round(asked, context({ progressToken: "p" }), async (open) => {
        const { sendProgress } = openRequest(client, open, undefined);
        sendProgress?.({ progress: 1 });
        await open.ask(question, never);
        sendProgress?.({ progress: 2 });
        return {};
      }),
    );
    await parked.round(
      asked,
      context({ requestState, progressToken: "q", inputResponses: answersTo(inputRequests) }),
      async () => ({}),
    );
    const sent = (progressToken: string, progress: number) => ({
      method: "notifications/progress",
      params: { progressToken, progress },
    });
    expect(told).toEqual([sent("p", 1), sent("q", 2)]);
  });
});

test("at the maximum, the request that has been parked longest makes room; if none is parked, a new one is refused", async () => {
  const parked = new ParkedRequests({ ...usual, maxOpen: 1 });
  const ask = async (open: OpenRequest) => ({ got: await open.ask(question, open.signal) });
  const { requestState } = required(await parked.round(asked, context(), ask));
  const running = Promise.withResolvers<object>();
  const second = parked.round(asked, context(), () => running.promise);
  await Bun.sleep(0);
  await expect(parked.round(asked, context({ requestState }), ask)).rejects.toThrow("has ended");
  await expect(parked.round(asked, context(), ask)).rejects.toThrow("Too many requests");
  running.resolve({ done: true });
  expect(await second).toEqual({ done: true });
});

test("no more requests run than allowed; parked ones do not count", async () => {
  const parked = new ParkedRequests({ ...usual, maxRunning: 1 });
  const order: string[] = [];
  const first = parked.round(asked, context(), async (open) => ({ got: await open.ask(question, never) }));
  const second = parked.round(asked, context(), async () => {
    order.push("second");
    return {};
  });
  order.push("before");
  await first;
  order.push("parked");
  await second;
  expect(order).toEqual(["before", "parked", "second"]);
});

describe("the state of a request", () => {
  const begun = async (parked: ParkedRequests) => {
    const work = async (open: OpenRequest) => ({ got: await open.ask(question, never) });
    return required(await parked.round(asked, context(), work));
  };

  test("shows nothing: neither the request, nor its replica, nor what its execution is claimed with", async () => {
    const key = crypto.getRandomValues(new Uint8Array(32));
    const states = { replica: "replica-one", states: sealedStates(key, 60_000) };
    const { requestState } = await begun(new ParkedRequests({ ...usual, states }));
    const parts = requestState
      .split(".")
      .flatMap((part) => [
        part,
        Buffer.from(part, "base64url").toString("latin1"),
        Buffer.from(part, "base64").toString("utf8"),
      ]);
    for (const part of [requestState, ...parts]) expect(part).not.toMatch(/replica|round|"id"|endsAt|secret/);
    // Another replica of the team can read it.
    expect(sealedStates(key, 60_000).open(requestState)).toMatchObject({ replica: "replica-one" });
    expect(sealedStates(crypto.getRandomValues(new Uint8Array(32)), 60_000).open(requestState)).toBeUndefined();
  });

  test("cannot be changed, made up or taken from another process", async () => {
    const parked = new ParkedRequests(usual);
    const first = await begun(parked);
    const { requestState: state } = first;
    const [id, nonce, body = ""] = state.split(".");
    const { requestState: other } = await begun(new ParkedRequests(usual));
    const [otherId, otherNonce, otherBody] = (await begun(parked)).requestState.split(".");
    const readable = Buffer.from(JSON.stringify({ value: { id: "1", round: "1" }, endsAt: 9e15 })).toString(
      "base64url",
    );
    for (const requestState of [
      ...["", ".", "null", other, readable, `v1.${readable}.`, `${id}.${nonce}.${readable}`],
      ...[`${id}.${nonce}.${body.slice(4)}`, `${id}.${nonce}.`, `${id}..${body}`, `${id}.${otherNonce}.${body}`],
      ...[
        `${id}.${nonce}.${otherBody}`,
        `${otherId}x.${nonce}.${body}`,
        `${state}x`,
        "A".repeat(1_000_000),
        state.repeat(50),
      ],
    ]) {
      const answer = context({ requestState, inputResponses: answersTo(first.inputRequests) });
      await expect(parked.round(asked, answer, async () => ({ started: "again" }))).rejects.toThrow(
        "This requestState cannot be used: it is not from this process, or it has expired",
      );
    }
    const answer = context({ requestState: state, inputResponses: answersTo(first.inputRequests, { a: 1 }) });
    expect(await parked.round(asked, answer, async () => ({}))).toMatchObject({ got: { a: 1 } });
  });
});

describe("an answer", () => {
  test("does not reach a question that was asked after the round", async () => {
    const parked = new ParkedRequests(usual);
    const withdrawn = new AbortController();
    const answers: unknown[] = [];
    const work = async (open: OpenRequest) => {
      await open.ask(question, withdrawn.signal, "elicitation-1").catch(() => {});
      answers.push(await open.ask(question, never));
      return { answers };
    };
    const first = required(await parked.round(asked, context(), work));
    expect(Object.keys(first.inputRequests)).toEqual(["elicitation-1"]);
    withdrawn.abort();
    await Bun.sleep(0);
    const inputResponses = { "elicitation-1": "yes", ...answersTo(first.inputRequests, "yes") };
    const second = required(
      await parked.round(asked, context({ requestState: first.requestState, inputResponses }), work),
    );
    expect(answers).toEqual([]);
    expect(Object.keys(second.inputRequests)).toHaveLength(1);
    // Nor does the answer that is sent again with the second state.
    const third = required(
      await parked.round(asked, context({ requestState: second.requestState, inputResponses }), work),
    );
    expect(Object.keys(third.inputRequests)).toEqual(Object.keys(second.inputRequests));
    const { requestState } = third;
    const last = answersTo(third.inputRequests, "no");
    expect(await parked.round(asked, context({ requestState, inputResponses: last }), work)).toEqual({
      answers: ["no"],
    });
  });

  test("reaches no question that the host has not been shown, although it has the key", async () => {
    const parked = new ParkedRequests(usual);
    const later = Promise.withResolvers<void>();
    const answers: unknown[] = [];
    const work = async (open: OpenRequest) => {
      const first = open.ask(question, never, "first");
      await later.promise;
      const second = open.ask(question, never, "second");
      answers.push(await first);
      answers.push(await second);
      return { answers };
    };
    const { requestState } = required(await parked.round(asked, context(), work));
    later.resolve();
    await Bun.sleep(0);
    const inputResponses = { first: "one", second: "unseen" };
    const next = required(await parked.round(asked, context({ requestState, inputResponses }), work));
    expect(answers).toEqual(["one"]);
    expect(Object.keys(next.inputRequests)).toEqual(["second"]);
  });

  test("reaches only questions of a task that its host has read", async () => {
    const work = async (open: OpenRequest) => ({ got: await open.ask(question, never, "who") });
    const open = new ParkedRequests(usual).begin(asked, context(), work);
    open.becomeTask(() => {});
    open.answer({ who: "unseen" });
    expect(open.questions).toBe(1);
    expect(Object.keys(open.show())).toEqual(["who"]);
    open.answer({ who: "seen" });
    expect(await open.work).toEqual({ got: "seen" });
  });

  test("finds no other question under a name that was used before", async () => {
    const keys: string[] = [];
    const work = async (open: OpenRequest) => {
      for (let round = 0; round < 3; round++) {
        const answer = open.ask(question, never, "who");
        keys.push(...Object.keys(open.show()));
        open.answer({ [keys.at(-1)!]: round });
        await answer;
      }
      return {};
    };
    await new ParkedRequests(usual).begin(asked, context(), work).work;
    expect(keys[0]).toBe("who");
    expect(new Set(keys).size).toBe(3);
  });
});

describe("a question of a server", () => {
  const form = { mode: "form", message: "?", requestedSchema: { type: "object", properties: {} } } as never;

  test("goes to another open request if its request ends first", async () => {
    const parked = new ParkedRequests(usual);
    const host = new ModernHost({ elicitation: {} }, never);
    const [one, two] = [Promise.withResolvers<object>(), Promise.withResolvers<object>()];
    const during = (until: Promise<object>) => async (open: OpenRequest) => {
      using _ = host.begin(open);
      return await until;
    };
    const first = parked.round(asked, context(), during(one.promise));
    const second = parked.round(asked, context(), during(two.promise));
    await Bun.sleep(0);
    const answer = host.elicit(form, { server: "s", signal: never });
    two.resolve({ two: true });
    expect(await second).toEqual({ two: true });
    const { requestState, inputRequests } = required(await first);
    const [key = ""] = Object.keys(inputRequests);
    const last = parked.round(asked, context({ requestState, inputResponses: { [key]: "late" } }), async () => ({}));
    expect(await answer).toBe("late" as never);
    one.resolve({ one: true });
    expect(await last).toEqual({ one: true });
  });

  test("is for the request that the server works for, not for a later one", async () => {
    const parked = new ParkedRequests(usual);
    const host = new ModernHost({ elicitation: {} }, never);
    const opened: OpenRequest[] = [];
    const waiting = async (open: OpenRequest) => {
      using _ = host.begin(open);
      opened.push(open);
      return await new Promise<object>((resolve) => onAbort(open.signal, () => resolve({})));
    };
    const first = parked.round(asked, context(), waiting);
    void parked.round(asked, context(), waiting);
    await Bun.sleep(0);
    const origins = opened.slice(0, 1).map(({ signal }) => signal);
    void host.elicit(form, { server: "s", signal: never, origins }).catch(() => {});
    expect(await first).toMatchObject({ resultType: "input_required" });
    expect(parked.running).toBe(1);
  });

  test("waits for the next request, if the program's own was answered meanwhile", async () => {
    const parked = new ParkedRequests(usual);
    const host = new ModernHost({ elicitation: {} }, never);
    const own = new AbortController().signal;
    const answer = host.elicit(form, { server: "s", signal: never, origins: [own] });
    await Bun.sleep(20);
    const waiting = async (open: OpenRequest) => {
      using _ = host.begin(open);
      return { content: await answer };
    };
    const { requestState, inputRequests } = required(await parked.round(asked, context(), waiting));
    const [key = ""] = Object.keys(inputRequests);
    const again = context({ requestState, inputResponses: { [key]: "yes" } });
    expect(await parked.round(asked, again, waiting)).toEqual({ content: "yes" });
  });

  test("ends with its call, if no request comes", async () => {
    const host = new ModernHost({ elicitation: {} }, never);
    const over = new AbortController();
    const answer = host.elicit(form, { server: "s", signal: over.signal, origins: [over.signal] });
    over.abort();
    await expect(answer).rejects.toThrow("was cancelled");
  });

  test("has the name that its server chose only in a request that is for this server alone", async () => {
    const parked = new ParkedRequests(usual);
    const host = new ModernHost({ elicitation: {} }, never);
    const keyFor = async (isFor?: string) => {
      const { inputRequests } = required(
        await parked.round(asked, context(), async (open) => {
          using _ = host.begin(open, isFor);
          return await host.elicit(form, { server: "s", signal: open.signal, name: "who" });
        }),
      );
      return Object.keys(inputRequests)[0];
    };
    expect(await keyFor("s")).toBe("who");
    expect(await keyFor()).toStartWith("claudikins.");
  });

  test("is refused if no open request is of a host that supports it", async () => {
    const parked = new ParkedRequests(usual);
    const host = new ModernHost({ elicitation: {} }, never);
    const asking = (capabilities: object) =>
      parked.round(asked, context({ capabilities }), async (open) => {
        using _ = host.begin(open);
        return await host
          .elicit(form, { server: "s", signal: never })
          .catch((error: Error) => ({ text: error.message }));
      });
    const refused = { text: "the host has no open request that could ask elicitation/create" };
    expect(await asking({})).toEqual(refused);
    expect(await asking({ elicitation: { url: {} } })).toEqual(refused);
    expect(await asking({ elicitation: { form: {} } })).toMatchObject({ resultType: "input_required" });
  });
});

test("a question after the end of its request is not asked", async () => {
  const parked = new ParkedRequests(usual);
  let request: OpenRequest | undefined;
  await parked.round(asked, context(), async (open) => {
    request = open;
    return {};
  });
  expect(await request?.ask(question, never)).toBe(requestEnded);
});
