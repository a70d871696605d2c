/** Texts that people and models read are plain English: none has a turn of phrase from the list in patterns.ts. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type {
  ArrayExpression,
  CallExpression,
  Identifier,
  Literal,
  MemberExpression,
  Node,
  TemplateLiteral,
  VariableDeclarator,
} from "acorn";
import { full } from "acorn-walk";
import { parseProgram } from "../../src/sandbox/code/transpile.ts";
import { cli } from "../cli/in-memory.ts";
import { root } from "../support/claudikins.ts";
import { entries } from "../support/command-json.ts";
import { commentPatterns, type Pattern, patterns, titlePatterns } from "./patterns.ts";

// Every file of the source is parsed.
setDefaultTimeout(60_000);

/** `where: pattern: text` for each text that has one of the patterns. */
function found(where: string, texts: readonly string[], forbidden: readonly Pattern[] = patterns): string[] {
  const plain = texts.map((text) => text.replace(/\s+/g, " ").trim());
  return plain.flatMap((text) =>
    forbidden.filter(({ pattern }) => pattern.test(text)).map(({ pattern }) => `${where}: ${pattern}: ${text}`),
  );
}

describe("each pattern", () => {
  const all = [...patterns, ...commentPatterns, ...titlePatterns];
  test.each(all)("$pattern matches its example, and not the better wording", ({ pattern, bad, write }) => {
    expect(bad).toMatch(pattern);
    expect(found("", [write], all)).toEqual([]);
  });
});

/** Paragraphs, list items and table cells, without code blocks, comments and addresses. */
function paragraphs(markdown: string): string[] {
  const prose = markdown
    .replace(/^( *)```[\s\S]*?^\1```$/gm, "")
    .replace(/<!--[\s\S]*?-->/g, "")
    .replace(/\]\([^)]*\)/g, "]")
    .replace(/^\[[^\]]+\]: .*$/gm, "");
  return prose.split(/\n\s*\n|\n(?= *(?:[-*|#]|\d+\.) ?)|\|/);
}

const pages = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "src/README.md", "test/README.md"]
  .concat(readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).map((name) => `docs/${name}`))
  .filter((path) => path.endsWith(".md") && existsSync(join(root, path)));

describe("Markdown", () => {
  test.each(pages)("in %s is plain English", (path) => {
    expect(found(path, paragraphs(readFileSync(join(root, path), "utf8")))).toEqual([]);
  });
});

describe("the help", () => {
  const calls = [["--help"], ...entries.map(({ path }) => [...path.split(" "), "--help"])];

  test.each(calls.map((argv) => [argv.join(" "), argv] as const))(
    "claudikins %s is plain English",
    async (line, argv) => {
      const { stdout } = await cli(argv);
      // A description in a table continues on lines with more indentation.
      expect(found(line, stdout.split(/\n(?! {8})/))).toEqual([]);
    },
  );
});

/** Words for search, data of the demo shop, and recipes of servers: they are not our sentences. */
const others = /^(?:demo|registry\/search)\//;

// Every text must be left, also one that is never used.
const transpiler = new Bun.Transpiler({ loader: "ts", deadCodeElimination: false, trimUnusedImports: false });

/** The syntax tree of TypeScript, without its types. Constant texts that are added are one text. */
function treeOf(source: string): Node {
  return parseProgram(transpiler.transformSync(source));
}

/** The text of a string or a template, with `…` for what is filled in. Returns undefined for other nodes. */
function textOf(node: Node | undefined): string | undefined {
  if (node?.type === "Literal") return String((node as Literal).value);
  if (node?.type !== "TemplateLiteral") return undefined;
  return (node as TemplateLiteral).quasis.map(({ value }) => value.cooked ?? value.raw).join("…");
}

/** Every string and template with two words or more. */
function texts(source: string): string[] {
  const all: string[] = [];
  full(treeOf(source), (node: Node) => {
    const text = textOf(node);
    if (text !== undefined && /[a-z]+ [a-z]+/i.test(text)) all.push(text);
  });
  return all;
}

/** The TypeScript and JavaScript files below a folder of the repository, without declarations. */
function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => /(?<!\.d)\.(?:ts|m?js)$/.test(path));
}

describe("texts in the source", () => {
  test("errors, hints, descriptions and prompts are plain English", () => {
    const all = filesIn("src")
      .filter((path) => !others.test(path))
      .flatMap((path) => found(path, texts(readFileSync(join(root, "src", path), "utf8")).flatMap(paragraphs)));
    expect(all).toEqual([]);
  });

  test("strings and templates are found", () => {
    const source = "const a: string = 'one text'; throw new Error(`two ${a} more texts`, { hint: \"three of them\" });";
    expect(texts(source).sort()).toEqual(["one text", "three of them", "two … more texts"]);
  });
});

