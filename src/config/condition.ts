/**
 * Conditions of rules, in the Common Expression Language (CEL): https://cel.dev. The only file that knows the library. It takes 15 ms to load,
 * so only configs with rules load it.
 */
import { Environment, type ParseResult } from "@marcbachmann/cel-js";
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

/** Whether a call meets the condition. Throws if that cannot be said, such as for a comparison of a text with a number. */
export type Condition = (facts: ConditionFacts) => boolean;

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

/** What is wrong with a condition. Undefined if it can be used. */
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

/** Reads a condition that has no problem. */
export function conditionOf(text: string): Condition {
  const parsed: ParseResult = shared().parse(text);
  const optional = argumentsIn(text);
  return (facts) => {
    const absent = optional.filter((name) => !Object.hasOwn(facts.args, name)).map((name) => [name, null] as const);
    const args = absent.length === 0 ? facts.args : { ...facts.args, ...Object.fromEntries(absent) };
    return parsed({ ...facts, args }) === true;
  };
}

/** The arguments that a condition reads. One that a call does not have is null, unless the condition asks for it with `has`. */
export function argumentsIn(text: string): string[] {
  const code = withoutTexts(text);
  const asked = new Set([...code.matchAll(/\bhas\(\s*args\.(\w+)/g)].map(([, name]) => name));
  const read = [...code.matchAll(/(?<![\w.])args\.([A-Za-z_]\w*)/g)].flatMap(([, name]) => name ?? []);
  return [...new Set(read)].filter((name) => !asked.has(name));
}

/** The tools that a condition names: `tool == "github.push_files"`. */
export function toolsIn(text: string): string[] {
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
