/** A program as a tree with parents, scopes, and the values that each name is bound to. */
import type { Expression, Function as FunctionNode, Identifier, Node, Pattern, Program, ReturnStatement } from "acorn";
import { type Binding, boundPaths, initSource, loopSource, type Source, type Step } from "./bindings.ts";
import { Lines } from "./lines.ts";
import { childrenOf, isFunction, isMember } from "./nodes.ts";

const scopeTypes = new Set(
  "Program BlockStatement ForStatement ForInStatement ForOfStatement CatchClause SwitchStatement".split(" "),
);

/** JavaScript, and its syntax tree. */
export interface ParsedCode {
  program: Program;
  code: string;
}

export class Tree {
  readonly program: Program;
  readonly code: string;
  readonly #parents = new Map<Node, Node>();
  readonly #scopes = new Map<Node, Map<string, Binding>>();
  readonly #bound = new Map<Node, Binding>();
  readonly #nodes: Node[] = [];
  #lines: Lines | undefined;

  constructor(program: Program, code: string) {
    this.program = program;
    this.code = code;
    this.#visit(program);
    for (const node of this.#nodes) this.#declare(node);
    for (const node of this.#nodes) this.#resolve(node);
  }

  /** Every node; a node comes before the nodes within it. */
  get nodes(): readonly Node[] {
    return this.#nodes;
  }

  all<T extends Node>(type: T["type"]): T[] {
    return this.#nodes.filter((node): node is T => node.type === type);
  }

  parent(node: Node): Node | undefined {
    return this.#parents.get(node);
  }

  /** The parent first, the program last. */
  *ancestors(node: Node): Generator<Node> {
    for (let at = this.parent(node); at; at = this.parent(at)) yield at;
  }

  /** What a name means; undefined if the program does not declare it. */
  binding(node: Node): Binding | undefined {
    return this.#bound.get(node);
  }

  /** The only expression that a variable gets its whole value from. */
  onlyValue(name: Node): Expression | undefined {
    const [only, another] = this.binding(name)?.sources ?? [];
    return only?.kind === "value" && !another && only.path.length === 0 ? only.node : undefined;
  }

  /** The only function that a name means. */
  onlyFunction(name: Node): FunctionNode | undefined {
    const [only, another] = this.binding(name)?.sources ?? [];
    return only?.kind === "function" && !another ? only.node : undefined;
  }

  /** The innermost function around a node. */
  functionAround(node: Node): FunctionNode | undefined {
    return this.ancestors(node).find(isFunction);
  }

  /** The expressions that a function returns with `return`. */
  returned(node: FunctionNode): Expression[] {
    return this.all<ReturnStatement>("ReturnStatement").flatMap((each) =>
      each.argument && this.functionAround(each) === node ? [each.argument] : [],
    );
  }

  text(node: Node): string {
    return this.code.slice(node.start, node.end);
  }

  line(node: Node): number {
    const at = isMember(node) ? node.property.start : node.start;
    this.#lines ??= new Lines(this.code);
    return this.#lines.at(at).line;
  }

  #visit(node: Node): void {
    this.#nodes.push(node);
    for (const child of childrenOf(node)) {
      this.#parents.set(child, node);
      this.#visit(child);
    }
  }

  #scopeOf(node: Node, functionsOnly = false): Map<string, Binding> {
    for (const at of this.ancestors(node)) {
      if (isFunction(at) || at.type === "Program" || (!functionsOnly && scopeTypes.has(at.type)))
        return this.#names(at);
    }
    return this.#names(this.program);
  }

  #names(scope: Node): Map<string, Binding> {
    let names = this.#scopes.get(scope);
    if (!names) {
      names = new Map();
      this.#scopes.set(scope, names);
    }
    return names;
  }

  #declare(node: Node): void {
    if (node.type === "VariableDeclarator") {
      const { id, init } = node as Node & { id: Pattern; init?: Expression | null };
      const declaration = this.parent(node) as Node & { kind: string };
      const scope = this.#scopeOf(declaration, declaration.kind === "var");
      this.#bind(id, loopSource(declaration, this.parent(declaration)) ?? initSource(init), scope);
    } else if (isFunction(node)) {
      const { id, params } = node;
      if (id && node.type === "FunctionDeclaration") {
        this.#bind(id, () => ({ kind: "function", node }), this.#scopeOf(node));
      }
      for (const [index, parameter] of params.entries()) {
        this.#bind(parameter, (path) => ({ kind: "parameter", of: node, index, path }), this.#names(node));
      }
    } else if (node.type === "CatchClause") {
      const { param } = node as Node & { param?: Pattern | null };
      if (param) this.#bind(param, () => ({ kind: "unknown" }), this.#names(node));
    } else if (node.type === "ClassDeclaration" || node.type.startsWith("Import")) {
      const { id, local } = node as Node & { id?: Identifier; local?: Identifier };
      const name = id ?? local;
      if (name?.type === "Identifier") this.#bind(name, () => ({ kind: "unknown" }), this.#scopeOf(node));
    }
  }

  #bind(pattern: Pattern, source: (path: Step[]) => Source | undefined, scope: Map<string, Binding>): void {
    for (const { name, path } of boundPaths(pattern)) {
      const binding = scope.get(name) ?? { name, sources: [], references: [] };
      const made = path === undefined ? ({ kind: "unknown" } as const) : source(path);
      if (made) binding.sources.push(made);
      scope.set(name, binding);
    }
  }

  #resolve(node: Node): void {
    if (node.type === "Identifier" && this.#isReference(node as Identifier)) {
      const { name } = node as Identifier;
      const binding = this.#lookUp(node, name);
      if (binding) {
        this.#bound.set(node, binding);
        binding.references.push(node as Identifier);
      }
    }
    if (node.type !== "AssignmentExpression" && node.type !== "UpdateExpression") return;
    const { left, right, operator } = node as Node & { left?: Pattern; right?: Expression; operator: string };
    for (const { name, path } of left ? boundPaths(left) : []) {
      const binding = this.#lookUp(node, name);
      if (!binding || !right) continue;
      const plain = operator === "=" || operator === "??=" || operator === "||=";
      binding.sources.push(plain && path ? { kind: "value", node: right, path } : { kind: "unknown" });
    }
  }

  #lookUp(node: Node, name: string): Binding | undefined {
    for (const at of this.ancestors(node)) {
      const binding = this.#scopes.get(at)?.get(name);
      if (binding) return binding;
    }
    return undefined;
  }

  /** Whether an identifier names a variable, and not a property, a key or a label. */
  #isReference(node: Identifier): boolean {
    const parent = this.parent(node) as (Node & { computed?: boolean; shorthand?: boolean; key?: Node }) | undefined;
    if (!parent) return false;
    if (isMember(parent)) return parent.object === node || parent.computed;
    if (parent.key === node) return parent.computed === true || parent.shorthand === true;
    return !/^(?:Labeled|Break|Continue)Statement$|^(?:Im|Ex)port/.test(parent.type);
  }
}
