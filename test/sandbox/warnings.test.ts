/** Warnings about programs that succeed but are certainly wrong; correct programs get none. */
import { afterAll, describe, expect, test } from "bun:test";
import type { BindingCall, Bindings, CheckMode } from "../../src/sandbox/contract.ts";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import { someLimits } from "./some-limits.ts";

const sandbox = new Sandbox();
afterAll(() => sandbox[Symbol.dispose]());

const entries = [
  { id: "a", kind: "open", size_kb: 9, at: "2025-01-01" },
  { id: "b", kind: "closed", size_kb: 10, at: "2025-01-02" },
];
const values: Record<string, unknown> = {
  list: { entries },
  declared: { entries },
  nested: { id: "a", meta: {} },
  cursor: { next_cursor: "b" },
  done: { ok: true },
  both: { id: "a", meta: { note: "x" } },
  wrapped: { result: { entries, count: 2 } },
};
const signatures: Record<string, string> = {
  list: "log.list(args?: { kind?: string }): Promise<unknown>",
  declared: "log.declared(): Promise<{ entries: { id: string; size_kb: number; note?: string; sizeKb?: number }[] }>",
  both: "log.both(): Promise<{ id: string; note?: string; meta: { note: string } }>",
  nested: 'log.nested(): Promise<{ id: string; meta: { "next-page"?: string; note?: string } }>',
};
const bindings: Bindings = {
  namespaces: [
    {
      name: "log",
      jsName: "log",
      functions: ["list", "declared", "nested", "cursor", "done", "both", "wrapped", "fails", "refuses"].map(
        (name) => ({
          name,
          jsName: name,
          inputSchema: { type: "object", properties: { kind: { type: "string", enum: ["open", "closed", "stale"] } } },
          signature: signatures[name] ?? `log.${name}(): Promise<unknown>`,
        }),
      ),
    },
  ],
  call: async ({ name }: BindingCall) => {
    if (name === "fails") throw Object.assign(new Error("the disk is full"), { code: "TOOL_FAILED" });
    if (name === "refuses") {
      const wrong = { code: "INVALID_ARGUMENTS", hint: "log.refuses(args: { id: string })" };
      throw Object.assign(new Error('the argument "id" is missing'), wrong);
    }
    return { json: JSON.stringify(values[name]) };
  },
};

async function warningsOf(source: string, check: CheckMode = "error"): Promise<string[]> {
  const outcome = await sandbox.run(source, {
    bindings,
    limits: someLimits({ timeoutMs: 50_000 }),
    mounts: { workspace: "/nowhere", registry: "/nowhere" },
    check,
  });
  expect(outcome.ok ? "ran" : outcome.error.message).toBe("ran");
  return outcome.logs.filter(({ level }) => level === "warn").map(({ text }) => text);
}

const read = "const { entries } = await log.list({});\n";
const readDeclared = "const { entries } = await log.declared({});\n";

