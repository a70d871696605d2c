/** Requests of the protocol pass the permit too: a policy for tools must not be evaded by another method. */
import { expect, test } from "bun:test";
import { type PolicyKeys, policyOf } from "../../src/config/policy.ts";
import { permitOf } from "./permit-of.ts";
import { Recorded } from "./recorded.ts";

function refusal(keys: PolicyKeys, request: { method: string; params?: unknown }): string | undefined {
  const permit = permitOf({ policyOf: (server) => policyOf(server, keys, undefined, new Map([["rec", {}]])) });
  try {
    permit.refuseMessage("rec", request);
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
  [deny, calling({ name: "get-it" })],
  [deny, { method: "ping" }],
  [deny, { method: "tools/list" }],
  [deny, { method: "resources/read" }],
  [deny, { method: "skills/get" }],
  [allow, { method: "initialize" }],
  [allow, calling({ name: "get-it" })],
  [{ deny: ["*"] }, { method: "notifications/cancelled" }],
])("with %j, the request %j is allowed", (keys, request) => {
  expect(refusal(keys, request)).toBeUndefined();
});

test.each<[PolicyKeys, { method: string; params?: unknown }, string]>([
  [deny, calling({ name: "remove-it" }), "rec.remove-it "],
  [allow, calling({ name: "remove-it" }), "rec.remove-it "],
  [deny, calling({ name: ["get-it"] }), "rec: tools/call has no tool name"],
  [{}, calling(), "rec: tools/call has no tool name"],
  [{}, { method: "tools/other" }, '"tools/other" is not an MCP request'],
  [deny, { method: "server/anything" }, '"server/anything" is not an MCP request'],
  [deny, { method: "notifications/anything" }, '"notifications/anything" is not an MCP request'],
  [{ allow: [] }, { method: "resources/read" }, "rec.resources.read is denied in the config by "],
  [{ allow: [] }, { method: "skills/get" }, "rec.skills.get is denied in the config by "],
  [{ deny: ["*"] }, { method: "prompts/get" }, "rec.prompts.get is denied in the config by "],
  [{ deny: ["*"] }, { method: "completion/complete" }, "rec.completion.complete is denied in the config by "],
])("with %j, the request %j is denied", (keys, request, message) => {
  expect(refusal(keys, request)).toStartWith(message);
});

test("the pool sends no denied request", async () => {
  await using recorded = new Recorded();
  const { pool } = await recorded.open({ deny: ["*"] });
  const refused = pool.request("rec", { method: "resources/read", params: { uri: "a:b" } });
  expect(await refused.catch((error) => [error.code, error.message])).toEqual([
    "POLICY_DENIED",
    expect.stringMatching(/^rec\.resources\.read is denied in the config by /),
  ]);
});

test("the pool sends no request that MCP does not define, also if the server has no policy", async () => {
  await using recorded = new Recorded();
  const { pool } = await recorded.open({});
  const refused = pool.request("rec", { method: "vendor/anything", params: {} });
  expect(await refused.catch((error) => [error.code, error.message])).toEqual([
    "POLICY_DENIED",
    '"vendor/anything" is not an MCP request',
  ]);
});
