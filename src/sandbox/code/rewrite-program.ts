/** Gives a program its value, turns its imports and exports into calls of the loader, and marks promises that nothing awaits. */

import { posix } from "node:path";
import type {
  AssignmentExpression,
  CallExpression,
  ExportAllDeclaration,
  ExportDefaultDeclaration,
  ExportNamedDeclaration,
  Expression,
  ExpressionStatement,
  Identifier,
  ImportDeclaration,
  Literal,
  Statement,
} from "acorn";
import { isCall, isFunction, isMember, isNamed, methodName, type Node, propertyName } from "../ast/nodes.ts";
import { boundPaths, type Tree } from "../ast/tree.ts";
import type { Edits, Range } from "./edits.ts";
import { rewriteNoticed } from "./rewrite-silent-mistakes.ts";

/**
 * The value of a program is the value that it returns. A program without `return` has the value of its last expression; if that is a
 * function, the function is called. Otherwise the value is the result of its default export, or of a `main` function that nothing calls.
 * Calls whose result is dropped are marked, so that the guest waits for them.
 */
export function rewriteProgram(tree: Tree, edits: Edits, exportsDefault: boolean): void {
  const { program, code } = tree;
  const values = new Map<ExpressionStatement, { awaited: boolean }>();
  const last = program.body.at(-1);
  if (last) finalExpressions(last as Statement, values);
  for (const [{ expression, start, end }, { awaited }] of values) {
    const close = code[end - 1] === ";" ? end - 1 : end;
    // The value of `void main()` at the end is the value of main.
    const voided = expression.type === "UnaryExpression" && expression.operator === "void" ? "void".length : 0;
    // A function that nothing calls is the program itself, as other code modes teach it.
    const called = isFunction(expression) ? "()" : "";
    edits.replace({ start, end: start + voided }, awaited ? "return (await (" : "return (");
    edits.insert(close, `${awaited ? "))" : ")"}${called}`);
  }
  for (const statement of tree.all("ExpressionStatement")) {
    const floating = values.has(statement) ? undefined : floatingIn(statement, code);
    if (floating) edits.wrap(floating, "__watch(", ")");
  }
  for (const call of tree.all("CallExpression")) {
    const [callback] = call.arguments;
    // forEach drops the promises of its callback.
    if (methodName(call) === "forEach" && isFunction(callback) && callback.async) {
      edits.wrap(callback, "__watch.each(", ")");
    }
    if (isWorkTimer(call, tree)) edits.wrap(call, "__watch.timer(", ")");
  }
  const declared = program.body.flatMap((node) => (node.type === "VariableDeclaration" ? node.declarations : []));
  for (const { id, init } of declared) {
    // `const done = run();`, if done is never used.
    if (isCall(init) && isUnused(id, tree)) edits.wrap(init, "__watch(", ")");
  }
  rewriteNoticed(tree, edits);
  if (values.size > 0 || returnsAtTop(program.body)) return;
  const isMain = ({ id, init }: { id: Node; init?: Node | null }) =>
    isNamed(id, "main") && isFunction(init) && isUnused(id, tree);
  const hasMain =
    declared.some(isMain) ||
    program.body.some((node) => node.type === "FunctionDeclaration" && isMain({ id: node.id, init: node }));
  const assigned = program.body.flatMap((node) => exportedBy(node) ?? []).at(-1);
  const main = exportsDefault ? "__exports.default" : (assigned ?? (hasMain ? "main" : undefined));
  if (!main) return;
  // `module.exports = { main }` exports a function to other modules. It is not a result.
  const value = `Object.values(Object(${main})).some((each) => typeof each === "function") ? undefined : ${main}`;
  edits.insert(code.length, `\nreturn typeof ${main} === "function" ? ${main}() : ${value};`);
}

/** Whether a declared name is not mentioned again. */
function isUnused(name: Node, tree: Tree): boolean {
  return tree.binding(name)?.references.length === 1;
}

/**
 * The statements that give a last statement its value: itself, or the last ones of its branches. In a `try`, the value
 * is awaited, so that its `catch` sees a failure.
 */