/** The titles of tests and groups of tests, and the names of the cases in their tables. */
function titles(source: string): string[] {
  const all: string[] = [];
  const constants = new Map<string, Node>();
  const tree = treeOf(source);
  full(tree, (node: Node) => {
    const { type, id, init } = node as VariableDeclarator;
    if (type === "VariableDeclarator" && id.type === "Identifier" && init) constants.set(id.name, init);
  });
  full(tree, (node: Node) => {
    const { type, callee, arguments: [title, body] = [] } = node as CallExpression;
    const text = textOf(title);
    if (type !== "CallExpression" || body === undefined || text === undefined || !isTest(callee)) return;
    all.push(text);
    if (/^[^%]*%s/.test(text) && callee.type === "CallExpression") all.push(...caseNames(callee, constants));
  });
  return all;
}

/** The first strings of the rows in `test.each(rows)`, if they have two words or more. */
function caseNames({ arguments: [table] }: CallExpression, constants: ReadonlyMap<string, Node>): string[] {
  const rows = table?.type === "Identifier" ? constants.get(table.name) : table;
  if (rows?.type !== "ArrayExpression") return [];
  return (rows as ArrayExpression).elements.flatMap((row) => {
    const name = textOf(row?.type === "ArrayExpression" ? (row.elements[0] ?? undefined) : (row ?? undefined));
    return name !== undefined && /[a-z]+ [a-z]+/i.test(name) ? [name] : [];
  });
}

/** Whether calling it defines a test or a group: `test`, `test.skipIf(…)`, `describe.each(…)`. */
function isTest(callee: Node): boolean {
  if (callee.type === "Identifier") return ["describe", "test"].includes((callee as Identifier).name);
  if (callee.type === "CallExpression") return isTest((callee as CallExpression).callee);
  return callee.type === "MemberExpression" && isTest((callee as MemberExpression).object);
}

describe("test titles", () => {
  test("titles say what is expected, subject first", () => {
    const files = filesIn("test").filter((path) => path.endsWith(".test.ts"));
    const forbidden = [...patterns, ...titlePatterns];
    const all = files.flatMap((path) => found(path, titles(readFileSync(join(root, "test", path), "utf8")), forbidden));
    expect(all).toEqual([]);
  });

  test("titles of tests, groups and cases are found", () => {
    const source = `describe.each(["a"])("one %s", () => {
      test("two", () => {}); test.skipIf(true).each([1])(\`three \${1}\`, () => {}); test.each([[1]]); other("four", 1);
      const table = [["case two", 1]]; test.each(table)("%s", () => {});
      test.each(["case one", "word"])("with %s", () => {}); test.each([["no name", 1]])("%p", () => {});
    });`;
    expect(titles(source).sort()).toEqual(["%p", "%s", "case one", "case two", "one %s", "three …", "two", "with %s"]);
  });
});

/** Rooms whose comments have been rewritten. The others follow, and are added here. */
const rewritten =
  /^(?:agents|catalog|cli|config|daemon|demo|doctor|execution|generation|ledger|logs|task-runner|policy|registry|sandbox\/(?:advice|ast|code|engine|guest|host)|search|server|settings|sign-in|app|trace)\/|^(?:sandbox\/[^/]+|[^/]+)$|^clients\/(?!auth\/(?:challenge|client|discovery)\.)/;

/** Comments of TypeScript, without their stars and slashes. */
function comments(source: string): string[] {
  return [...source.matchAll(/\/\*\*?(?<block>[\s\S]*?)\*\/|(?:^|\s)\/\/ (?<line>.*)$/gm)].map(({ groups }) =>
    (groups?.["block"] ?? groups?.["line"] ?? "").replace(/^\s*\*/gm, ""),
  );
}

describe("comments", () => {
  const forbidden = [...patterns, ...commentPatterns];
  const commented: [folder: string, files: string[]][] = [
    ["src", filesIn("src").filter((path) => rewritten.test(path))],
    // The patterns are quoted there.
    ["test", filesIn("test").filter((path) => path !== "english/patterns.ts")],
    ["scripts", filesIn("scripts")],
  ];

  test.each(commented)("comments in %s are plain English", (folder, files) => {
    expect(files.length).toBeGreaterThan(50);
    const all = files.flatMap((path) =>
      found(path, comments(readFileSync(join(root, folder, path), "utf8")), forbidden),
    );
    expect(all).toEqual([]);
  });
});
