/** A program as a tree with parents, scopes, and the values that each name is bound to. */
import type { Expression, Identifier, Pattern, Program, VariableDeclaration, VariableDeclarator } from "acorn";
import { Lines } from "./lines.ts";
import { type FunctionNode, isFunction, isMember, keyName, type Node, type NodeOf } from "./nodes.ts";

/** One place where a variable gets a value: an expression or its elements, and the path into its value. */
export type Source =
  | { kind: "value" | "element"; node: Expression; path: PathStep[] }
  | { kind: "parameter"; of: FunctionNode; index: number; path: PathStep[] }
  | { kind: "function"; node: FunctionNode }
  /** `name` is undefined for the default and for the whole module. */
  | { kind: "import"; module: string; name: string | undefined }
  | { kind: "unknown" };

/** A property by name, an element by index, or the rest of a list. */
export type PathStep = { property: string } | { index: number } | "rest";

export interface Binding {
  name: string;
  sources: Source[];
  /** Every mention of the variable, its declaration included. */
  references: Identifier[];
}

/** Nodes carry their parent: a map with every node would take longer to fill than the program takes to parse. */
const parentOf = Symbol("parent");
type Linked = Node & { [parentOf]?: Node };

const blockScopes = /^(?:BlockStatement|For(?:In|Of)?Statement|CatchClause|SwitchStatement|StaticBlock)$/;

export class Tree {
  readonly program: Program;
  readonly code: string;
  /** Every node; a node comes before the nodes within it. */
  readonly nodes: readonly Node[];
  #byType: Map<string, Node[]> | undefined;
  #scopes: Map<Node, Map<string, Binding>> | undefined;
  readonly #bound = new Map<Node, Binding>();
  #lines: Lines | undefined;

  constructor(program: Program, code: string) {
    this.program = program;
    this.code = code;
    const nodes: Node[] = [];
    const waiting: Node[] = [program];
    for (let node = waiting.pop(); node; node = waiting.pop()) {
      nodes.push(node);
      for (const child of childrenOf(node).reverse()) {
        (child as Linked)[parentOf] = node;
        waiting.push(child);
      }
    }
    this.nodes = nodes;
  }

  all<T extends Node["type"]>(type: T): NodeOf<T>[] {
    this.#byType ??= Map.groupBy(this.nodes, (node) => node.type);
    return (this.#byType.get(type) ?? []) as NodeOf<T>[];
  }

  parent(node: Node): Node | undefined {
    return (node as Linked)[parentOf];
  }

  /** The parent first, the program last. */
  *ancestors(node: Node): Generator<Node> {
    for (let at = this.parent(node); at; at = this.parent(at)) yield at;
  }

  /** The innermost call, also with `new`, whose arguments contain an offset. */
  callAt(offset: number): NodeOf<"CallExpression" | "NewExpression"> | undefined {
    return this.nodes.findLast((node): node is NodeOf<"CallExpression" | "NewExpression"> => {
      const isCall = node.type === "CallExpression" || node.type === "NewExpression";
      return isCall && node.callee.end <= offset && offset < node.end;
    });
  }

  /** What a name means; undefined if the program does not declare it. */
  binding(node: Node): Binding | undefined {
    if (!this.#scopes) {
      this.#scopes = new Map();
      for (const each of this.nodes) this.#declare(each);
      for (const each of this.nodes) this.#resolve(each);
    }
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
    return this.all("ReturnStatement").flatMap((each) =>
      each.argument && this.functionAround(each) === node ? [each.argument] : [],
    );
  }

  text(node: Node): string {
    return this.code.slice(node.start, node.end);
  }

  get lines(): Lines {
    this.#lines ??= new Lines(this.code);
    return this.#lines;
  }

  line(node: Node): number {
    return this.lines.at(isMember(node) ? node.property.start : node.start).line;
  }

  /** The names of the scope that a declaration belongs to. */
  #scopeOf(node: Node, functionsOnly = false): Map<string, Binding> {
    const isScope = (at: Node) => isFunction(at) || (!functionsOnly && blockScopes.test(at.type));
    return this.#names(this.ancestors(node).find(isScope) ?? this.program);
  }

