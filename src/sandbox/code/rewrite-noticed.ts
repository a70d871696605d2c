/** Marks places that may go wrong without an error, so that the guest can tell if they do. */
import type {
  CallExpression,
  ForInStatement,
  MemberExpression,
  Node,
  Program,
  ThrowStatement,
  VariableDeclarator,
} from "acorn";
import { ancestor } from "acorn-walk";
import { Lines } from "../ast/lines.ts";
import { allOf, isNamed, propertyName } from "../ast/nodes.ts";
import type { Edits } from "./edits.ts";

export function rewriteNoticed(program: Program, code: string, edits: Edits): void {
  if (/\.\s*(?:sort|toSorted)\s*\(\s*\)/.test(code)) rewriteSorts(program, code, edits);
  if (/\bin\b/.test(code)) rewriteForIn(program, code, edits);
  if (/\bthrow\b/.test(code)) rewriteThrows(program, edits);
}

/** `totals.sort()` compares numbers as text. */
function rewriteSorts(program: Program, code: string, edits: Edits): void {
  const lines = new Lines(code);
  ancestor(program, {
    CallExpression(call: CallExpression, _: unknown, ancestors: Node[]) {
      const { callee } = call;
      if (call.arguments.length > 0 || callee.type !== "MemberExpression" || callee.computed) return;
      if (!/^(?:sort|toSorted)$/.test(code.slice(callee.property.start, callee.property.end))) return;
      // What comes after `?.` must stay one chain.
      if (ancestors.some((node) => node.type === "ChainExpression")) return;
      if (isOrderFree(ancestors, code)) return;
      edits.wrap(call, "__notice.sorted(", `, ${lines.at(callee.property.start).line})`);
    },
  });
}

/**
 * Whether the sorted list only becomes a text, as in `JSON.stringify(ids.sort())`: any fixed order will do for a key.
 */
function isOrderFree(ancestors: readonly Node[], code: string): boolean {
  const [call, parent] = ancestors.toReversed();
  if (parent?.type === "CallExpression")
    return call !== (parent as CallExpression).callee && textOf(parent, code) === "JSON.stringify";
  return (
    parent?.type === "MemberExpression" &&
    /^\.\s*(?:join|toString|every|some|includes|length)\b/.test(code.slice(call?.end))
  );
}

function textOf(call: Node, code: string): string {
  const { callee } = call as CallExpression;
  return code.slice(callee.start, callee.end);
}

/** `for (const order in orders)`, where the loop uses its variable as an order. */
function rewriteForIn(program: Program, code: string, edits: Edits): void {
  const lines = new Lines(code);
  for (const { start, left, right, body } of allOf<ForInStatement>("ForInStatement", program)) {
    const target = left.type === "VariableDeclaration" ? left.declarations[0]?.id : left;
    if (target?.type !== "Identifier" || !isUsedAsElement(target.name, body)) continue;
    edits.wrap(right, "__notice.keys(", `, ${lines.at(start).line}, ${JSON.stringify(target.name)})`);
  }
}

/** Whether the loop reads properties of the variable that no string has, or destructures it. */
function isUsedAsElement(name: string, body: Node): boolean {
  return (
    allOf<MemberExpression>("MemberExpression", body).some((member) => {
      return isNamed(member.object, name) && !member.computed && !((propertyName(member) ?? "") in String.prototype);
    }) ||
    allOf<VariableDeclarator>("VariableDeclarator", body).some(
      ({ id, init }) => id.type === "ObjectPattern" && isNamed(init, name),
    )
  );
}

/** A thrown value that is not an Error has no stack. */
function rewriteThrows(program: Program, edits: Edits): void {
  for (const { argument } of allOf<ThrowStatement>("ThrowStatement", program)) {
    // `null` is what the engine throws when it has no memory left: it stays as it is.
    if (argument.type === "Literal" && argument.value === null) continue;
    if (/^(?:Literal|TemplateLiteral|BinaryExpression|ObjectExpression)$/.test(argument.type)) {
      edits.wrap(argument, "__notice.thrown(", ")");
    }
  }
}
