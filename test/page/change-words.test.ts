/** Changes of the config in the audit log, in words. */
import { expect, test } from "bun:test";
import { changeWords } from "../../src/page/change-words.ts";
import { policyChanges } from "../../src/setup/settings/policy-changes.ts";

const entry = { command: "stripe-mcp" };
const of = (rules: object) => ({ mcpServers: { stripe: { ...entry, ...rules } } });
const words = (before: object, after: object) => changeWords(policyChanges({ ...before }, { ...after }));

test.each<[string, object, object]>([
  ["stripe.refund always asks", of({}), of({ confirm: { refund: "always" } })],
  ["stripe.refund never asks", of({ confirm: { refund: "always" } }), of({ confirm: { refund: "never" } })],
  ["stripe.refund has no rule of its own about asking", of({ confirm: { refund: "always" } }), of({})],
  ["stripe.* asks if destructive", of({}), of({ confirm: "destructive" })],
  ["stripe.pay is denied; stripe.get is no longer denied", of({ deny: ["get"] }), of({ deny: ["pay"] })],
  ["stripe.get is denied", of({}), of({ deny: ["stripe.get"] })],
  ["stripe.get has the labels private", of({}), of({ labels: { get: ["private"] } })],
  ["the server stripe is disabled", of({}), of({ disabled: true })],
  ["the server stripe is enabled", of({ disabled: true }), of({})],
  ["the server stripe was added", { mcpServers: {} }, of({})],
  ["the server stripe was removed", of({}), { mcpServers: {} }],
  ["the server stripe has another entry", of({}), of({ command: "other" })],
  ["*.delete_* is denied", {}, { policy: { deny: ["*.delete_*"] } }],
  ["policy.rules changed", {}, { policy: { rules: ["deny when true"] } }],
])("%s", (said, before, after) => {
  expect(words(before, after)).toBe(said);
});

test("a server with any name, many changes, and values that were shortened", () => {
  const at = 'mcpServers["my \\"server\\""].deny';
  expect(changeWords([{ at, after: '["a"]' }])).toBe('my "server".a is denied');
  expect(changeWords([{ at, after: '["a","b","c","d","e","f"]' }])).toEndWith("; 2 more");
  expect(changeWords([{ at: "mcpServers.x.deny", after: '["a", …' }])).toBe("mcpServers.x.deny changed");
});
