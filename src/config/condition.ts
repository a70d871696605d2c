/**
 * Conditions of rules, in the Common Expression Language (CEL): https://cel.dev. Its library takes 6 ms to load, so only configs with rules load it.
 */
import { type ASTNode, Environment } from "@marcbachmann/cel-js";
import { didYouMean } from "../base/near-names.ts";
import { compiled, type Expression, visitAll } from "./cel/compile.ts";
import { Fields, fromJson, type Key, List, type Value } from "./cel/values.ts";
import { Undecidable, Work } from "./cel/work.ts";
import { labels } from "./policy.ts";

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
  /**
   * Whether a call meets the condition. Throws if that cannot be said, such as for a comparison of a text with a number, or if the conditions of the
   * call need more work than is allowed.
   */
  isMet(facts: ConditionFacts, work?: Work): boolean;
  /** The arguments that it reads. One that a call does not have is null, unless the condition asks for it with `has`. */
  args: readonly string[];
  /** The tools that it names: `tool == "github.push_files"`. */
  tools: readonly string[];
  /** The comparisons of its variables with a text or a number, in which mistakes are looked for. */
  comparisons: readonly Comparison[];
}

/** A variable, or an argument of the tool, and what it is compared with: `args.count == "three"`, `"public" in labels`. */
export interface Comparison {
  of: { variable: string } | { argument: string };
  operator: string;
  value: string | number | bigint | boolean;
}

const variables = {
  server: "string",
  tool: "string",
  args: "map",
  labels: "list<string>",
  reads: "list<string>",
  agent: { name: "string", version: "string", door: "string", person: "string" },
};
const variableNames: ReadonlySet<string> = new Set(Object.keys(variables));

let language: ((text: string) => ReadExpression) | undefined;

/** The mistake in a condition. Undefined if it can be used. */
export function conditionProblem(text: string): string | undefined {
  try {
    conditionOf(text);
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0]!.trim();
  }
}

/** Throws if the condition has a problem. */
export function conditionOf(text: string): Condition {
  language ??= languageOf(variables);
  const { tree, type, evaluate } = language(text);
  if (type !== "bool" && type !== "dyn") throw new Error(`it is a ${type}, and must be true or false`);
  const { args, asked, tools, comparisons } = namesIn(tree);
  refuseUnknownLabels(comparisons);
  const required = conjunctsOf(tree).flatMap((node) => aboutTool(node) ?? []);
  return {
    args,
    tools,
    comparisons,
    mayBeMet: (tool, labels) => required.every((each) => isPossible(each, tool, labels)),
    isMet(facts, work = new Work()) {
      const values = new Map<string, Value>();
      const variable = (name: string) => values.getOrInsertComputed(name, () => factOf(facts, name, asked));
      const value = evaluate({ variable, work, locals: [] });
      if (typeof value !== "boolean") throw new Undecidable("it is neither true nor false");
      return value;
    },
  };
}

function factOf(facts: ConditionFacts, name: string, asked: ReadonlySet<string>): Value {
  if (name === "args") return new Arguments(facts.args, asked);
  const fact = facts[name as Exclude<keyof ConditionFacts, "args">];
  return fromJson(fact instanceof Set ? [...fact] : fact);
}

/** An argument that a call does not have is null, unless the condition asks whether it is there. */
class Arguments extends Fields {
  readonly #asked: ReadonlySet<string>;

  constructor(args: object, asked: ReadonlySet<string>) {
    super(undefined, args as Record<string, unknown>);
    this.#asked = asked;
  }

  override get(key: Key): Value | undefined {
    const value = super.get(key);
    return value === undefined && typeof key === "string" && !this.#asked.has(key) ? null : value;
  }
}

/** A rule with a misspelt label would never apply. */
function refuseUnknownLabels(comparisons: readonly Comparison[]): void {
  for (const { of, value } of comparisons) {
    const isLabel = "variable" in of && (of.variable === "labels" || of.variable === "reads");
    if (!isLabel || labels.some((label) => label === value)) continue;
    throw new Error([`there is no label "${value}".`, didYouMean(String(value), labels)].join(" ").trim());
  }
}

/** The parts of `a && b && c`: it is false without each of them, whether the others are true, false or fail. */
function conjunctsOf(node: ASTNode): ASTNode[] {
  return node.op === "&&" ? node.args.flatMap(conjunctsOf) : [node];
}

/** The part of a condition that asks for nothing but the tool and its labels. Undefined if it asks for more. */
function aboutTool(node: ASTNode): Expression | undefined {
  let isAbout = true;
  visitAll(node, ({ op, args }, locals) => {
    if (op === "id" && !locals.includes(args) && variableNames.has(args))
      isAbout &&= args === "tool" || args === "labels";
  });
  return isAbout ? compiled(node, variableNames) : undefined;
}

