/** The forms in which agents write programs: imports, exports, `main`, fences, and which part is the value. */
import { afterAll, expect, test } from "bun:test";
import { dirname } from "node:path";
import { Harness } from "./harness.ts";

const harness = new Harness();
afterAll(() => harness[Symbol.dispose]());

const values: [string, string, unknown][] = [
  ["a named import of a server", "import { echo } from './servers/test';\nreturn echo({ a: 1 })", { a: 1 }],
  ["a renamed import", 'import { echo as call } from "./servers/test.ts";\nawait call({ a: 1 })', { a: 1 }],
  ["a namespace import", "import * as t from './servers/test/index.ts';\nt.echo({ a: 2 })", { a: 2 }],
  ["a default import", "import t from '@/servers/test';\nt.echo({ a: 2 })", { a: 2 }],
  ["all servers", "import { test } from './servers';\nreturn test.echo({ a: 3 })", { a: 3 }],
  ["one tool's file", "import { echo } from './servers/test/echo.ts';\nreturn echo({ a: 3 })", { a: 3 }],
  [
    "an import over several lines",
    "import {\n  echo,\n  text,\n} from './servers/test';\nreturn [await echo({}), await text()]",
    [{}, "plain text"],
  ],
  ["a dynamic import", "const { echo } = await import('./servers/test');\necho({ a: 4 })", { a: 4 }],
  ["require", "const { echo } = require('./servers/test');\nreturn echo({ a: 5 })", { a: 5 }],
  ["import type", "import type { X } from './types';\nconst x: X = 1 as any;\nx", 1],
  ["export default of a function", "export default async function main() { return 5 }", 5],
  ["export default of an arrow", "export default async () => 6", 6],
  ["an arrow alone", "async () => {\n  return (await test.echo({ a: 1 })).a;\n}", 1],
  ["an arrow alone, with a semicolon and comments", "// List.\n async () => test.echo({ a: 2 }); // done", { a: 2 }],
  ["an arrow alone that is not async", "() => 3", 3],
  ["an arrow in parentheses", "(async () => { return 4 })", 4],
  ["a function in parentheses", "(async function () { return 5 });", 5],
  ["a named function in parentheses", "(async function main() { return 6 })", 6],
  ["a typed arrow", "async (): Promise<number> => {\n  const n: number = 7;\n  return n;\n}", 7],
  ["an arrow alone in a fence", "```ts\nasync () => { return 8 }\n```", 8],
  ["an arrow after an import", 'import { echo } from "./servers/test";\nasync () => echo({ a: 9 })', { a: 9 }],
  ["an arrow that is called stays one call", "let n = 0;\n(async () => ++n)()", 1],
  ["module.exports of a function", "module.exports = async () => 10;", 10],
  ["module.exports of a name", "async function run() { return 11 }\nmodule.exports = run", 11],
  ["module.exports of a value", "module.exports = { a: 12 };", { a: 12 }],
  ["exports.default of a function", "exports.default = async function () { return 13 };", 13],
  [
    "exports.default of compiled TypeScript",
    '"use strict";\nObject.defineProperty(exports, "__esModule", { value: true });\nexports.default = main;\nasync function main() { return 14 }',
    14,
  ],
  ["module.exports.default of a function", "module.exports.default = async () => 15", 15],
  ["module.exports beside a return", "module.exports = () => 16;\nreturn 17", 17],
  [
    "module.exports of a main that is called as well",
    "async function main() { return 18 }\nmodule.exports = main;\nmain();",
    18,
  ],
  ["a function that is returned stays the value", "const f = () => 1;\nreturn typeof f", "function"],
  ["export default of a value", "export default { a: 7 }", { a: 7 }],
  [
    "an export that is called as well is called once",
    "let n = 0;\nexport default function main() { return ++n }\nmain();",
    1,
  ],
  [
    "other exports",
    "export const a = 1, { b } = { b: 2 };\nexport function f() { return a + b }\nexport { f as g };\nf()",
    3,
  ],
  [
    "using: disposed of at the end of its block, the last one first",
    "const seen: string[] = [];\nclass R { constructor(readonly n: string) {} [Symbol.dispose]() { seen.push(this.n) } }\n" +
      "function f() { using a = new R('a'), b = new R('b'); { using c = new R('c'); seen.push('in') } return seen.length }\n" +
      "f();\nseen",
    ["in", "c", "b", "a"],
  ],
  [
    "await using, with a value and a type",
    "const seen: string[] = [];\nawait (async () => { await using r: AsyncDisposable = { async [Symbol.asyncDispose]() { await null; seen.push('end') } }; seen.push('in') })();\nseen",
    ["in", "end"],
  ],
  [
    "using and await using in one block: each is awaited before the next is disposed of",
    "const seen: string[] = [];\nconst wait = (n: string) => ({ async [Symbol.asyncDispose]() { await null; seen.push(n) } });\n" +
      "const now = (n: string) => ({ [Symbol.dispose]() { seen.push(n) } });\n" +
      "{ await using a = wait('a'); using b = now('b'); await using c = wait('c'); seen.push('in') }\nseen",
    ["in", "c", "b", "a"],
  ],
  [
    "using at the top, before a final expression",
    "using nothing = null;\nusing r = { [Symbol.dispose]() {} };\n1 + 1",
    2,
  ],
  [
    "using, and what the block throws",
    "const seen: string[] = [];\ntry { using r = { [Symbol.dispose]() { seen.push('closed') } }; throw new Error('x') } catch (e) { seen.push(e.message) }\nseen",
    ["closed", "x"],
  ],
  [
    "using what cannot be disposed of",
    "try { using r = { a: 1 } as any; } catch (e) { e.message }",
    "The value declared with using has no Symbol.dispose method",
  ],
  ["a variable called using", "const using = 3;\nusing", 3],
  ["main that is called", "async function main() { return 8 }\nmain();", 8],
  ["main that is not called", "async function main() { return 9 }", 9],
  ["an arrow main that is not called", "const main = async () => 10;", 10],
  ["void main()", "async function main() { return 11 }\nvoid main();", 11],
  ["an IIFE at the end", "(async () => {\n  return 12;\n})();", 12],
  ["import.meta.main", "if (import.meta.main) {\n  (async () => 13)();\n}", 13],
  ["a value at the end of a branch", "if (1 > 2) { 'no' } else { 'yes' }", "yes"],
  [
    "a failure in a try at the end is caught there",
    "try { test.fail({}) } catch (error) { error.code }",
    "TOOL_FAILED",
  ],
  [
    "a main that is not called, beside a return that is not reached",
    "function main() { return 5 }\nif (1 > 2) return 1",
    undefined,
  ],
  [
    "a main that is not called, beside a value that is not reached",
    "function main() { return 5 }\nif (1 > 2) 7",
    undefined,
  ],
  ["a fence", "```ts\nconst x: number = 14;\nx\n```", 14],
  ["an empty fence", "```ts\n```", undefined],
  ["a fence with tildes and space", "\n~~~typescript\nreturn 15\n~~~\n", 15],
  [
    "a fence with a sentence before it",
    "Here is the code:\n```ts\nconst x: number = 18;\nreturn x\n```\nIt works.",
    18,
  ],
  [
    "promisify of setTimeout",
    "import { promisify } from 'node:util';\nconst sleep = promisify(setTimeout);\nreturn sleep(1, 'slept')",
    "slept",
  ],
  [
    "a skill that is written and imported",
    "await fs.mkdir('./workspace/skills', { recursive: true });\nawait fs.writeFile('./workspace/skills/twice.ts', 'export const twice = (n: number): number => n * 2;');\nconst { twice } = await import('./skills/twice');\nreturn twice(21)",
    42,
  ],
  ["a default export by its name", "export { f as default };\nfunction f() { return 19 }", 19],
  ["the first line of a script", "#!/usr/bin/env bun\nconst x: number = 20;\nx", 20],
  ["require.main", "async function main() { return 21 }\nif (require.main === module) main();", 21],
  [
    "module.exports beside globals of Node",
    "console.log(__dirname, __filename);\nmodule.exports = { a: 1 };",
    { a: 1 },
  ],
  ["process.exit at the end", "const main = async () => 22;\nmain().then(() => process.exit(0));", undefined],
  [
    "a namespace, beside a variable called namespace in the base of a class",
    "const namespace = { B: class { k = 5 } };\nconst same = (a: any) => a;\nclass A extends same(namespace).B { l = 6 }\nnamespace N { export const m = 7 }\nreturn [new A().k, new A().l, N.m]",
    [5, 6, 7],
  ],
  [
    "a namespace whose lines end without a semicolon",
    "namespace N { export const a = 1, b = 2\nconst c = 3, d = 4\nexport function e() { return [c, d] } }\nreturn [Object.keys(N), N.e()]",
    [
      ["a", "b", "e"],
      [3, 4],
    ],
  ],
  [
    "namespaces: of namespaces, with classes, and of types alone",
    "namespace A.B { export const x = 1, y = 2; const z = 3; export function f<T>(a: T) { return [x, y, z, a] } export namespace C { export enum E { One = 1 } export type T = string } }\nclass K { k = 5 } namespace K { export let l = 6 }\nnamespace Types { export interface I { a: A.B.C.T } }\nreturn [A.B.f(4), A.B.C.E.One, Object.keys(A.B), new K().k, K.l, typeof Types]",
    [[1, 2, 3, 4], 1, ["x", "y", "f", "C"], 5, 6, "object"],
  ],
  ["promises in a list", "[1, 2].map(async (a) => (await test.echo({ a })).a)", [1, 2]],
  [
    "void before the end, and microtasks, are awaited",
    "const seen = [];\nconst add = async (a) => { await test.slow({ ms: 20 }); seen.push(a); };\nvoid add(1);\nvoid (async () => { await add(2) })();\nqueueMicrotask(() => add(3));\nprocess.nextTick(add, 4);\nseen",
    [1, 2, 3, 4],
  ],
  [
    "a timer returns Node's handle",
    "const seen = [];\nconst late = setTimeout(() => seen.push('late'), 60_000).unref();\nconst again = setTimeout(() => seen.push('again'), 10);\nagain.refresh();\nawait new Promise((r) => setTimeout(r, 40));\nconst had = [late.hasRef(), again.hasRef(), Number(late) > 0, typeof late];\nclearTimeout(+late);\n[seen, had, late.hasRef()]",
    [["again"], [true, false, true, "object"], false],
  ],
  ["an early return", "if (true) return 16;\nconsole.log('not reached');\n17", 16],
  ["a label and a block at the end", "a: { break a }", undefined],
];

