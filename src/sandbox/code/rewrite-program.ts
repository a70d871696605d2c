/** Gives a program its value: its last expression or its `main`. Marks promises that nothing awaits. */
import type { CallExpression, Expression, ExpressionStatement, Identifier, Node, Program, Statement } from "acorn";
import { ancestor } from "acorn-walk";
import { allOf, isCall, isFunction, isMember, isNamed, propertyName } from "../ast/nodes.ts";
import type { Edits, Range } from "./edits.ts";
import type { ModuleForm } from "./rewrite-modules.ts";
import { rewriteNoticed } from "./rewrite-noticed.ts";

/**
 * The value of a program is what it returns; else its last expression; else the result of its default export, or of a
 * `main` that nothing calls. Calls whose result is dropped are marked, so that the guest waits for them.
 */
export function rewriteProgram(program: Program, code: string, edits: Edits, { exportsDefault }: ModuleForm): void {
  const values = new Map<Node, { awaited: boolean }>();
  const last = program.body.at(-1);
  if (last) finalExpressions(last as Statement, values);
  for (const [statement, { awaited }] of values) {
    const { expression } = statement as ExpressionStatement;
    const { start, end } = expressionRange(statement, code);
    // The value of `void main()` at the end is the value of main.
    const voided = expression.type === "UnaryExpression" && expression.operator === "void" ? "void".length : 0;
    edits.replace({ start, end: start + voided }, awaited ? "return (await (" : "return (");
    edits.insert(end, awaited ? "))" : ")");
  }
  for (const [statement, floating] of floatingStatements(program, code)) {
    if (!values.has(statement)) edits.wrap(floating, "__watch(", ")");
  }
  for (const callback of floatingCallbacks(program)) edits.wrap(callback, "__watch.each(", ")");
  for (const timer of workTimers(program)) edits.wrap(timer, "__watch.timer(", ")");
  for (const call of forgottenCalls(program)) edits.wrap(call, "__watch(", ")");
  rewriteNoticed(program, code, edits);
  if (values.size > 0 || returnsAtTop(program)) return;
  const main = exportsDefault ? "__exports.default" : uncalledMain(program);
  if (main) edits.insert(code.length, `\nreturn typeof ${main} === "function" ? ${main}() : ${main};`);
}

/**
 * The statements that give a last statement its value: itself, or the last ones of its branches. In a `try`, the value
 * is awaited, so that its `catch` sees a failure.
 */
function finalExpressions(statement: Statement, found: Map<Node, { awaited: boolean }>, awaited = false): void {
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

/** `module.exports = …` and `exports.name = …` are not the value of a program. */
function assignsExports(expression: Expression): boolean {
  if (expression.type !== "AssignmentExpression" || expression.left.type !== "MemberExpression") return false;
  const { object, property } = expression.left;
  const names = [object, property].map((node) => (node.type === "Identifier" ? node.name : ""));
  if (object.type === "MemberExpression") return assignsExports({ ...expression, left: object });
  return names[0] === "exports" || (names[0] === "module" && names[1] === "exports");
}

function returnsAtTop(program: Program): boolean {
  const returns = (node: Statement): boolean => {
    switch (node.type) {
      case "ReturnStatement":
        return true;
      case "BlockStatement":
        return node.body.some(returns);
      case "IfStatement":
        return returns(node.consequent) || (node.alternate ? returns(node.alternate) : false);
      case "ForStatement":
      case "ForInStatement":
      case "ForOfStatement":
      case "WhileStatement":
      case "DoWhileStatement":
      case "LabeledStatement":
        return returns(node.body);
      case "SwitchStatement":
        return node.cases.some(({ consequent }) => consequent.some(returns));
      case "TryStatement":
        return [node.block, node.handler?.body, node.finalizer].some((block) => block && returns(block));
      default:
        return false;
    }
  };
  return program.body.some((node) => returns(node as Statement));
}

/** `main`, if the program declares it at the top level and does not mention it again. */
function uncalledMain(program: Program): string | undefined {
  const declared = program.body.some(
    (node) =>
      (node.type === "FunctionDeclaration" && node.id.name === "main") ||
      (node.type === "VariableDeclaration" &&
        node.declarations.some(({ id, init }) => isNamed(id, "main") && isFunction(init))),
  );
  return declared && mentionsIn(program).get("main") === 1 ? "main" : undefined;
}

/** How often each name is mentioned. */
function mentionsIn(program: Program): Map<string, number> {
  const mentions = new Map<string, number>();
  for (const { name } of allOf<Identifier>("Identifier", program)) mentions.set(name, (mentions.get(name) ?? 0) + 1);
  return mentions;
}

/** The expression of a statement with its parentheses, which the tree leaves out, and without the semicolon. */
function expressionRange({ start, end }: Node, code: string): Range {
  return { start, end: code[end - 1] === ";" ? end - 1 : end };
}

/** Methods that return no promise. Marking them would only slow down loops. */
const settledMethods = new Set("push set add delete sort log warn error info debug unshift".split(" "));

/** Statements that call something and drop the result, which may be a promise; and the range of the call. */
function floatingStatements(program: Program, code: string): [ExpressionStatement, Range][] {
  const statements = allOf<ExpressionStatement>("ExpressionStatement", program);
  return statements.flatMap((statement): [ExpressionStatement, Range][] => {
    const { expression } = statement;
    const call = calledIn(expression);
    if (!call || call.callee.type === "Super") return [];
    if (isMember(call.callee) && settledMethods.has(propertyName(call.callee) ?? "")) return [];
    // In `void main();`, the promise is the operand of `void`.
    return [[statement, expression.type === "UnaryExpression" ? call : expressionRange(statement, code)]];
  });
}

function calledIn(expression: Expression): CallExpression | undefined {
  if (expression.type === "CallExpression") return expression;
  if (expression.type === "UnaryExpression") return calledIn(expression.argument);
  return expression.type === "LogicalExpression" ? calledIn(expression.right) : undefined;
}

/** Async callbacks of `forEach`, which drops their promises. */
function floatingCallbacks(program: Program): Node[] {
  return allOf<CallExpression>("CallExpression", program).flatMap(({ callee, arguments: [callback] }) => {
    const isForEach = isMember(callee) && propertyName(callee) === "forEach";
    return isForEach && isFunction(callback) && callback.async ? [callback] : [];
  });
}

/** Timers outside of `new Promise(…)`: they are set for their callback, not to wait. */
function workTimers(program: Program): CallExpression[] {
  const found: CallExpression[] = [];
  ancestor(program, {
    CallExpression(call: CallExpression, _: unknown, ancestors: Node[]) {
      if (call.callee.type !== "Identifier" || !timerNames.has(call.callee.name)) return;
      if (!ancestors.some(isNewPromise)) found.push(call);
    },
  });
  return found;
}

const timerNames = new Set(["setTimeout", "setInterval", "setImmediate"]);

function isNewPromise(node: Node): boolean {
  const { callee } = node as Node & { callee?: Node & { name?: string } };
  return node.type === "NewExpression" && callee?.name === "Promise";
}

/** `const done = run();` at the top level, if done is never used. */
function forgottenCalls(program: Program): CallExpression[] {
  const declared = program.body.flatMap((node) => (node.type === "VariableDeclaration" ? node.declarations : []));
  const held = declared.flatMap(({ id, init }) =>
    id.type === "Identifier" && isCall(init) ? [{ name: id.name, call: init }] : [],
  );
  const mentions = held.length > 0 ? mentionsIn(program) : undefined;
  return held.flatMap(({ name, call }) => (mentions?.get(name) === 1 ? [call] : []));
}
