/**
 * Conditions of rules, in the Common Expression Language (CEL): https://cel.dev. The only file that knows the library. It takes 6 ms to load,
 * so only configs with rules load it.
 */
import { type ASTNode, Environment, type ParseResult } from "@marcbachmann/cel-js";
import { maxConditionParts } from "./limits.ts";

/** What a condition can ask about. */
export interface ConditionFacts {
  server: string;
  /** `server.tool`, with the names that the server and the config give. */
  tool: string;
  args: object;
  /** The labels of the tool. */
  labels: readonly string[];
  /** The labels of the data that the session has read. */
  reads: readonly string[];
  agent: { name: string; version: string; door: string; person: string };
}

export interface Condition {
  /** Whether a call meets the condition. Throws if that cannot be said, such as for a comparison of a text with a number. */
  isMet(facts: ConditionFacts): boolean;
  /** The arguments that it reads. One that a call does not have is null, unless the condition asks for it with `has`. */
  args: readonly string[];
  /** The tools that it names: `tool == "github.push_files"`. */
  tools: readonly string[];
}

let environment: Environment | undefined;

function shared(): Environment {
  environment ??= new Environment({
    homogeneousAggregateLiterals: false,
    limits: {
      maxAstNodes: maxConditionParts,
      maxDepth: 64,
      maxListElements: 1_000,
      maxMapEntries: 100,
      maxCallArguments: 16,
    },
  })
    .registerVariable("server", "string")
    .registerVariable("tool", "string")
    .registerVariable("args", "map")
    .registerVariable("labels", "list<string>")
    .registerVariable("reads", "list<string>")
    .registerVariable("agent", { schema: { name: "string", version: "string", door: "string", person: "string" } });
  return environment;
}

/** The mistake in a condition. Undefined if it can be used. */
export function conditionProblem(text: string): string | undefined {
  try {
    const { valid, type, error } = shared().parse(text).check();
    if (!valid) return firstLine(error?.message ?? "it has a mistake");
    if (type !== "bool" && type !== "dyn") return `it is a ${type}, and must be true or false`;
    return slowPatternIn(text);
  } catch (error) {
    return firstLine(error instanceof Error ? error.message : String(error));
  }
}

/** Throws if the condition has a problem. */
export function conditionOf(text: string): Condition {
  const problem = conditionProblem(text);
  if (problem !== undefined) throw new Error(problem);
  const parsed: ParseResult = shared().parse(text);
  const code = withoutTexts(text);
  const args = namesAfter(/(?<![\w.])args\.([A-Za-z_]\w*)/g, code);
  const asked = new Set(namesAfter(/\bhas\(\s*args\.(\w+)/g, code));
  // A condition such as `"branch" in args` may read all of them.
  const readsAll = /(?<![\w.])args(?!\.[A-Za-z_])\b/.test(code);
  const needs = partsThatMustHold(parsed.ast);
  return {
    args,
    tools: toolsIn(text),
    isMet(facts) {
      if (!needs.tools.every((tool) => tool === facts.tool)) return false;
      if (!needs.labels.every((label) => facts.labels.includes(label))) return false;
      const given = facts.args as Record<string, unknown>;
      const names = readsAll ? new Set([...Object.keys(given), ...args]) : args;
      const values: [name: string, value: unknown][] = [];
      for (const name of names) {
        if (Object.hasOwn(given, name)) values.push([name, celValue(given[name])]);
        else if (!asked.has(name)) values.push([name, null]);
      }
      return parsed({ ...facts, args: Object.fromEntries(values) }) === true;
    },
  };
}

interface Needs {
  /** The only tool, if the condition has `tool == "…" && …`. Two different ones are never met. */
  tools: string[];
  /** The labels that the tool must have: `"public" in labels && …`. */
  labels: string[];
}

/**
 * Comparisons without which the condition is false, whatever its other parts are or whether they fail. Most rules are about another tool than the one that is
 * called, and an evaluation takes 2 to 6 µs.
 */
function partsThatMustHold({ op, args }: ASTNode): Needs {
  if (op === "&&") {
    const [left, right] = args.map(partsThatMustHold) as [Needs, Needs];
    return { tools: [...left.tools, ...right.tools], labels: [...left.labels, ...right.labels] };
  }
  if (op === "==") {
    const [left, right] = args;
    return { tools: isName(left, "tool") ? textIn(right) : isName(right, "tool") ? textIn(left) : [], labels: [] };
  }
  if (op === "in" && isName(args[1], "labels")) return { tools: [], labels: textIn(args[0]) };
  return { tools: [], labels: [] };
}

const isName = ({ op, args }: ASTNode, name: string) => op === "id" && args === name;

const textIn = ({ op, args }: ASTNode) => (op === "value" && typeof args === "string" ? [args] : []);

/** Whole numbers of JSON as integers, which CEL does not compute together with other numbers. A missing value is null. */
function celValue(value: unknown): unknown {
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  if (Array.isArray(value)) return value.map(celValue);
  if (typeof value !== "object" || value === null) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, celValue(each)]));
}

function namesAfter(pattern: RegExp, code: string): string[] {
  return [...new Set([...code.matchAll(pattern)].flatMap(([, name]) => name ?? []))];
}

function toolsIn(text: string): string[] {
  return [...text.matchAll(/(?<![\w.])tool\s*==\s*(?:"([^"\\]*)"|'([^'\\]*)')/g)].map(
    ([, one, other]) => one ?? other!,
  );
}

/** JavaScript's patterns may take exponential time, so those that repeat a repetition are refused. */
function slowPatternIn(text: string): string | undefined {
  for (const [, pattern] of text.matchAll(/\bmatches\(\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')?/g)) {
    if (pattern === undefined) return "matches() takes a pattern in quotes";
    if (/\((?:[^()\\]|\\.)*[+*{|](?:[^()]|\([^()]*\))*\)\s*[+*{]/.test(pattern)) {
      return `the pattern ${pattern} repeats a group that repeats or chooses, which may take very long`;
    }
  }
  return undefined;
}

function withoutTexts(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '""');
}

function firstLine(message: string): string {
  return message.split("\n", 1)[0]!.trim();
}
