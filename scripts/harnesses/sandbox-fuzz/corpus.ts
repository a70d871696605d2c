/**
 * The programs that are mutated: every program in the sandbox's tests (hostile ones, the forms in which agents write,
 * and all others), and the programs of agents. A new test adds a program, so a seed gives the same programs as long as
 * the tests are the same.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Node, parse } from "acorn";
import { full } from "acorn-walk";
import { transform } from "sucrase";
import { transpile } from "../../../src/sandbox/code/transpile.ts";

const sandboxTests = join(import.meta.dir, "../../../test/sandbox");
const agentPrograms = join(import.meta.dir, "../../../test/agent-programs");

/** A program that sleeps is not stopped by the time limit. */
const sleepsLong = /\bsleep\(["']\d+ ?(?:m|h|d)/;

export async function loadCorpus(): Promise<string[]> {
  const texts = new Set([...sourcesIn(sandboxTests, ".ts").flatMap(textsOf), ...agentTexts()]);
  const programs: string[] = [];
  for (const text of texts) {
    if (/[(=;]/.test(text) && !sleepsLong.test(text) && (await isProgram(text))) programs.push(text);
  }
  return programs;
}

/** The files of a folder, in the same order everywhere. */
function sourcesIn(folder: string, ending: string): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(ending));
  return names.sort().map((name) => readFileSync(join(folder, name), "utf8"));
}

/** Every string and every template without substitutions in a TypeScript file. */
function textsOf(source: string): string[] {
  const { code } = transform(source, { transforms: ["typescript"], disableESTransforms: true });
  const texts: string[] = [];
  full(parse(code, { ecmaVersion: "latest", sourceType: "module" }), (node: Node) => {
    const { type, value } = node as Node & { value?: unknown };
    if (type === "Literal" && typeof value === "string") texts.push(value);
    if (type === "TemplateElement") texts.push((value as { cooked?: string }).cooked ?? "");
  });
  return texts;
}

/** A row has a program in `code`, or several in `steps`. */
function agentTexts(): string[] {
  if (!existsSync(agentPrograms)) return [];
  const rows = sourcesIn(agentPrograms, ".jsonl").flatMap((text) =>
    text.split("\n").filter((line) => line.trim() !== ""),
  );
  return rows.flatMap((row) => {
    const { code, steps = [] } = JSON.parse(row) as { code?: string; steps?: { code?: string }[] };
    return [code, ...steps.map((step) => step.code)].filter((text) => text !== undefined);
  });
}

async function isProgram(text: string): Promise<boolean> {
  try {
    await transpile(text);
    return true;
  } catch {
    return false;
  }
}
