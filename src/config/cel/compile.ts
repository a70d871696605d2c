/**
 * Makes a function of the tree that the library has parsed. The library also evaluates, but it neither limits its work nor its memory: it keeps a type
 * for each shape of data that it has seen, and a program chooses the data.
 */
import type { ASTNode } from "@marcbachmann/cel-js";
import { functions, methods } from "./functions.ts";
import { itemOf, negated, operators, patternOf } from "./operators.ts";
import { asKey, Fields, integer, type Key, List, TypeName, typeOf, type Value } from "./values.ts";
import { TooMuchWork, Undecidable, type Work } from "./work.ts";

/** The values of an expression's variables, and the work that it may do. */
export interface Scope {
  variable(name: string): Value;
  work: Work;
  /** Values of the variables of macros. */
  locals: Value[];
}

/** Throws Undecidable if the expression has no value. */
export type Expression = (scope: Scope) => Value;

/** The variables that the macros around an expression define, the innermost last. */
type Locals = readonly string[];

const typeNames = new Set(["bool", "int", "double", "string", "list", "map", "null_type", "type"]);

/** Throws an error whose message says what conditions may not contain. `variables` does not have the variables of macros. */
export function compiled(node: ASTNode, variables: ReadonlySet<string>, locals: Locals = []): Expression {
  const run = expression(node, variables, locals);
  return (scope) => {
    scope.work.take(3);
    return run(scope);
  };
}

function expression(node: ASTNode, variables: ReadonlySet<string>, locals: Locals): Expression {
  const of = (each: ASTNode) => compiled(each, variables, locals);
  switch (node.op) {
    case "value":
      return constant(literal(node.args));
    case "id":
      return variable(node.args, variables, locals);
    case ".": {
      const [of_, name] = node.args;
      return indexed(of(of_), constant(name));
    }
    case "[]":
      return indexed(of(node.args[0]), of(node.args[1]));
    case "list":
      return list(node.args.map(of));
    case "map":
      return map(node.args.map(([key, value]) => [of(key), of(value)] as const));
    case "&&":
      return logical(of(node.args[0]), of(node.args[1]), false);
    case "||":
      return logical(of(node.args[0]), of(node.args[1]), true);
    case "!_": {
      const value = of(node.args);
      return (scope) => !asBoolean(value(scope));
    }
    case "-_": {
      const { op, args } = node.args;
      // The smallest integer is written as the negative of one that is too large.
      if (op === "value" && typeof args === "bigint") return constant(integer(-args));
      const value = of(node.args);
      return (scope) => negated(value(scope));
    }
    case "?:": {
      const [condition, then, otherwise] = node.args.map(of) as [Expression, Expression, Expression];
      return (scope) => (asBoolean(condition(scope)) ? then : otherwise)(scope);
    }
    case "call": {
      const [name, values] = node.args;
      if (name === "has") return presence(values[0]!, variables, locals);
      return called(name, functions[name], values.map(of));
    }
    case "rcall":
      return method(node.args, variables, locals);
    case ".?":
    case "[?]":
      throw unsupported(node.op);
    default: {
      const operator = operators[node.op];
      if (!operator) throw unsupported(node.op);
      refuseAmbiguous(node);
      const [left, right] = [of(node.args[0]), of(node.args[1])];
      return (scope) => operator(left(scope), right(scope), scope.work);
    }
  }
}

const relations: ReadonlySet<string> = new Set(["<", "<=", ">", ">=", "in"]);

/** In CEL, all comparisons have the same precedence, and `a == b < c` is `(a == b) < c`. The library reads it as `a == (b < c)`. */
function refuseAmbiguous({ op, args, input }: ASTNode & { args: [ASTNode, ASTNode] }): void {
  const [left, right] = args;
  if ((op !== "==" && op !== "!=") || !relations.has(right.op)) return;
  const between = input.slice(left.end, right.start).replaceAll(/\/\/[^\n\r]*/g, "");
  if (!between.includes("("))
    throw new Error(`use parentheses around one of the comparisons with ${op} and ${right.op}`);
}

