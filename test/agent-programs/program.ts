/** The programs in the Markdown files of these folders: a task, its steps, and the expected outcome of each. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Program {
  /** The path below this folder, without the extension: `natural/a01`. */
  name: string;
  task: string;
  steps: Step[];
  /** The reason why it cannot work yet. */
  todo?: string;
}

export interface Step {
  code: string;
  expected: Shown;
}

/** An outcome as written in the files: fences named by their contents, such as `json value` and `text logs`. */
export type Shown = Record<string, string>;

/** Fences of four or more backticks, so that programs may contain fences of three. */
const fence = /^(?<ticks>`{4,})(?<kind>[^`\n]+)\n(?<body>[\s\S]*?)^\k<ticks>$/gm;

export function readPrograms(): Program[] {
  return (readdirSync(import.meta.dir, { recursive: true }) as string[])
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => /^[^/]+\/[^/]+\.md$/.test(path) && !path.startsWith("data/"))
    .sort()
    .map((path) => parseProgram(path.replace(/\.md$/, ""), readFileSync(join(import.meta.dir, path), "utf8")));
}

export function parseProgram(name: string, text: string): Program {
  const [, task = ""] = /^# (.+)$/m.exec(text) ?? [];
  const [, todo] = /^todo: (.+)$/m.exec(text) ?? [];
  const steps: Step[] = [];
  for (const { groups } of text.matchAll(fence)) {
    const [kind, body] = [groups?.["kind"] ?? "", (groups?.["body"] ?? "").replace(/\n$/, "")];
    if (kind === "ts") steps.push({ code: body, expected: {} });
    else Object.assign(steps.at(-1)?.expected ?? {}, { [kind]: body });
  }
  if (task === "" || steps.length === 0) throw new Error(`${name} has no task or no program`);
  return { name, task, steps, ...(todo === undefined ? {} : { todo }) };
}

/** The text of a program's file with these outcomes instead of its own. */
export function withOutcomes(text: string, outcomes: Shown[]): string {
  const all = [...text.matchAll(fence)];
  const programs = all.filter(({ groups }) => groups?.["kind"] === "ts").map(([whole]) => whole);
  const head = text.slice(0, all[0]?.index).trimEnd();
  const steps = programs.map((code, at) => [code, ...Object.entries(outcomes[at] ?? {}).map(fenced)].join("\n\n"));
  return `${[head, ...steps].join("\n\n")}\n`;
}

function fenced([kind, body]: [string, string]): string {
  const ticks = "`".repeat(Math.max(4, ...[...body.matchAll(/^`+/gm)].map(([run]) => run.length + 1)));
  return `${ticks}${kind}\n${body}\n${ticks}`;
}

/**
 * The expected outcome, with its patterns replaced by matching text of the actual one, so that the two can be compared
 * as text: `{{\d+}}` stands for a match of the expression, and `{{1000..1500}}` for a whole number in this range.
 */
export function settle(expected: string, actual: string): string {
  if (!expected.includes("{{")) return expected;
  const ranges: [number, number][] = [];
  const source = expected
    .split(/(\{\{.*?\}\}+)/)
    .map((part, at) => {
      if (at % 2 === 0) return RegExp.escape(part);
      const [, low, high] = /^\{\{(\d+)\.\.(\d+)\}\}$/.exec(part) ?? [];
      if (low === undefined || high === undefined) return `(?:${part.slice(2, -2)})`;
      ranges.push([Number(low), Number(high)]);
      return "(\\d+)";
    })
    .join("");
  const [, ...numbers] = new RegExp(`^${source}$`).exec(actual) ?? [undefined, "no match"];
  const fits = numbers.length === ranges.length && ranges.every(([low, high], at) => within(numbers[at], low, high));
  return fits ? actual : expected;
}

const within = (text: string | undefined, low: number, high: number) => low <= Number(text) && Number(text) <= high;
