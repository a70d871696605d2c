/** Requests of the protocol pass the gate too: a policy for tools must not be evaded by another method. */
import { expect, test } from "bun:test";
import { type PolicyKeys, policyOf } from "../../src/config/policy.ts";
import { noAgent } from "../../src/policy/flow/caller.ts";
import { SessionReads } from "../../src/policy/flow/session-reads.ts";
import { Gate } from "../../src/policy/gate.ts";
import { Recorded } from "./recorded.ts";

function refusal(keys: PolicyKeys, request: { method: string; params?: unknown }): string | undefined {
  const gate = new Gate({
    exists: () => true,
    policyOf: (server) => policyOf(server, keys, undefined, new Map([["rec", {}]])),
    asker: () => undefined,
    labels: { load: () => undefined, of: () => new Set() },
    argumentNames: () => undefined,
    place: { door: "", person: "" },
    caller: () => ({ reads: new SessionReads(), agent: noAgent }),
    definition: () => Promise.reject(new Error("not asked for")),
  });
  try {
    gate.refuseRequest("rec", request);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const deny = { deny: ["remove-*"] };
const allow = { allow: ["get-*"] };
const calling = (params?: unknown) => ({ method: "tools/call", params });

test.each<[PolicyKeys, { method: string; params?: unknown }]>([
  [{}, calling({ name: "remove-it" })],
  [{}, { method: "server/anything" }],
  [deny, calling({ name: "get-it" })],
  [deny, { method: "ping" }],
  [deny, { method: "tools/list" }],
  [deny, { method: "resources/read" }],
  [deny, { method: "skills/get" }],
  [allow, { method: "initialize" }],
  [allow, calling({ name: "get-it" })],
])("with %j, the request %j is allowed", (keys, request) => {
  expect(refusal(keys, request)).toBeUndefined();
});

test.each<[PolicyKeys, { method: string; params?: unknown }, string]>([
  [deny, calling({ name: "remove-it" }), "rec.remove-it "],
  [allow, calling({ name: "remove-it" }), "rec.remove-it "],
  [deny, calling({ name: ["get-it"] }), "rec: tools/call has no tool name"],
  [deny, calling(), "rec: tools/call has no tool name"],
  [deny, { method: "tools/other" }, '"tools/other" is not an MCP request, and the policy of rec allows no others'],
  [deny, { method: "server/anything" }, '"server/anything" is not an MCP request'],
  [{ allow: [] }, { method: "resources/read" }, "The resources of rec are denied in the config by "],
  [{ allow: [] }, { method: "skills/get" }, "The skills of rec are denied in the config by "],
  [{ deny: ["*"] }, { method: "prompts/get" }, "The prompts of rec are denied in the config by "],
])("with %j, the request %j is denied", (keys, request, message) => {
  expect(refusal(keys, request)).toStartWith(message);
});

test("the pool sends no denied request", async () => {
  await using recorded = new Recorded();
  const { pool } = await recorded.open({ deny: ["*"] });
  const refused = pool.request("rec", { method: "resources/read", params: { uri: "a:b" } });
  expect(await refused.catch((error) => [error.code, error.message])).toEqual([
    "POLICY_DENIED",
    expect.stringMatching(/^The resources of rec are denied in the config by /),
  ]);
});
