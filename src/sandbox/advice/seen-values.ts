/**
 * The values that the expressions of a program had, as far as they follow from the results of tools: `o` in
 * `for (const o of orders)` had each of the orders. Undefined if they are not certain.
 */
import type { CallExpression, Expression, MemberExpression } from "acorn";
import {
  bare,
  type FunctionNode,
  isCall,
  isFunction,
  isMember,
  methodName,
  type Node,
  propertyName,
} from "../ast/nodes.ts";
import { calledTool, type Scope } from "../ast/tool-calls.ts";
import type { PathStep, Source, Tree } from "../ast/tree.ts";
import { elements, follow, iterated, joined, part, property, type Seen } from "./seen.ts";
import { truthOf } from "./truth.ts";

/** The recorded results of a tool in this execution. */
export type ResultsOf = (tool: string) => unknown[];

const sameList = new Set(["filter", "slice", "sort", "reverse", "toSorted", "toReversed"]);
const oneOfList = new Set(["find", "findLast", "at", "pop", "shift"]);
const callbackMethods = new Set("map filter forEach find findLast findIndex some every flatMap".split(" "));

export class SeenValues {
  readonly #tree: Tree;
  readonly #scope: Scope;
  readonly #resultsOf: ResultsOf;
  readonly #known = new Map<unknown, Seen | undefined>();

  constructor(scope: Scope, resultsOf: ResultsOf) {
    this.#tree = scope.tree;
    this.#scope = scope;
    this.#resultsOf = resultsOf;
  }

  /** The tool that a call means, and the callee as it is written. */
  toolOf(call: CallExpression): { call: string; tool: string } | undefined {
    const found = calledTool(call, this.#scope);
    if (!found || ["raw", "pages"].includes(methodName(call) ?? "")) return undefined;
    return { call: this.#tree.text(call.callee), tool: `${found.called.namespace.name}.${found.tool.name}` };
  }

  of(node: Node): Seen | undefined {
    return this.#once(node, () => this.#evaluate(bare(node)));
  }

  /** An expression that depends on itself is not known. */
  #once(key: unknown, work: () => Seen | undefined): Seen | undefined {
    if (this.#known.has(key)) return this.#known.get(key);
    this.#known.set(key, undefined);
    const seen = work();
    this.#known.set(key, seen);
    return seen;
  }

  #evaluate(node: Node): Seen | undefined {
    switch (node.type) {
      case "Identifier": {
        const binding = this.#tree.binding(node);
        const join = () => joined(binding?.sources.map((source) => this.#fromSource(source)) ?? []);
        return binding && this.#once(binding, join);
      }
      case "AwaitExpression": {
        const seen = this.of(node.argument);
        return seen && { ...seen, promised: false };
      }
      case "CallExpression":
        return this.#call(node);
      case "MemberExpression":
        return this.#member(node);
      case "LogicalExpression":
        if (node.operator === "&&") return this.#truth(node.left) === false ? undefined : this.of(node.right);
        return this.#either(node.left, node.right);
      case "ConditionalExpression": {
        const truth = this.#truth(node.test);
        if (truth !== undefined) return this.of(truth ? node.consequent : node.alternate);
        return this.#either(node.consequent, node.alternate);
      }
      case "AssignmentExpression":
        return node.operator === "=" ? this.of(node.right) : undefined;
      case "ArrayExpression": {
        const parts = node.elements.map((each) => {
          if (!each) return undefined;
          return each.type === "SpreadElement" ? elements(this.of(each.argument)) : this.of(each);
        });
        const all = joined(parts);
        return all && !all.promised ? { ...all, values: [all.values], whole: false } : undefined;
      }
      case "Literal":
        return { promised: false, call: undefined, tool: undefined, values: [node.value], whole: false };
      default:
        return undefined;
    }
  }

  #truth(test: Node): boolean | undefined {
    return truthOf(test, (node) => this.of(node));
  }

  /** `a ?? []`: an empty replacement adds no values. */
  #either(left: Expression, right: Expression): Seen | undefined {
    const empty =
      (right.type === "ArrayExpression" && right.elements.length === 0) ||
      (right.type === "ObjectExpression" && right.properties.length === 0) ||
      right.type === "Literal";
    return empty ? this.of(left) : joined([this.of(left), this.of(right)]);
  }

  #call(node: CallExpression): Seen | undefined {
    const tool = this.toolOf(node);
    if (tool) return { ...tool, promised: true, values: this.#resultsOf(tool.tool), whole: true };
    const { callee } = node;
    const [first] = node.arguments;
    if (callee.type === "Identifier") {
      const called = this.#tree.onlyFunction(callee);
      return called && this.#returned(called);
    }
    if (!isMember(callee)) return undefined;
    const method = propertyName(callee) ?? "";
    if (methodName(node, "Promise") === "all" && first) return this.#promiseAll(first);
    if (methodName(node, "Object") === "values" && first) {
      const seen = this.of(first);
      const lists = seen?.values.map((value) => Object.values(value ?? {}));
      return seen && lists && !seen.promised ? part(seen, lists) : undefined;
    }
    const receiver = this.of(callee.object);
    if (!receiver || receiver.promised || !receiver.values.every(Array.isArray)) return undefined;
    if (sameList.has(method)) return part(receiver, receiver.values);
    if (oneOfList.has(method)) return elements(receiver);
    if ((method === "map" || method === "flatMap") && isFunction(first)) {
      const result = this.#returned(first);
      if (!result || result.promised) return undefined;
      return part(result, method === "map" ? [result.values] : result.values);
    }
    return undefined;
  }

  #promiseAll(list: Node): Seen | undefined {
    const callback = methodName(list) === "map" ? (list as CallExpression).arguments[0] : undefined;
    const result = isFunction(callback) ? this.#returned(callback) : undefined;
    return result && { ...part(result, [result.values]), promised: true };
  }