describe("a program that is certainly wrong gets a warning", () => {
  test.each<[string, string, string]>([
    [
      "several guessed keys for the only list",
      "const r = await log.list({});\nreturn { n: (r.items || r.data || []).length }",
      'line 2: r has no "items": log.list returns { entries }.',
    ],
    [
      "several guessed envelopes",
      "const r = await log.list({});\nreturn r.data?.entries ?? r.result?.entries ?? []",
      'line 2: r has no "data": log.list returns { entries }.',
    ],
    [
      "a missing property as the value of a key",
      `${read}return entries.map((e) => ({ name: e.file_name, id: e.id }))`,
      'e has no "file_name", only { id, kind, size_kb, at }.',
    ],
    [
      "a destructured name in another spelling",
      "const { entries } = await log.list({});\nconst { nextCursor } = await log.cursor({});\nreturn [entries.length, !nextCursor]",
      'has no "nextCursor": log.cursor returns { next_cursor }. Did you mean next_cursor?',
    ],
    [
      "a property in another spelling",
      `${read}return entries.toSorted((a, b) => b.sizeKb - a.sizeKb).map((e) => e.id)`,
      'has no "sizeKb", only { id, kind, size_kb, at }. Did you mean size_kb?',
    ],
    [
      "NaN from a property that nothing has",
      `${read}let sum = 0;\nfor (const e of entries) sum += e.bytes;\nreturn { sum }`,
      'line 3: e has no "bytes", only { id, kind, size_kb, at }.',
    ],
    [
      "undefined in a text",
      `${read}console.log(\`\${entries[0].title}: open\`);`,
      'line 2: entries[0] has no "title", only { id, kind, size_kb, at }.',
    ],
    [
      "the length of an object that holds the list",
      "const found = await log.list({});\nlet n = 0;\nfor (let i = 0; i < found.length; i++) n++;\nreturn n",
      "line 3: found is { entries }, not a list, and has no length. Write found.entries.length.",
    ],
    [
      "a missing envelope",
      "const found = await log.list({});\nreturn found.data?.entries ?? []",
      'line 2: found has no "data": log.list returns { entries }.',
    ],
    [
      "a returned value that is one level below",
      "const u = await log.wrapped({});\nreturn u.entries",
      'line 2: u has no "entries": log.wrapped returns { result }. It is one level below: u.result.entries.',
    ],
    [
      "a field of a returned object that is one level below",
      "const u = await log.wrapped({});\nreturn { first: 1, entries: u.entries }",
      'line 2: u has no "entries": log.wrapped returns { result }. It is one level below: u.result.entries.',
    ],
    [
      "a destructured value that is one level below",
      "const { entries } = await log.wrapped({});\nreturn { entries }",
      'has no "entries": log.wrapped returns { result }. It is one level below: result.entries.',
    ],
    [
      "a value with a replacement that is one level below",
      "const u = await log.wrapped({});\nreturn (u.entries ?? []).length",
      'line 2: u has no "entries": log.wrapped returns { result }. It is one level below: u.result.entries.',
    ],
    [
      "a comparison with another spelling of a value",
      `${read}return entries.filter((e) => e.kind === "OPEN").map((e) => e.id)`,
      'line 2: e.kind is never "OPEN": it can be "open", "closed", "stale". Did you mean "open"?',
    ],
    [
      "numbers that are sorted as text",
      `${read}return entries.map((e) => e.size_kb).toReversed().sort()`,
      "line 2: sort() compares numbers as text, so 10 comes before 9: write sort((a, b) => a - b).",
    ],
    [
      "the keys of a list in the place of its elements",
      `${read}const ids = [];\nfor (const e in entries) ids.push(e.id);\nreturn ids`,
      "line 3: for…in over an array yields its indexes",
    ],
    [
      "the keys of a list, taken apart like its elements",
      `${read}const ids = [];\nfor (const e in entries) { const { id } = e; ids.push(id); }\nreturn ids`,
      "line 3: for…in over an array yields its indexes",
    ],
    [
      "arguments that a tool refused, with the failure caught",
      "const all = [];\ntry { all.push(await log.refuses({})); } catch {}\nreturn all",
      'log.refuses was called wrongly: the argument "id" is missing. log.refuses(args: { id: string })',
    ],
    [
      "a function that nothing calls",
      "async function count() {\n  return (await log.list({})).entries.length;\n}",
      "nothing ran: count is declared on line 1 but never called. End with: return await count();",
    ],
    [
      "a function in place of its value",
      "const count = async () => (await log.list({})).entries.length;\ncount",
      "the value is a function that was not called: add () after its name.",
    ],
  ])("%s", async (_, source, expected) => {
    const warnings = await warningsOf(source);
    expect(warnings.join("\n")).toContain(expected);
    expect(warnings).toHaveLength(1);
  });
});

const switched = `${read}let open = 0;
for (const e of entries) switch (e.kind) {
  case "OPEN": case "open": open++; break;
}
return open - open`;

describe("a program that may be right gets no warning", () => {
  const programs: [string, string][] = [
    ["a declared optional property", `${readDeclared}return entries.map((e) => ({ id: e.id, note: e.note }))`],
    ["a declared optional property in a text", `${readDeclared}console.log(\`note: \${entries[0].note}\`)`],
    ["a declared optional property as a key", `${readDeclared}return Object.groupBy(entries, (e) => e.note)`],
    ["a declared optional property in a sum", `${readDeclared}return entries.reduce((n, e) => n + e.sizeKb, 0)`],
    ["a declared optional property of a part", "const { meta } = await log.nested({});\nreturn { note: meta.note }"],
    ["a declared optional property that a part has too", "const u = await log.both({});\nreturn { note: u.note }"],
    [
      "a part that is tried as well",
      "const u = await log.wrapped({});\nreturn { n: (u.entries ?? u.result.entries).length }",
    ],
    ["a declared optional property in quotes", `return \`\${(await log.nested({})).meta["next-page"]}\``],
    ["a property of a tool without a declared type", `${read}return entries.map((e) => ({ id: e.id, note: e.note }))`],
    ["a property that is logged as it is", `${read}for (const e of entries) console.log(e.note, e.error)`],
    [
      "several keys, one of them the result's",
      "const r = await log.list({});\nreturn (r.items ?? r.entries).filter((e) => e.at > '2026')",
    ],
    ["a filter that finds nothing", `${read}return entries.filter((e) => e.at > "2026").length`],
    ["a country that does not occur", `${read}return entries.filter((e) => e.id === "zz").length`],
    ["a value that is skipped in case it occurs", `${read}return entries.filter((e) => e.kind !== "void").length`],
    ["a switch with a case that does not occur", switched],
    ["an average of nothing", `${read}const all = entries.filter((e) => e.size_kb > 99);\nreturn 0 / all.length`],
    [
      "the maximum of nothing",
      `${read}return Math.max(...entries.filter((e) => e.size_kb > 99).map((e) => e.size_kb))`,
    ],
    ["a failure with a fallback", "return await log.fails({}).catch(() => ({ entries: [] }))"],
    ["a probe for what may not exist", "try { await log.fails({}); return true } catch { return false }"],
    ["the name of a type", `${read}return Object.prototype.toString.call(entries[0])`],
    ["an effect and a variable that is not used", "await log.done({});\nconst count = 1;"],
    ["an effect without a result", "const changed = await log.done({});"],
    ["a main that returns nothing", "async function main() { await log.done({}); }\nawait main();"],
    [
      "a map for its effects",
      `${read}const ids = [];\nconst all = entries.map((e) => { ids.push(e.id); });\nreturn ids`,
    ],
    [
      "the keys of a list",
      `${read}const at = [];\nfor (const e in entries) { const key = e; at.push(key.length); }\nreturn at`,
    ],
    ["a sorted list as a key", `${read}return JSON.stringify(entries.map((e) => e.size_kb).sort())`],
    ["a Map that is filled and marked", `${read}const m = new Map();\nm["at"] = 1;\nm.set("a", 1);\nreturn m.size`],
    ["a guarded optional part", "const found = await log.list({});\nreturn found.warnings?.length ?? 0"],
  ];
  test.each(programs)("%s", async (_, source) => {
    expect(await warningsOf(source)).toEqual([]);
  });
});