/** Files of the workspace, and a program that uses them. */
const skills: [string, Record<string, string>, string, unknown][] = [
  [
    "an enum, and a variable that changes",
    { "skills/a.ts": "export enum E { One = 1 }\nexport let n = 0;\nexport const up = () => ++n;\n" },
    "import * as a from './skills/a';\na.up();\n[a.E.One, a.n]",
    [1, 1],
  ],
  [
    "neighbours",
    {
      "skills/b/one.ts":
        "import { two } from './two';\nimport type { T } from './types';\nexport const one = two - 1;\n",
      "skills/b/two.ts": "import { three } from '../c.ts';\nexport const two = three - 1;\n",
      "skills/c.ts": "import { echo } from './servers/test';\nexport const three = (await echo({ n: 3 })).n;\n",
    },
    "import { one } from './skills/b/one';\none",
    1,
  ],
  [
    "a folder with an index, and all of another but its default",
    {
      "skills/d/index.ts": "export * from './e';\nexport { default as e } from './e';\n",
      "skills/d/e.ts": "export const x = 1;\nexport default 2;\n",
    },
    "import * as d from './skills/d';\nimport * as same from './skills/d/index.ts';\n[{ ...d }, d === same]",
    [{ x: 1, e: 2 }, true],
  ],
  [
    "JavaScript, and modules elsewhere in the workspace",
    {
      "skills/f.js": "export const f = () => import.meta.main;\n",
      "lib/g.ts": "export { f } from '../skills/f.js';\n",
    },
    "import { f } from './workspace/lib/g';\nf()",
    false,
  ],
  [
    "data",
    { "skills/h.json": '{ "a": 1 }', "data/list.json": "[2]" },
    "import h, { a } from './skills/h.json' with { type: 'json' };\n[h, a, require('./workspace/data/list.json')]",
    [{ a: 1 }, 1, [2]],
  ],
];

