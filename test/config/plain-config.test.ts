/** The fast reader returns the same config as the full parser, or leaves the file to it. */
import { describe, expect, test } from "bun:test";
import { parseConfig } from "../../src/config/parse.ts";
import { readPlainConfig } from "../../src/config/plain-config.ts";

const values = [
  undefined,
  "x",
  "",
  "stdio",
  "local",
  "http",
  "sse",
  "ws",
  "http://h/mcp",
  "ws://h/",
  "ftp://h/",
  "${URL}",
  true,
  1,
  null,
  [],
  ["a", "b"],
  ["a", 1],
  {},
  { A: "b" },
  { A: 1 },
  { "A b": "c" },
  { A: "b\nc" },
  "destructive",
  { "a.*": "never" },
];
const policyKeys = ["allow", "deny", "confirm"];
const entryKeys = [
  "type",
  "command",
  "args",
  "env",
  "cwd",
  "description",
  "disabled",
  "url",
  "headers",
  "nobody-knows",
];
const keys = [...entryKeys, ...policyKeys];

const thorough = (text: string) => {
  try {
    return parseConfig(text, "c.json");
  } catch {
    return undefined;
  }
};

test("both readers agree on entries of every shape", () => {
  let plain = 0;
  for (const base of [{}, { command: "c" }, { url: "https://h/" }]) {
    for (const [key, other] of keys.flatMap((key) => keys.map((other) => [key, other] as const))) {
      for (const value of values) {
        for (const second of ["x", { A: "b" }, ["a"], "http", true]) {
          const text = JSON.stringify({ mcpServers: { s: { ...base, [key]: value, [other]: second } } });
          const found = readPlainConfig(text);
          if (found === undefined) continue;
          plain += 1;
          expect([text, found]).toEqual([text, thorough(text)!]);
        }
      }
    }
  }
  expect(plain).toBeGreaterThan(500);
});

test("both readers agree on policies of every shape", () => {
  let plain = 0;
  for (const key of [...policyKeys, "nobody-knows"]) {
    for (const value of [...values, ["a.*"], ["b.x"], ["*.x"], { "b.x": "always" }]) {
      const text = JSON.stringify({ mcpServers: { a: { command: "c" } }, policy: { [key]: value, deny: [] } });
      const found = readPlainConfig(text);
      if (found === undefined) continue;
      plain += 1;
      expect([text, found]).toEqual([text, thorough(text)!]);
    }
  }
  expect(plain).toBeGreaterThan(10);
  for (const policy of values) {
    const text = JSON.stringify({ mcpServers: {}, policy });
    expect([text, readPlainConfig(text)]).toEqual([text, thorough(text) && readPlainConfig(text)]);
  }
});

test("both readers agree on registries of every shape", () => {
  const url = "https://registry.example.com/v0.1";
  const lists = [
    ...[[], ["official", url], [{ url: "official" }], [{ url, headers: { "X-Key": "${KEY}" }, timeoutMs: 500 }]],
    ...[[{}], [""], [null], [1], [["official"]], ["http://example.com"], [{ url, timeoutMs: 0 }], [{ url, other: 1 }]],
    ...[[{ url, timeoutMs: 60_001 }], [{ url, headers: { "a b": "c" } }], Array(21).fill("official")],
    ...[null, {}, "official"],
  ];
  const plain = lists.filter((registries) => {
    const text = JSON.stringify({ mcpServers: {}, registries });
    const found = readPlainConfig(text);
    expect([text, found]).toEqual([text, found && thorough(text)]);
    return found !== undefined;
  });
  expect(plain).toEqual(lists.slice(0, 4));
});

describe("the fast reader reads", () => {
  test.each([
    ["no server", "{}"],
    ["a program", { a: { command: "npx", args: ["-y", "x"], env: { A: "${A}" } } }],
    ["an address", { a: { type: "http", url: "https://h/", headers: { Authorization: "Bearer ${T}" } } }],
    [
      "several, in their order",
      { z: { command: "c" }, a: { url: "wss://h/" }, "ö ö": { command: "d", disabled: true } },
    ],
  ])("%s", (_, servers) => {
    const text = JSON.stringify({ $schema: "s", mcpServers: servers === "{}" ? {} : servers }, null, 2);
    expect(readPlainConfig(text)).toEqual(thorough(text)!);
    expect([...readPlainConfig(text)!.servers.keys()]).toEqual([...thorough(text)!.servers.keys()]);
  });
});

describe("the fast reader leaves to the full parser", () => {
  test.each([
    ["comments", '{ "mcpServers": {} /* none */ }'],
    ["a key that stands twice", '{ "mcpServers": { "a": { "command": "x", "command": "y" } } }'],
    ["a server that stands twice", '{ "mcpServers": { "a": { "command": "x" }, "a": { "command": "x" } } }'],
    ["a server called __proto__", '{ "mcpServers": { "__proto__": { "command": "x" } } }'],
    ["a server without a name", '{ "mcpServers": { "": { "command": "x" } } }'],
    ["limits", '{ "mcpServers": {}, "limits": {} }'],
    ["a sign-in", '{ "mcpServers": { "a": { "url": "https://h/", "oauth": false } } }'],
    ["a byte order mark", '\uFEFF{ "mcpServers": {} }'],
    ["nothing", ""],
    ["a list instead of an object", "[]"],
    ["no servers", "{}"],
    ["invalid servers", '{ "mcpServers": [] }'],
  ])("%s", (_, text) => expect(readPlainConfig(text)).toBeUndefined());
});
