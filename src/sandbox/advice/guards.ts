/** Whether code is behind a condition that makes it uncertain that it ran: in a branch, after an early end, or in a catch. */
import { isInside, isMember, type Node } from "../ast/nodes.ts";
import type { Tree } from "../ast/tree.ts";
import type { SeenValues } from "./seen-values.ts";
import { asksForKind, truthOf } from "./truth.ts";

interface Around {
  tree: Tree;
  values: SeenValues;
}

/**
 * `about` is an expression in that code. A condition counts if it was false for all values that were seen, or if it asks for the kind of
 * a value that `about` depends on.
 */
export function mayNotHaveRun(about: Node, { tree, values }: Around): boolean {
  const root = tree.binding(rootOf(about));
  const isMeant = (node: Node) => root !== undefined && tree.binding(node) === root;
  const inside = (outer: Node) => tree.nodes.filter((node) => isInside(node, outer));
  const isOpen = (test: Node, wanted: boolean) => {
    const truth = truthOf(test, (node) => values.of(node));
    return truth === undefined ? asksForKind(test, isMeant, inside) : truth !== wanted;
  };
  let inner = about;
  for (const outer of tree.ancestors(about)) {
    if (outer.type === "CatchClause") return true;
    if (guardsOf(outer, inner).some(({ test, wanted }) => isOpen(test, wanted))) return true;
    if (
      outer.type === "SwitchStatement" &&
      outer.discriminant !== inner &&
      asksForKind(outer.discriminant, isMeant, inside)
    )
      return true;
    inner = outer;
  }
  return false;
}

interface Guard {
  test: Node;
  /** The truth with which the code runs. */
  wanted: boolean;
}

/** The conditions of `outer` under which `inner`, a part of it, runs. */
function guardsOf(outer: Node, inner: Node): Guard[] {
  switch (outer.type) {
    case "IfStatement":
    case "ConditionalExpression":
      return outer.test === inner ? [] : [{ test: outer.test, wanted: outer.consequent === inner }];
    case "LogicalExpression":
      return outer.left === inner || outer.operator === "??"
        ? []
        : [{ test: outer.left, wanted: outer.operator === "&&" }];
    case "WhileStatement":
      return outer.body === inner ? [{ test: outer.test, wanted: true }] : [];
    case "Program":
    case "BlockStatement": {
      // `if (!Array.isArray(list)) return;` before it.
      const before = outer.body.slice(0, Math.max(0, outer.body.indexOf(inner as never)));
      return before.flatMap((each) => {
        return each.type === "IfStatement" && !each.alternate && alwaysEnds(each.consequent)
          ? [{ test: each.test, wanted: false }]
          : [];
      });
    }
    default:
      return [];
  }
}

function alwaysEnds(node: Node): boolean {
  const last = node.type === "BlockStatement" ? node.body.at(-1) : node;
  return last !== undefined && /^(?:Return|Throw|Continue|Break)Statement$/.test(last.type);
}

/** `a` of `a.b[0].c`. */
function rootOf(node: Node): Node {
  let root = node;
  while (isMember(root) || root.type === "ChainExpression") root = isMember(root) ? root.object : root.expression;
  return root;
}
