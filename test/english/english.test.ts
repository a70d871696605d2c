/** Texts that people and models read are plain English: none has a turn of phrase from the list in patterns.ts. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Literal, Node, TemplateLiteral } from "acorn";
import { full } from "acorn-walk";
import { transform } from "sucrase";
import { parseProgram } from "../../src/sandbox/code/parse-program.ts";
import { cli } from "../cli/in-memory.ts";
import { root } from "../support/claudikins.ts";
import { entries } from "../support/command-json.ts";
import { commentPatterns, type Pattern, patterns } from "./patterns.ts";

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
  const all = [...patterns, ...commentPatterns];
  test.each(all)("$pattern matches its example, and not what to write instead", ({ pattern, bad, write }) => {
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

const pages = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "src/README.md"]
  .concat(readdirSync(join(root, "docs")).map((name) => `docs/${name}`))
  .filter((path) => path.endsWith(".md") && existsSync(join(root, path)));

describe("Markdown", () => {
  test.each(pages)("%s", (path) => {
    expect(found(path, paragraphs(readFileSync(join(root, path), "utf8")))).toEqual([]);
  });
});

describe("help", () => {
  const calls = [["--help"], ...entries.map(({ path }) => [...path.split(" "), "--help"])];

  test.each(calls.map((argv) => [argv.join(" "), argv] as const))("claudikins %s", async (line, argv) => {
    const { stdout } = await cli(argv);
    // A description in a table goes on in lines that are indented further.
    expect(found(line, stdout.split(/\n(?! {8})/))).toEqual([]);
  });
});

/** Words for search, data of the demo shop, and recipes of servers: these are not sentences of ours. */
const others = /^(?:demo|registry\/search)\//;

/** Everything in quotes and backticks, with `…` for what is filled in. */
function texts(source: string): string[] {
  const { code } = transform(source, { transforms: ["typescript"], disableESTransforms: true });
  const all: string[] = [];
  full(parseProgram(code), (node: Node) => {
    if (node.type === "Literal") all.push(String((node as Literal).value));
    if (node.type === "TemplateLiteral")
      all.push((node as TemplateLiteral).quasis.map(({ value }) => value.cooked ?? value.raw).join("…"));
  });
  return all.filter((text) => /[a-z]+ [a-z]+/i.test(text));
}

describe("texts in the source", () => {
  const folder = join(root, "src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts") && !others.test(path));

  test("the errors, hints, descriptions and prompts of every file", () => {
    const all = files.flatMap((path) =>
      found(path, texts(readFileSync(join(folder, path), "utf8")).flatMap(paragraphs)),
    );
    expect(all).toEqual([]);
  });

  test("are found where they stand", () => {
    const source = "const a: string = 'one text'; throw new Error(`two ${a} more texts`, { hint: \"three of them\" });";
    expect(texts(source).sort()).toEqual(["one text", "three of them", "two … more texts"]);
  });
});

/** Rooms whose comments have been rewritten. The others follow, and are added here. */
const rewritten =
  /^(?:agents|catalog|cli|config|daemon|demo|doctor|execution|generation|ledger|logs|navigator|policy|registry|sandbox\/(?:advice|ast|code|engine|guest|host)|search|server|settings|sign-in|toolbox|trace)\/|^(?:sandbox\/[^/]+|[^/]+)$|^clients\/(?!auth\/(?:challenge|client|discovery)\.)/;

/** Comments of TypeScript, without their stars and slashes. */
function comments(source: string): string[] {
  return [...source.matchAll(/\/\*\*?(?<block>[\s\S]*?)\*\/|(?:^|\s)\/\/ (?<line>.*)$/gm)].map(({ groups }) =>
    (groups?.["block"] ?? groups?.["line"] ?? "").replace(/^\s*\*/gm, ""),
  );
}

test("comments", () => {
  const folder = join(root, "src");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts") && rewritten.test(path));
  expect(files.length).toBeGreaterThan(80);
  const forbidden = [...patterns, ...commentPatterns];
  expect(files.flatMap((path) => found(path, comments(readFileSync(join(folder, path), "utf8")), forbidden))).toEqual(
    [],
  );
});