function finalExpressions(
  statement: Statement,
  found: Map<ExpressionStatement, { awaited: boolean }>,
  awaited = false,
): void {
  switch (statement.type) {
    case "ExpressionStatement":
      if (!assignsExports(statement.expression)) found.set(statement, { awaited });
      break;
    case "BlockStatement": {
      const last = statement.body.at(-1);
      if (last) finalExpressions(last, found, awaited);
      break;
    }
    case "IfStatement":
      finalExpressions(statement.consequent, found, awaited);
      if (statement.alternate) finalExpressions(statement.alternate, found, awaited);
      break;
    case "TryStatement":
      finalExpressions(statement.block, found, true);
      if (statement.handler) finalExpressions(statement.handler.body, found, awaited);
      break;
  }
}

/** The export that stands for the whole program: `module.exports = …` or `exports.default = …`. */
function exportedBy(statement: Node): string | undefined {
  if (statement.type !== "ExpressionStatement" || !assignsExports(statement.expression)) return undefined;
  const { left } = statement.expression as AssignmentExpression;
  const isWhole = isMember(left) && isNamed(left.object, "module");
  if (isWhole) return "module.exports";
  return isMember(left) && propertyName(left) === "default" ? "module.exports.default" : undefined;
}

/** `module.exports = …` and `exports.name = …` are not the value of a program. */
function assignsExports(expression: Expression): boolean {
  if (expression.type !== "AssignmentExpression" || expression.left.type !== "MemberExpression") return false;
  const { object, property } = expression.left;
  const names = [object, property].map((node) => (node.type === "Identifier" ? node.name : ""));
  if (object.type === "MemberExpression") return assignsExports({ ...expression, left: object });
  return names[0] === "exports" || (names[0] === "module" && names[1] === "exports");
}

/** Whether statements return from the program itself. */
function returnsAtTop(statements: readonly (Node | null | undefined)[]): boolean {
  return statements.some((node): boolean => {
    switch (node?.type) {
      case "ReturnStatement":
        return true;
      case "BlockStatement":
        return returnsAtTop(node.body);
      case "IfStatement":
        return returnsAtTop([node.consequent, node.alternate]);
      case "ForStatement":
      case "ForInStatement":
      case "ForOfStatement":
      case "WhileStatement":
      case "DoWhileStatement":
      case "LabeledStatement":
        return returnsAtTop([node.body]);
      case "SwitchStatement":
        return node.cases.some(({ consequent }) => returnsAtTop(consequent));
      case "TryStatement":
        return returnsAtTop([node.block, node.handler?.body, node.finalizer]);
      default:
        return false;
    }
  });
}

/** Methods that return no promise. Marking them would only slow down loops. */
const settledMethods = new Set("push set add delete sort log warn error info debug unshift".split(" "));

/** The call whose result, which may be a promise, a statement drops. */
function floatingIn({ expression, start, end }: ExpressionStatement, code: string): Range | undefined {
  const call = calledIn(expression);
  if (!call || call.callee.type === "Super" || settledMethods.has(methodName(call) ?? "")) return undefined;
  // In `void main();`, the promise is the operand of `void`. The tree leaves out parentheses around an expression.
  return expression.type === "UnaryExpression" ? call : { start, end: code[end - 1] === ";" ? end - 1 : end };
}

function calledIn(expression: Expression): CallExpression | undefined {
  if (expression.type === "CallExpression") return expression;
  if (expression.type === "UnaryExpression") return calledIn(expression.argument);
  return expression.type === "LogicalExpression" ? calledIn(expression.right) : undefined;
}

/** A timer outside of `new Promise(…)` is set for its callback, not to wait. */
function isWorkTimer(call: CallExpression, tree: Tree): boolean {
  const { callee } = call;
  if (callee.type !== "Identifier" || !/^set(?:Timeout|Interval|Immediate)$/.test(callee.name)) return false;
  return !tree.ancestors(call).some((node) => node.type === "NewExpression" && isNamed(node.callee, "Promise"));
}

/**
 * The file that a specifier is written in: undefined for a program, else a module such as
 * `workspace/skills/report.ts`.
 */
type From = string | undefined;

/**
 * Turns imports and exports into calls of the guest's loader, because code runs as the body of a function. Rewrites static and dynamic
 * imports, `import.meta`, and every form of export. Exports become properties of `__exports`. Returns whether the code has `export
 * default`.
 */
