/**
 * The types of expressions, as far as they can be seen in the code: tools of servers, their results, parts of them, and variables that hold
 * them. The tree may be of code that is being written, so any part of it may be missing.
 */
import { syntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";
import type { SyntaxNode } from "@lezer/common";
import type { PageEditorTool, PageField, PageType } from "../../programs-contract.ts";
import type { EditorNames } from "./contract.ts";

/** Steps from an expression to its type. A variable may be defined by itself in code that is being written. */
const maxTypeSteps = 40;

/** Something that an expression stands for. */
export type Found =
  | { kind: "servers" }
  | { kind: "server"; name: string }
  | { kind: "tool"; server: string; tool: PageEditorTool }
  | { kind: "value"; type: PageType; field?: PageField | undefined };

/** Methods of lists, and what they return: the same list, or an item of it. */
const listMethods: Record<string, "list" | "item"> = {
  filter: "list",
  slice: "list",
  sort: "list",
  toSorted: "list",
  reverse: "list",
  toReversed: "list",
  concat: "list",
  find: "item",
  findLast: "item",
  at: "item",
  pop: "item",
  shift: "item",
};

/** Methods of lists that call a function with an item, and the place of the item among its parameters. */
const itemParameter: Record<string, number> = {
  filter: 0,
  map: 0,
  flatMap: 0,
  forEach: 0,
  find: 0,
  findLast: 0,
  findIndex: 0,
  some: 0,
  every: 0,
  sort: 0,
  toSorted: 0,
  reduce: 1,
};

export class Types {
  readonly #state: EditorState;
  readonly #names: EditorNames;
  #steps = 0;

  constructor(state: EditorState, names: EditorNames) {
    this.#state = state;
    this.#names = names;
  }

  text(node: { from: number; to: number }): string {
    return this.#state.sliceDoc(node.from, node.to);
  }

  /** The innermost node that ends at, or is around, an offset. */
  nodeAt(offset: number): SyntaxNode {
    return syntaxTree(this.#state).resolveInner(offset, -1);
  }

  /** What an expression stands for. Undefined if it is not known. */
  async of(node: SyntaxNode | null): Promise<Found | undefined> {
    if (!node || ++this.#steps > maxTypeSteps) return undefined;
    switch (node.name) {
      case "VariableName":
        return this.#variable(node);
      case "AwaitExpression":
        return this.of(node.lastChild);
      case "PostfixExpression":
        return this.of(node.firstChild);
      case "ParenthesizedExpression":
        return this.of(node.firstChild?.nextSibling ?? null);
      case "MemberExpression":
        return this.#member(node);
      case "CallExpression":
        return this.#call(node);
      default:
        return undefined;
    }
  }

  async type(node: SyntaxNode | null): Promise<PageType | undefined> {
    const found = await this.of(node);
    return found?.kind === "value" ? found.type : undefined;
  }

  async tool(server: string, name: string): Promise<PageEditorTool | undefined> {
    return (await this.#names.tools(server)).find((each) => each.jsName === name || each.name === name);
  }

  /** The type of the object literal around a place: the arguments of a tool, or a part of them. */
  async expected(object: SyntaxNode): Promise<PageType | undefined> {
    if (++this.#steps > maxTypeSteps) return undefined;
    const { parent } = object;
    if (parent?.name === "ArgList") {
      const first = parent.getChild("ObjectExpression") ?? parent.getChild("AssignmentExpression");
      const found = first?.from === object.from ? await this.of(parent.parent?.firstChild ?? null) : undefined;
      return found?.kind === "tool" ? found.tool.arguments : undefined;
    }
    // An object literal without its end is read as a pattern of an assignment.
    if (parent?.name === "AssignmentExpression") return this.expected(parent);
    if (parent?.name === "ArrayExpression") return (await this.expected(parent))?.items;
    if (parent?.name !== "Property") return undefined;
    return (await this.expectedField(parent))?.type;
  }

  /** The field of the object literal to which a property belongs. */
  async expectedField(property: SyntaxNode): Promise<PageField | undefined> {
    const { parent, firstChild: key } = property;
    if (!parent || !key) return undefined;
    return fieldOf(await this.expected(parent), unquoted(this.text(key)));
  }

  async #member(node: SyntaxNode): Promise<Found | undefined> {
    const object = await this.of(node.firstChild);
    if (!object) return undefined;
    const key = node.lastChild;
    const name =
      key?.name === "PropertyName"
        ? this.text(key)
        : unquoted(this.text(node.getChild("String") ?? { from: 0, to: 0 }));
    return this.#part(object, name, node.getChild("[") !== null && node.getChild("String") === null);
  }

  /** A part of something by its name, or an item of a list. */
  async #part(object: Found, name: string, isItem = false): Promise<Found | undefined> {
    if (object.kind === "servers") {
      const { servers } = await this.#names.editor();
      const server = servers.find((each) => each.name === name || each.jsName === name);
      return server && { kind: "server", name: server.name };
    }
    if (object.kind === "server") {
      const tool = await this.tool(object.name, name);
      return tool && { kind: "tool", server: object.name, tool };
    }
    if (object.kind === "tool") return undefined;
    if (isItem) return object.type.items && { kind: "value", type: object.type.items };
    const field = fieldOf(object.type, name);
    return field && { kind: "value", type: field.type, field };
  }

  async #call(node: SyntaxNode): Promise<Found | undefined> {
    const callee = node.firstChild;
    const called = await this.of(callee);
    if (called?.kind === "tool") return called.tool.result && { kind: "value", type: called.tool.result };
    if (callee?.name !== "MemberExpression") return undefined;
    const type = await this.type(callee.firstChild);
    const returned = listMethods[this.text(callee.lastChild ?? callee)];
    if (!type?.items || !returned) return undefined;
    return { kind: "value", type: returned === "list" ? type : type.items };
  }

  async #variable(node: SyntaxNode): Promise<Found | undefined> {
    const name = this.text(node);
    for (let scope = node.parent, inner = node; scope; inner = scope, scope = scope.parent) {
      const found = await this.#declaredIn(scope, inner, name);
      if (found) return found === "unknown" ? undefined : found;
    }
    if (name === "servers") return { kind: "servers" };
    const { servers } = await this.#names.editor();
    const server = servers.find(({ jsName }) => jsName === name);
    return server && { kind: "server", name: server.name };
  }

  /** What a scope declares a name as. `inner` is the part of the scope in which the name is used. */
  async #declaredIn(scope: SyntaxNode, inner: SyntaxNode, name: string): Promise<Found | "unknown" | undefined> {
    if (scope.name === "ArrowFunction" || scope.name === "FunctionExpression") return this.#parameter(scope, name);
    if (scope.name === "ForStatement") return this.#loopVariable(scope, name);
    if (scope.name !== "Script" && scope.name !== "Block") return undefined;
    for (const statement of scope.getChildren("VariableDeclaration")) {
      if (statement.from >= inner.to) break;
      const declared = await this.#declared(statement, inner, name);
      if (declared) return declared;
    }
    return undefined;
  }

  /** The variables of `const a = 1, { b } = c` stand in a row, each with its value behind it. */
  async #declared(statement: SyntaxNode, inner: SyntaxNode, name: string): Promise<Found | "unknown" | undefined> {
    for (let part = statement.firstChild; part; part = part.nextSibling) {
      const path = this.#pathTo(name, part);
      if (!path) continue;
      // A variable in its own value has no type yet.
      if (statement.from <= inner.from && inner.to <= statement.to) return "unknown";
      let value = part.nextSibling;
      while (value && value.name !== "Equals" && value.name !== ",") value = value.nextSibling;
      return value?.name === "Equals" ? this.#along(path, await this.of(value.nextSibling)) : "unknown";
    }
    return undefined;
  }

  async #loopVariable(loop: SyntaxNode, name: string): Promise<Found | "unknown" | undefined> {
    const spec = loop.getChild("ForOfSpec");
    const [, variable] = [spec?.getChild("("), spec?.getChild("VariableDefinition") ?? spec?.getChild("ObjectPattern")];
    const path = variable && this.#pathTo(name, variable);
    if (!spec || !path) return undefined;
    const type = await this.type(spec.getChild("of")?.nextSibling ?? null);
    return this.#along(path, type?.items && { kind: "value", type: type.items });
  }

  /** The parameter of a function that is given to a method of a list. */
  async #parameter(made: SyntaxNode, name: string): Promise<Found | "unknown" | undefined> {
    const parameters = [];
    for (let each = made.getChild("ParamList")?.firstChild ?? null; each; each = each.nextSibling) {
      if (each.name === "VariableDefinition" || each.name === "ObjectPattern" || each.name === "ArrayPattern")
        parameters.push(each);
    }
    const place = parameters.findIndex((each) => this.#pathTo(name, each));
    const parameter = parameters[place];
    if (!parameter) return undefined;
    const callee = made.parent?.name === "ArgList" ? made.parent.parent?.firstChild : undefined;
    if (callee?.name !== "MemberExpression") return "unknown";
    const method = this.text(callee.lastChild ?? callee);
    // The function of a sort has two items.
    const isItem = itemParameter[method] === place || (/sort/i.test(method) && place === 1);
    const type = isItem ? await this.type(callee.firstChild) : undefined;
    return this.#along(this.#pathTo(name, parameter)!, type?.items && { kind: "value", type: type.items });
  }

  /** The fields that lead from a value to a variable in its pattern. Empty for the variable itself; undefined if it is not there. */
  #pathTo(name: string, pattern: SyntaxNode): string[] | undefined {
    if (pattern.name === "VariableDefinition") return this.text(pattern) === name ? [] : undefined;
    if (pattern.name !== "ObjectPattern") return undefined;
    for (const property of pattern.getChildren("PatternProperty")) {
      const key = property.firstChild;
      if (!key) continue;
      const target = property.getChild("VariableDefinition") ?? property.getChild("ObjectPattern");
      const path = target && this.#pathTo(name, target);
      if (path) return [unquoted(this.text(key)), ...path];
    }
    return undefined;
  }

  async #along(path: readonly string[], from: Found | undefined): Promise<Found | "unknown"> {
    let found = from;
    for (const name of path) found = found && (await this.#part(found, name));
    return found ?? "unknown";
  }
}

function fieldOf(type: PageType | undefined, name: string): PageField | undefined {
  return type?.fields?.find((each) => each.name === name);
}

export function unquoted(text: string): string {
  return text.replace(/^(["'])(.*)\1$/, "$2");
}
