/**
 * Conditions of rules, in the Common Expression Language (CEL): https://cel.dev. The only file that knows the library. It takes 6 ms to load,
 * so only configs with rules load it.
 */
import { type ASTNode, Environment, serialize } from "@marcbachmann/cel-js";
import { maxConditionParts } from "./limits.ts";

/** What a condition can ask about. */
export interface ConditionFacts {
  server: string;
  /** `server.tool`, with the names that the server and the config give. */
  tool: string;
  args: object;
  /** The labels of the tool. */
  labels: ReadonlySet<string>;
  /** The labels of the data that the session has read. */
  reads: ReadonlySet<string>;
  agent: { name: string; version: string; door: string; person: string };
}

export interface Condition {
  /** Whether a call of the tool can meet the condition, whatever its arguments are. */
  mayBeMet(tool: string, labels: ReadonlySet<string>): boolean;
  /** Whether a call meets the condition, if its tool can. Throws if that cannot be said, such as for a comparison of a text with a number. */
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
  const code = withoutTexts(text);
  const args = namesAfter(/(?<![\w.])args\.([A-Za-z_]\w*)/g, code);
  const asked = new Set(namesAfter(/\bhas\(\s*args\.(\w+)/g, code));
  // A condition such as `"branch" in args` may read all of them.
  const readsAll = /(?<![\w.])args(?!\.[A-Za-z_])\b/.test(code);
  const parts = partsOf(shared().parse(text).ast);
  // An evaluation takes 2 to 6 µs, and half of it for a condition that begins with the tool.
  const restText = parts.rest.map(({ text: each }) => `(${each})`).join(" && ");
  const rest = restText === "" ? undefined : shared().parse(restText);
  const variables = variablesIn(withoutTexts(restText));
  return {
    args,
    tools: toolsIn(text),
    mayBeMet: (tool, labels) =>
      parts.tools.every((each) => each === tool) && parts.labels.every((each) => labels.has(each)),
    isMet(facts) {
      if (!rest) return true;
      const given = facts.args as Record<string, unknown>;
      let isSure = true;
      for (const { check } of parts.rest) {
        const found = check?.(given);
        if (found === false) return false;
        isSure &&= found === true;
      }
      if (isSure) return true;
      const names = readsAll ? new Set([...Object.keys(given), ...args]) : args;
      // Without a prototype, which a name such as `__proto__` would replace.
      const values: Record<string, unknown> = Object.create(null);
      for (const name of names) {
        if (Object.hasOwn(given, name)) values[name] = celValue(given[name]);
        else if (!asked.has(name)) values[name] = null;
      }
      const context: Record<string, unknown> = { args: values };
      for (const name of variables) {
        const fact = facts[name];
        context[name] = fact instanceof Set ? [...fact] : fact;
      }
      return rest(context) === true;
    },
  };
}

/** The variables of a condition besides the arguments. Most conditions have none but the tool, which is not evaluated. */
function variablesIn(code: string): ("server" | "tool" | "labels" | "reads" | "agent")[] {
  return (["server", "tool", "labels", "reads", "agent"] as const).filter((name) =>
    new RegExp(String.raw`(?<![\w.])${name}\b`).test(code),
  );
}

/** The parts of a condition of the form `a && b && c`. It is false without each of them, whether the others are true, false or fail. */
interface Parts {
  /** The tool must be each of these: `tool == "github.push_files"`. */
  tools: string[];
  /** The tool must have these labels: `"public" in labels`. */
  labels: string[];
  /** The other parts. */
  rest: { text: string; check: TextCheck | undefined }[];
}

/** Decides about the arguments as the library does. Undefined if only the library can. */
type TextCheck = (args: Readonly<Record<string, unknown>>) => boolean | undefined;

function partsOf(node: ASTNode): Parts {
  const { op, args } = node;
  if (op === "&&") {
    const [left, right] = args.map(partsOf) as [Parts, Parts];
    return {
      tools: [...left.tools, ...right.tools],
      labels: [...left.labels, ...right.labels],
      rest: [...left.rest, ...right.rest],
    };
  }
  const tool = op === "==" ? (textBeside("tool", args) ?? textBeside("tool", [args[1], args[0]])) : undefined;
  if (tool !== undefined) return { tools: [tool], labels: [], rest: [] };
  const label = op === "in" ? textBeside("labels", [args[1], args[0]]) : undefined;
  if (label !== undefined) return { tools: [], labels: [label], rest: [] };
  return { tools: [], labels: [], rest: [{ text: serialize(node), check: textCheckOf(node) }] };
}

const textComparisons = {
  "==": (one: string, other: string) => one === other,
  "!=": (one: string, other: string) => one !== other,
  startsWith: (one: string, other: string) => one.startsWith(other),
  endsWith: (one: string, other: string) => one.endsWith(other),
  contains: (one: string, other: string) => one.includes(other),
};

/** The check of a comparison with a text, such as `args.branch == "main"`: most rules have nothing else, and it takes 0.1 µs. */
function textCheckOf(node: ASTNode): TextCheck | undefined {
  const [how, subject, other] =
    node.op === "rcall" && node.args[2].length === 1
      ? [node.args[0], node.args[1], node.args[2][0]]
      : node.op === "==" || node.op === "!="
        ? [node.op, ...node.args]
        : [];
  const compare = Object.entries(textComparisons).find(([name]) => name === how)?.[1];
  const name = argumentIn(subject);
  const text = other?.op === "value" ? other.args : undefined;
  if (!compare || name === undefined || typeof text !== "string") return undefined;
  return (given) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    return typeof value === "string" ? compare(value, text) : undefined;
  };
}

/** The name in `args.name`. */
function argumentIn(node: ASTNode | undefined): string | undefined {
  if (node?.op !== ".") return undefined;
  const [variable, name] = node.args;
  return variable.op === "id" && variable.args === "args" && typeof name === "string" ? name : undefined;
}

/** The text that is compared with the variable. */
function textBeside(variable: string, [one, other]: readonly [ASTNode, ASTNode]): string | undefined {
  const isVariable = one.op === "id" && one.args === variable;
  return isVariable && other.op === "value" && typeof other.args === "string" ? other.args : undefined;
}

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