export function rewriteModules(tree: Tree, edits: Edits, from: From): boolean {
  let exportsDefault = false;
  for (const node of tree.program.body) {
    if (node.type === "ImportDeclaration") edits.replace(node, importText(node, from));
    else if (node.type === "ExportAllDeclaration") edits.replace(node, exportAllText(node, from));
    else if (node.type === "ExportNamedDeclaration") {
      exportsDefault ||= node.specifiers.some(({ exported }) => nameOf(exported) === "default");
      rewriteNamed(node, edits, from);
    } else if (node.type === "ExportDefaultDeclaration") {
      exportsDefault = true;
      rewriteDefault(node, tree.code, edits);
    }
  }
  for (const { start, source } of tree.all("ImportExpression")) {
    edits.replace({ start, end: start + "import".length }, "__import");
    if (source.type === "Literal" && from !== undefined) edits.replace(source, stringOf(source, from));
  }
  for (const node of tree.all("MetaProperty")) {
    if (node.meta.name !== "import") continue;
    // An imported module is never the main module.
    edits.replace(node, from === undefined ? "__meta" : `({ ...__meta, main: false, url: "file:///${from}" })`);
  }
  return exportsDefault;
}

function importText(node: ImportDeclaration, place: From): string {
  const from = stringOf(node.source, place);
  const members: string[] = [];
  const names: string[] = [];
  let namespace: string | undefined;
  for (const specifier of node.specifiers) {
    const local = specifier.local.name;
    if (specifier.type === "ImportNamespaceSpecifier") namespace = local;
    else {
      const imported = specifier.type === "ImportDefaultSpecifier" ? "default" : nameOf(specifier.imported);
      members.push(`${JSON.stringify(imported)}: ${local}`);
      names.push(imported);
    }
  }
  const load = `await __import(${from}, ${JSON.stringify(names)})`;
  if (namespace !== undefined && members.length === 0) return `const ${namespace} = ${load};`;
  if (namespace !== undefined) return `const ${namespace} = ${load}, { ${members.join(", ")} } = ${namespace};`;
  return members.length > 0 ? `const { ${members.join(", ")} } = ${load};` : `${load};`;
}

function exportAllText({ source, exported }: ExportAllDeclaration, from: From): string {
  const load = `await __import(${stringOf(source, from)})`;
  if (exported) return `__exports[${JSON.stringify(nameOf(exported))}] = ${load};`;
  return `{ const { default: _, ...all } = ${load}; Object.assign(__exports, all); }`;
}

/** Exports are getters: an enum gets its value after its declaration, and a `let` may change. */
function exportText(exported: string, local: string): string {
  return `;Object.defineProperty(__exports, ${JSON.stringify(exported)}, { enumerable: true, configurable: true, get: () => ${local} });`;
}

function rewriteNamed(node: ExportNamedDeclaration, edits: Edits, place: From): void {
  const { declaration, source, specifiers } = node;
  if (declaration) {
    const names =
      declaration.type === "VariableDeclaration"
        ? declaration.declarations.flatMap(({ id }) => boundPaths(id).map(({ name }) => name))
        : [declaration.id.name];
    edits.replace({ start: node.start, end: declaration.start }, "");
    edits.insert(node.end, names.map((name) => exportText(name, name)).join(""));
    return;
  }
  const text = specifiers
    .map(({ local, exported }) =>
      exportText(nameOf(exported), source ? `__from[${JSON.stringify(nameOf(local))}]` : nameOf(local)),
    )
    .join("");
  edits.replace(node, source ? `{ const __from = await __import(${stringOf(source, place)}); ${text} }` : text);
}

function rewriteDefault({ start, end, declaration }: ExportDefaultDeclaration, code: string, edits: Edits): void {
  const named =
    (declaration.type === "FunctionDeclaration" || declaration.type === "ClassDeclaration") && declaration.id?.name;
  if (named) {
    edits.replace({ start, end: declaration.start }, "");
    edits.insert(end, `;__exports.default = ${named};`);
    return;
  }
  edits.replace({ start, end: declaration.start }, "__exports.default = ");
  if (code[end - 1] !== ";") edits.insert(end, ";");
}

function nameOf(node: Identifier | Literal): string {
  return node.type === "Identifier" ? node.name : String(node.value);
}

/**
 * `./other` in a module is a file beside it. In skills, `./servers/…`, `./skills/…` and the like mean the same as in
 * programs.
 */
function stringOf({ value }: Literal, from: From): string {
  const specifier = String(value);
  const isSkill = from?.startsWith("workspace/");
  const shared = isSkill && /^(?:\.{1,2}\/)+(?:servers|skills|workspace|registry)(?:\/|$)/.test(specifier);
  if (from === undefined || shared || !/^\.{1,2}(?:\/|$)/.test(specifier)) return JSON.stringify(value);
  return JSON.stringify(`./${posix.join(posix.dirname(from), specifier)}`);
}