function constant(value: Value): Expression {
  return () => value;
}

function literal(value: unknown): Value {
  if (typeof value === "bigint") return integer(value);
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return value;
  throw unsupported(value instanceof Uint8Array ? "bytes" : "an unsigned integer");
}

function variable(name: string, variables: ReadonlySet<string>, locals: Locals): Expression {
  const slot = locals.lastIndexOf(name);
  if (slot >= 0) return ({ locals }) => locals[slot]!;
  if (variables.has(name)) return (scope) => scope.variable(name);
  if (typeNames.has(name)) return constant(new TypeName(name));
  throw unsupported(name);
}

function indexed(value: Expression, index: Expression): Expression {
  return (scope) => itemOf(value(scope), index(scope));
}

function list(items: readonly Expression[]): Expression {
  return (scope) => List.of(items.map((each) => each(scope)));
}

function map(entries: readonly (readonly [Expression, Expression])[]): Expression {
  return (scope) => {
    const values = new Map<Key, Value>();
    for (const [key, value] of entries) {
      const found = key(scope);
      const name = typeof found === "number" ? undefined : asKey(found);
      if (name === undefined) throw new Undecidable(`a ${typeOf(found)} is not a key of a map`);
      if (values.has(name)) throw new Undecidable("a map has a key twice");
      values.set(name, value(scope));
    }
    return Fields.of(values);
  };
}

/** The result is `decisive` if either side is, even if the other side has no value. */
function logical(left: Expression, right: Expression, decisive: boolean): Expression {
  return (scope) => {
    let problem: unknown;
    try {
      if (asBoolean(left(scope)) === decisive) return decisive;
    } catch (error) {
      if (error instanceof TooMuchWork) throw error;
      problem = error;
    }
    if (asBoolean(right(scope)) === decisive) return decisive;
    if (problem !== undefined) throw problem;
    return !decisive;
  };
}

function called(
  name: string,
  function_: (typeof functions)[string] | undefined,
  values: readonly Expression[],
): Expression {
  if (!function_) throw unsupported(`${name}()`);
  return (scope) =>
    function_(
      values.map((each) => each(scope)),
      scope.work,
    );
}

/** `has(args.name)` */
function presence(node: ASTNode, variables: ReadonlySet<string>, locals: Locals): Expression {
  if (node.op !== ".") throw new Error("has() takes a name after a dot, such as has(args.name)");
  const [of, name] = node.args;
  const value = compiled(of, variables, locals);
  return (scope) => {
    const found = value(scope);
    if (found instanceof Fields) return found.has(name);
    throw new Undecidable(`a ${typeOf(found)} has no "${name}"`);
  };
}

function method(
  [name, receiver, values]: readonly [string, ASTNode, readonly ASTNode[]],
  variables: ReadonlySet<string>,
  locals: Locals,
): Expression {
  const subject = compiled(receiver, variables, locals);
  const macro = macros[macroKey(name, values)];
  if (macro) {
    const [local, ...parts] = values;
    if (local?.op !== "id") throw new Error(`${name}() takes the name of a variable first`);
    const inside = [...locals, local.args];
    const bodies = parts.map((each) => compiled(each, variables, inside));
    return comprehension(subject, locals.length, macro(bodies));
  }
  if (name === "matches") return matching(subject, values);
  const others = values.map((each) => compiled(each, variables, locals));
  return called(name, methods[name], [subject, ...others]);
}

function matching(subject: Expression, [source]: readonly ASTNode[]): Expression {
  // A program must not choose the pattern, and a person should see a mistake in it before a call is made.
  if (source?.op !== "value" || typeof source.args !== "string") throw new Error("matches() takes a pattern in quotes");
  const pattern = patternOf(source.args);
  return (scope) => {
    const text = subject(scope);
    if (typeof text !== "string") throw new Undecidable(`matches() has no result for ${typeOf(text)}`);
    return pattern(text, scope.work);
  };
}

