/** Everything that goes to a server is of a kind that the permit decides about, and every place that sends something says why it may. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as core from "@modelcontextprotocol/core";
import { kindOf } from "../../src/policy/outgoing.ts";
import { permitOf } from "../policy/permit-of.ts";
import { root } from "../support/claudikins.ts";

interface Schema {
  options?: Schema[];
  shape?: { method?: { value?: unknown } };
}

/** The methods of a request, or of a union of them. */
function methodsOf(schema: unknown): string[] {
  const { options = [], shape } = schema as Schema;
  const own = shape?.method?.value;
  return [...(typeof own === "string" ? [own] : []), ...options.flatMap(methodsOf)];
}

/** Methods of extensions, which the SDK has no schemas for. */
const ofExtensions = ["skills/list", "skills/get", "tasks/update", "notifications/tasks/status"];

/** All requests of the SDK, which knows both eras: what a client may send, and what a server may ask it. */
const requests = Object.entries(core).filter(([name]) => name.endsWith("RequestSchema"));
const toServers = [
  ...new Set([...requests.map(([, schema]) => schema), core.ClientNotificationSchema].flatMap(methodsOf)),
];

/** The steps that decide about each kind of request, in their order. */
const decisions = {
  call: "denied, held, rules, labels, quota, ask, record",
  inquiry: "denied, rules, labels, quota, ask, record",
  list: "denied, record",
  sampling: "denied, rules, labels, ask",
  answer: "denied, rules, ask",
  service: "",
};

describe("the permit", () => {
  test("knows every method of both eras", () => {
    expect(toServers).toContain("resources/subscribe");
    expect(toServers).toContain("subscriptions/listen");
    expect([...toServers, ...ofExtensions].filter((method) => kindOf(method) === undefined)).toEqual([]);
  });

  test("has these steps for each kind", () => {
    const { steps } = permitOf();
    const found = (kind: string) => steps.filter(({ kinds }) => kinds.some((each) => each === kind));
    expect(
      Object.fromEntries(
        Object.keys(decisions).map((kind) => [
          kind,
          found(kind)
            .map(({ name }) => name)
            .join(", "),
        ]),
      ),
    ).toEqual(decisions);
  });

  test("lets pass unasked only what carries nothing of a session", () => {
    expect(toServers.filter((method) => kindOf(method) === "service").sort()).toEqual([
      "initialize",
      "logging/setLevel",
      "notifications/cancelled",
      "notifications/initialized",
      "notifications/progress",
      "notifications/roots/list_changed",
      "ping",
      "resources/unsubscribe",
      "server/discover",
      "subscriptions/listen",
      "tasks/cancel",
      "tasks/get",
      "tasks/list",
      "tasks/result",
      "tools/list",
    ]);
  });
});

/** The files that send something to a server, and why it may be sent. */
const senders: Record<string, string> = {
  "daemon/shared/server-sockets.ts":
    "messages of another process, which has asked its permit; denials are repeated here",
  "servers/connection/change-stream.ts": "subscriptions of the newer era, which were permitted as resources/subscribe",
  "servers/connection/connect.ts": "ping, the handshake and changed roots",
  "servers/pool.ts": "inquiries with a permission; lists and service requests that are not denied",
  "servers/connection/send-request.ts": "what the others send: every request becomes a message here",
  "servers/connection/server-client.ts": "what request.ts sends, and the requests for tasks of a permitted call",
  "servers/connection/server-connections.ts": "what the pool sends",
  "servers/lists/server-lists.ts": "lists that are not denied",
  "servers/connection/server-news.ts": "the log level",
  "servers/connection/subscriptions.ts": "subscriptions that were permitted, and that are renewed",
  "servers/tool-calls.ts": "calls with a permission",
};

const sending =
  /\bconnections?\)?(?:\(\))?\.(?:use|request)\(|\bclient(?:\(\))?\??\s*\.(?:ask|request|notification|listen|send\w+)\(|\bthis\.(?:request|notification)\(|life\.use\(|server\.receive\(|\bpeer\.client\b/;

test("only these files send something to a server", () => {
  const rooms = ["servers", "daemon", "programs", "serve", "app", "tools", "policy"];
  const found = rooms.flatMap((room) =>
    (readdirSync(join(root, "src", room), { recursive: true }) as string[])
      .filter((name) => name.endsWith(".ts"))
      .map((name) => `${room}/${name.replaceAll("\\", "/")}`)
      .filter((file) => sending.test(readFileSync(join(root, "src", file), "utf8"))),
  );
  expect(found.sort()).toEqual(Object.keys(senders).sort());
});

/** The files that ask a model, and why they may. */
const askers: Record<string, string> = {
  "cli/commands/run.ts": "the task of a person at a terminal",
  "serve/tools/execute-task.ts": "the task of an agent, which writes it itself",
  "task-runner/model-server.ts": "a call of model.ask with a permission",
  "task-runner/openai-model.ts": "the definition",
  "task-runner/sampling-model.ts": "the definition",
};

test("only these files ask a model", () => {
  const all = readdirSync(join(root, "src"), { recursive: true }) as string[];
  const found = all
    .filter((name) => name.endsWith(".ts"))
    .filter((name) => /\b(?:modelOf|samplingModel|openAiModel)\(/.test(readFileSync(join(root, "src", name), "utf8")))
    .map((name) => name.replaceAll("\\", "/"));
  expect(found.sort()).toEqual(Object.keys(askers).sort());
});