function isPossible(part: Expression, tool: string, labels: ReadonlySet<string>): boolean {
  const variable = (name: string) => (name === "tool" ? tool : List.of([...labels]));
  try {
    return part({ variable, work: new Work(), locals: [] }) !== false;
  } catch {
    return true;
  }
}

interface Names {
  args: string[];
  /** The arguments for which it asks with `has`. */
  asked: Set<string>;
  tools: string[];
  comparisons: Comparison[];
}

function namesIn(tree: ASTNode): Names {
  const args = new Set<string>();
  const asked = new Set<string>();
  const comparisons: Comparison[] = [];
  visitAll(tree, (node, locals) => {
    const name = locals.includes("args") ? undefined : argumentIn(node);
    if (name !== undefined) args.add(name);
    if (node.op === "call" && node.args[0] === "has") {
      const [of] = node.args[1];
      const first = of && !locals.includes("args") ? argumentIn(rootOf(of)) : undefined;
      if (first !== undefined) asked.add(first);
    }
    comparisons.push(...comparisonsIn(node, locals));
  });
  const tools = comparisons.flatMap(({ of, operator, value }) =>
    "variable" in of && of.variable === "tool" && operator === "==" ? [String(value)] : [],
  );
  return { args: [...args], asked, tools: [...new Set(tools)], comparisons };
}

/** The name in `args.name` and `args["name"]`. */
function argumentIn(node: ASTNode): string | undefined {
  if (node.op !== "." && node.op !== "[]") return undefined;
  const [variable, name] = node.args;
  if (variable.op !== "id" || variable.args !== "args") return undefined;
  if (typeof name === "string") return name;
  return name.op === "value" && typeof name.args === "string" ? name.args : undefined;
}

/** The `args.name` in `args.name.other["more"]`. */
function rootOf(node: ASTNode): ASTNode {
  if (argumentIn(node) !== undefined || (node.op !== "." && node.op !== "[]")) return node;
  return rootOf(node.args[0]);
}

const orders = new Set(["==", "!=", "<", "<=", ">", ">="]);

function comparisonsIn(node: ASTNode, locals: readonly string[]): Comparison[] {
  if (node.op === "rcall") {
    const [operator, subject, [other]] = node.args;
    return other ? compared(subject, operator, other, locals) : [];
  }
  if (node.op === "in") {
    const [item, list] = node.args;
    if (list.op === "list") return list.args.flatMap((each) => compared(item, "in", each, locals));
    return compared(list, "contains", item, locals);
  }
  if (!orders.has(node.op)) return [];
  const [left, right] = node.args as [ASTNode, ASTNode];
  return [...compared(left, node.op, right, locals), ...compared(right, node.op, left, locals)];
}

function compared(subject: ASTNode, operator: string, other: ASTNode, locals: readonly string[]): Comparison[] {
  const value = other.op === "value" ? other.args : undefined;
  if (
    typeof value !== "string" &&
    typeof value !== "number" &&
    typeof value !== "bigint" &&
    typeof value !== "boolean"
  ) {
    return [];
  }
  const argument = locals.includes("args") ? undefined : argumentIn(subject);
  if (argument !== undefined) return [{ of: { argument }, operator, value }];
  const isVariable = subject.op === "id" && variableNames.has(subject.args) && !locals.includes(subject.args);
  return isVariable ? [{ of: { variable: subject.args }, operator, value }] : [];
}

/** Parts of the condition of a rule. */
const maxConditionParts = 500;

/** The types of variables, by name. A type is the name of one in CEL, or the fields of an object. */
export type Variables = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

interface ReadExpression {
  tree: ASTNode;
  /** The name of its type, as far as it is known: `dyn` if it is not. */
  type: string;
  evaluate: Expression;
}

/** Returns what reads an expression with these variables. It throws an error whose first line says what is wrong with the expression. */
export function languageOf(variables: Variables): (text: string) => ReadExpression {
  const environment = new Environment({
    homogeneousAggregateLiterals: false,
    limits: {
      maxAstNodes: maxConditionParts,
      maxDepth: 64,
      maxListElements: 1_000,
      maxMapEntries: 100,
      maxCallArguments: 16,
    },
  });
  for (const [name, type] of Object.entries(variables)) {
    if (typeof type === "string") environment.registerVariable(name, type);
    else environment.registerVariable(name, { schema: type });
  }
  const names = new Set(Object.keys(variables));
  return (text) => {
    const { ast: tree, check } = environment.parse(text);
    const { valid, type = "dyn", error } = check();
    if (!valid) throw error ?? new Error("it has a mistake");
    return { tree, type, evaluate: compiled(tree, names) };
  };
}