  #names(scope: Node): Map<string, Binding> {
    return this.#scopes!.getOrInsertComputed(scope, () => new Map());
  }

  #declare(node: Node): void {
    if (node.type === "VariableDeclarator") {
      const declaration = this.parent(node) as VariableDeclaration;
      const initial = initialValue(node, declaration, this.parent(declaration));
      this.#bind(node.id, initial, this.#scopeOf(declaration, declaration.kind === "var"));
    } else if (isFunction(node)) {
      const own = this.#names(node);
      const around = node.type === "FunctionDeclaration" ? this.#scopeOf(node) : own;
      if (node.id) this.#bind(node.id, () => ({ kind: "function", node }), around);
      for (const [index, parameter] of node.params.entries()) {
        this.#bind(parameter, (path) => ({ kind: "parameter", of: node, index, path }), own);
      }
    } else if (node.type === "CatchClause") {
      if (node.param) this.#bind(node.param, () => ({ kind: "unknown" }), this.#names(node));
    } else if (node.type === "ClassDeclaration" || node.type === "ClassExpression") {
      const around = node.type === "ClassDeclaration" ? this.#scopeOf(node) : this.#names(node);
      if (node.id) this.#bind(node.id, () => ({ kind: "unknown" }), around);
    } else if (node.type === "ImportDeclaration") {
      for (const specifier of node.specifiers) {
        const imported = specifier.type === "ImportSpecifier" ? specifier.imported : undefined;
        const name = imported?.type === "Literal" ? String(imported.value) : imported?.name;
        const module = String(node.source.value);
        this.#bind(specifier.local, () => ({ kind: "import", module, name }), this.#names(this.program));
      }
    }
  }

  #bind(pattern: Pattern, source: (path: PathStep[]) => Source | undefined, scope: Map<string, Binding>): void {
    for (const { name, path } of boundPaths(pattern)) {
      const binding = scope.getOrInsertComputed(name, () => ({ name, sources: [], references: [] }));
      const made = path === undefined ? ({ kind: "unknown" } as const) : source(path);
      if (made) binding.sources.push(made);
    }
  }

  #resolve(node: Node): void {
    if (node.type === "Identifier" && this.#isReference(node)) {
      const binding = this.#lookUp(node, node.name);
      if (!binding) return;
      this.#bound.set(node, binding);
      binding.references.push(node);
    }
    if (node.type !== "AssignmentExpression") return;
    const isPlain = /^(?:|\?\?|\|\|)=$/.test(node.operator);
    for (const { name, path } of boundPaths(node.left)) {
      const source: Source = isPlain && path ? { kind: "value", node: node.right, path } : { kind: "unknown" };
      this.#lookUp(node, name)?.sources.push(source);
    }
  }

  #lookUp(node: Node, name: string): Binding | undefined {
    for (const at of this.ancestors(node)) {
      const binding = this.#scopes?.get(at)?.get(name);
      if (binding) return binding;
    }
    return undefined;
  }

  /** Whether an identifier names a variable, and not a property, a key or a label. */
  #isReference(node: Identifier): boolean {
    const parent = this.parent(node);
    if (!parent) return false;
    if (isMember(parent)) return parent.object === node || parent.computed;
    if ("key" in parent && parent.key === node) {
      return ("computed" in parent && parent.computed) || ("shorthand" in parent && parent.shorthand);
    }
    return !/^(?:Labeled|Break|Continue)Statement$|^(?:Im|Ex)port/.test(parent.type);
  }
}

function childrenOf(node: Node): Node[] {
  const children: Node[] = [];
  for (const value of Object.values(node)) {
    if (isNode(value)) children.push(value);
    else if (Array.isArray(value)) for (const each of value) if (isNode(each)) children.push(each);
  }
  return children;
}

function isNode(value: unknown): value is Node {
  return value !== null && typeof value === "object" && "type" in value && typeof value.type === "string";
}

/** Where a declared variable gets its first value. It gets none in `let x;`. */
function initialValue({ init }: VariableDeclarator, declaration: Node, outer: Node | undefined) {
  return (path: PathStep[]): Source | undefined => {
    const loop = outer?.type === "ForOfStatement" || outer?.type === "ForInStatement" ? outer : undefined;
    if (loop?.left === declaration) {
      const isOf = loop.type === "ForOfStatement" && !loop.await;
      return isOf ? { kind: "element", node: loop.right, path } : { kind: "unknown" };
    }
    if (isFunction(init)) return { kind: "function", node: init };
    return init ? { kind: "value", node: init, path } : undefined;
  };
}

/** The names of a pattern, each with its path into the value. A name with a default has no path. */
export function boundPaths(
  pattern: Pattern,
  path: PathStep[] | undefined = [],
): { name: string; path: PathStep[] | undefined }[] {
  switch (pattern.type) {
    case "Identifier":
      return [{ name: pattern.name, path }];
    case "ObjectPattern":
      return pattern.properties.flatMap((property) => {
        if (property.type === "RestElement") return boundPaths(property.argument, undefined);
        const name = keyName(property);
        return boundPaths(property.value, path && name !== undefined ? [...path, { property: name }] : undefined);
      });
    case "ArrayPattern":
      return pattern.elements.flatMap((element, index) => {
        if (!element) return [];
        if (element.type === "RestElement") return boundPaths(element.argument, path && [...path, "rest"]);
        return boundPaths(element, path && [...path, { index }]);
      });
    case "AssignmentPattern":
      return boundPaths(pattern.left, undefined);
    case "RestElement":
      return boundPaths(pattern.argument, undefined);
    default:
      return [];
  }
}