/** Goes through the items of a list. */
interface Loop {
  /** Returns true if the rest of the items do not matter. */
  visit(scope: Scope, item: Value): boolean;
  result(): Value;
}

type Macro = (bodies: readonly Expression[]) => () => Loop;

/** By name and number of arguments. */
const macros: Readonly<Record<string, Macro>> = {
  "all/2": quantifier(false),
  "exists/2": quantifier(true),
  "exists_one/2":
    ([test]) =>
    () => {
      let count = 0;
      return {
        visit(scope) {
          if (asBoolean(test!(scope))) count += 1;
          return false;
        },
        result: () => count === 1,
      };
    },
  "filter/2": ([test]) => collector((scope, item) => (asBoolean(test!(scope)) ? item : undefined)),
  "map/2": ([value]) => collector((scope) => value!(scope)),
  "map/3": ([test, value]) => collector((scope) => (asBoolean(test!(scope)) ? value!(scope) : undefined)),
};

function macroKey(name: string, values: readonly ASTNode[]): string {
  return `${name}/${values.length}`;
}

/** Visits the node and all below it, each with the variables that the macros around it define. */
export function visitAll(node: ASTNode, visit: (node: ASTNode, locals: Locals) => void, locals: Locals = []): void {
  visit(node, locals);
  if (node.op === "rcall" && macros[macroKey(node.args[0], node.args[2])]) {
    const [, receiver, [local, ...parts]] = node.args;
    visitAll(receiver, visit, locals);
    const inside = local?.op === "id" ? [...locals, local.args] : locals;
    for (const part of parts) visitAll(part, visit, inside);
    return;
  }
  for (const part of partsOf(node)) visitAll(part, visit, locals);
}

function partsOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case "value":
    case "id":
      return [];
    case ".":
    case ".?":
      return [node.args[0]];
    case "call":
      return node.args[1];
    case "rcall":
      return [node.args[1], ...node.args[2]];
    case "map":
      return node.args.flat();
    case "!_":
    case "-_":
      return [node.args];
    default:
      return node.args;
  }
}

/** Like a chain of `&&` or `||` over the items. */
function quantifier(decisive: boolean): Macro {
  return ([test]) =>
    () => {
      let problem: unknown;
      let isDecided = false;
      return {
        visit(scope) {
          try {
            isDecided = asBoolean(test!(scope)) === decisive;
          } catch (error) {
            if (error instanceof TooMuchWork) throw error;
            problem ??= error;
          }
          return isDecided;
        },
        result() {
          if (isDecided) return decisive;
          if (problem !== undefined) throw problem;
          return !decisive;
        },
      };
    };
}

/** A list of everything that is not undefined. */
function collector(get: (scope: Scope, item: Value) => Value | undefined): () => Loop {
  return () => {
    const items: Value[] = [];
    return {
      visit(scope, item) {
        const value = get(scope, item);
        if (value !== undefined) items.push(value);
        return false;
      },
      result: () => List.of(items),
    };
  };
}

/** The items of a map are its keys. */
function comprehension(subject: Expression, slot: number, begin: () => Loop): Expression {
  return (scope) => {
    const range = subject(scope);
    const items = range instanceof Fields ? List.of(range.keys(scope.work)) : range;
    if (!(items instanceof List)) throw new Undecidable(`a ${typeOf(range)} has no items`);
    const loop = begin();
    for (let index = 0; index < items.size; index++) {
      scope.work.take(5);
      const item = items.at(index);
      scope.locals[slot] = item;
      if (loop.visit(scope, item)) break;
    }
    return loop.result();
  };
}

function asBoolean(value: Value): boolean {
  if (typeof value === "boolean") return value;
  throw new Undecidable(`a ${typeOf(value)} is neither true nor false`);
}

function unsupported(what: string): Error {
  return new Error(`conditions do not support ${what}`);
}