  /** What a call of a function gives. */
  #returned(node: FunctionNode): Seen | undefined {
    const { body, async: isAsync } = node;
    const seen =
      body.type === "BlockStatement" ? joined(this.#tree.returned(node).map((each) => this.of(each))) : this.of(body);
    return seen && { ...seen, promised: isAsync || seen.promised };
  }

  #member(node: MemberExpression): Seen | undefined {
    const object = this.of(node.object);
    if (!object || object.promised) return undefined;
    const name = propertyName(node);
    if (name !== undefined) return property(object, name);
    // A negative index yields undefined.
    if (node.computed && node.property.type === "UnaryExpression") return undefined;
    const index = node.computed && node.property.type === "Literal" ? node.property.value : undefined;
    return elements(object, typeof index === "number" ? index : undefined);
  }

  #fromSource(source: Source): Seen | undefined {
    switch (source.kind) {
      case "value":
        return this.#destructured(source.node, source.path);
      case "element":
        return follow(iterated(this.of(source.node)), source.path);
      case "parameter":
        return follow(this.#parameter(source.of, source.index), source.path);
      default:
        return undefined;
    }
  }

  /** `const [a, b] = await Promise.all([demo.x(), demo.y()])`: each variable has the value at its index. */
  #destructured(node: Expression, path: PathStep[]): Seen | undefined {
    const [first, ...rest] = path;
    const all = node.type === "AwaitExpression" ? node.argument : undefined;
    const list = methodName(all, "Promise") === "all" ? (all as CallExpression).arguments[0] : undefined;
    if (list?.type === "ArrayExpression" && typeof first === "object" && "index" in first) {
      const element = list.elements[first.index];
      const seen = element && element.type !== "SpreadElement" ? this.of(element) : undefined;
      return follow(seen && { ...seen, promised: false }, rest);
    }
    return follow(this.of(node), path);
  }

  #parameter(node: FunctionNode, index: number): Seen | undefined {
    const parent = this.#tree.parent(node);
    if (isCall(parent) && parent.arguments.includes(node as never)) return this.#callbackParameter(parent, index);
    const name = parent?.type === "VariableDeclarator" ? parent.id : node.id;
    const binding = name && this.#tree.onlyFunction(name) === node ? this.#tree.binding(name) : undefined;
    if (!binding) return undefined;
    const uses = binding.references.filter((each) => each !== name);
    const calls = uses.map((each) => this.#tree.parent(each));
    return joined(
      calls.map((call, at) => {
        if (!isCall(call)) return undefined;
        if (call.callee === uses[at]) return call.arguments[index] && this.of(call.arguments[index]);
        return this.#callbackParameter(call, index);
      }),
    );
  }

  #callbackParameter(call: CallExpression, index: number): Seen | undefined {
    const { callee } = call;
    if (!isMember(callee)) return undefined;
    const method = methodName(call) ?? "";
    const receiver = this.of(callee.object);
    if (method === "then" && index === 0) return receiver?.promised ? { ...receiver, promised: false } : undefined;
    const isElement =
      (callbackMethods.has(method) && index === 0) ||
      (/^(?:sort|toSorted)$/.test(method) && index < 2) ||
      (method === "reduce" && index === 1);
    return isElement ? elements(receiver) : undefined;
  }
}
