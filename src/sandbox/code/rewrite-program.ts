/** Gives a program its value: its last expression or its `main`. Marks promises that nothing awaits. */
import type { AssignmentExpression, CallExpression, Expression, ExpressionStatement, Statement } from "acorn";
import { isCall, isFunction, isMember, isNamed, methodName, type Node, propertyName } from "../ast/nodes.ts";
import type { Tree } from "../ast/tree.ts";
import type { Edits, Range } from "./edits.ts";
import { rewriteNoticed } from "./rewrite-silent-mistakes.ts";

/**
 * The value of a program is what it returns; else its last expression, or the result if that is a function; else the result of its default
 * export, or of a `main` that nothing calls. Calls whose result is dropped are marked, so that the guest waits for them.
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
  // `module.exports = { main }` is what a script gives to others, and no result.
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