const found = "const found = await log.list({});\n";

describe("code that a test of the same value kept from running gets no warning", () => {
  test.each<[string, string]>([
    ["Array.isArray", `${found}return { n: Array.isArray(found) ? found.length : 0 }`],
    [
      "Array.isArray and a list in its place",
      `${found}const list = Array.isArray(found) ? found : [];\nreturn list.length`,
    ],
    ["Array.isArray in an if", `${found}let n = 0;\nif (Array.isArray(found)) n = found.length;\nreturn n`],
    ["an early end", `${found}if (!Array.isArray(found)) return 0;\nreturn found.length`],
    ["an early end in braces", `${found}if (!Array.isArray(found)) { return 0; }\nreturn found.length`],
    ["and", `${found}return (Array.isArray(found) && found.length) || 0`],
    ["or", `${found}return !Array.isArray(found) || found.length`],
    ["typeof", `${found}return { n: typeof found === "string" ? found.length : 0 }`],
    ["typeof of a part", `${found}return { n: typeof found.entries === "undefined" ? found.length : 0 }`],
    ["in", `${found}return { n: "entries" in found ? 0 : found.length }`],
    ["hasOwn", `${found}return { n: Object.hasOwn(found, "entries") ? 0 : found.length }`],
    ["instanceof", `${found}return { n: found instanceof Array ? found.length : 0 }`],
    ["a part that is there", `${found}return { n: found.entries ? 0 : found.length }`],
    ["optional chaining", `${found}return { n: found?.entries ? 0 : found.length }`],
    ["a comparison with undefined", `${found}return { n: found.entries === undefined ? found.length : 0 }`],
    ["a catch", `${found}try { return { n: found.entries.length - 2 } } catch { return { n: found.length } }`],
    ["a switch over typeof", `${found}switch (typeof found) { case "string": return found.length; default: return 0 }`],
    ["a function", `const count = (x) => (Array.isArray(x) ? x.length : 0);\n${found}return count(found)`],
    ["a test around a callback", `${found}return Array.isArray(found) ? [1].map(() => found.length) : []`],
    [
      "typeof before a sum",
      `${read}let n = NaN;\nfor (const e of entries) n = typeof e.at === "number" ? e.at * 2 : NaN;\nreturn n`,
    ],
    [
      "typeof before a comparison",
      `${read}return entries.filter((e) => typeof e.kind === "number" && e.kind === "OPEN").length`,
    ],
  ])("%s", async (_, source) => {
    expect(await warningsOf(source)).toEqual([]);
  });

  test.each<[string, string]>([
    ["a test that lets it run", `${found}return { n: Array.isArray(found) ? 0 : found.length }`],
    ["an end that was not taken", `${found}if (Array.isArray(found)) return 0;\nreturn { n: found.length }`],
    ["a test of another value", `${found}const other = [];\nreturn { n: Array.isArray(other) ? found.length : 0 }`],
    ["optional chaining of the value itself", `${found}return { n: found?.length }`],
  ])("%s does not hide a warning", async (_, source) => {
    expect(await warningsOf(source)).toEqual([expect.stringContaining("found is { entries }, not a list")]);
  });
});

describe("a program that calls no tool gets no warning", () => {
  test.each([
    "[10, 9, 1].sort()",
    "for (const i in [1, 2]) { if (i.foo) throw new Error(i) }",
    "const m = new Map();\nm['a' + 1] = 1;\nm",
    "NaN",
    "[Infinity, undefined, NaN]",
    "var called = 0;\nvar list = [11].map(function () { called++; });\nlist",
    "const o = {};\no.self = o;\no",
    "function f() {}\nf",
    "var f = function () { return 1 }",
    "`${{}} ${[undefined]}`",
    "const counts = {};\ncounts.a += 1;\ncounts",
    "async function unused() { await null }",
    "assert(true);\nfunction assert(ok) { if (!ok) throw new Error() }",
    "var result = [].concat([1]);",
  ])("%s", async (source) => {
    expect(await warningsOf(source)).toEqual([]);
  });
});