test.each(skills)("a program uses skills: %s", async (_, files, code, expected) => {
  for (const [path, text] of Object.entries(files)) {
    await harness.run(
      `await fs.mkdir(${JSON.stringify(`workspace/${dirname(path)}`)}, { recursive: true });\nawait fs.writeFile(${JSON.stringify(`workspace/${path}`)}, ${JSON.stringify(text)});`,
    );
  }
  const outcome = await harness.run(code);
  expect(outcome.ok ? { value: outcome.value } : outcome.error).toEqual({ value: expected });
});

test.each(values)("a program has the expected value: %s", async (_, code, expected) => {
  const outcome = await harness.run(code);
  expect(outcome.ok ? { value: outcome.value } : outcome.error).toEqual({ value: expected });
});

const failures: [string, string, object][] = [
  [
    "an unknown name of a server",
    "import { ekko } from './servers/test';",
    { code: "TOOL_NOT_FOUND", line: 1, hint: expect.stringContaining("echo, text") },
  ],
  [
    "a missing server",
    "import { x } from './servers/github';",
    { code: "SERVER_NOT_FOUND", hint: expect.stringContaining("my-server") },
  ],
  [
    "a package",
    "\nimport axios from 'axios';",
    { code: "MODULE_NOT_FOUND", line: 2, message: 'There is no module "axios"' },
  ],
  [
    "an error after an import over several lines",
    "import {\n  echo,\n} from './servers/test';\nconst a: any = null;\na.b;",
    { line: 5, source: "a.b;" },
  ],
  ["an error in a fence", "```\n\nnull.x\n```", { line: 3 }],
];

test.each(failures)("a program fails with an explanation: %s", async (_, code, error) => {
  expect(await harness.run(code)).toMatchObject({ ok: false, reason: "threw", error });
});

test("content blocks are a list with additional properties for common mistakes", async () => {
  const blocks = [{ type: "text", text: "a" }, { type: "image", data: "AAAA", mimeType: "image/png" }, null];
  const outcome = await harness.run(
    "const r: any = await test.echo({});\nreturn [r.length, r.content === r, r.content.find((b) => b?.type === 'image').data, r.data, r.mimeType, r.text, Object.keys(r), JSON.stringify(r)]",
    { call: async () => ({ blocks: JSON.stringify(blocks) }) },
  );
  expect(outcome.ok ? outcome.value : outcome.error).toEqual([
    3,
    true,
    "AAAA",
    "AAAA",
    "image/png",
    "a",
    ["0", "1", "2"],
    JSON.stringify(blocks),
  ]);
});
