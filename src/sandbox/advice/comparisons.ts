/** `order.status === "completed"`: a comparison with a text that the property never is. */
import type { BinaryExpression, Literal, Node, SwitchStatement } from "acorn";
import { misspelling } from "../../near-names.ts";
import { isRecord } from "../ast/literals.ts";
import { isCall, isMember, propertyName } from "../ast/nodes.ts";
import type { Tree } from "../ast/tree.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Result } from "./warnings.ts";

const maxChoices = 12;
/** Fewer values than that show no set of choices. */
const minSeen = 5;

export function neverTrue({ json = "", logs }: Result, around: Surroundings): string[] {
  const { tree } = around.values;
  const isEmpty = logs.length === 0 && /^(?:|0|\[\]|\{\}|null|""|\{"\w+":(?:0|\[\])\})$/.test(json);
  const all = comparisons(tree);
  return all.flatMap((comparison) => {
    const { node, property, text } = comparison;
    const values = around.values.of(property)?.values ?? [];
    const distinct = [...new Set(values)];
    const texts = distinct.filter((each): each is string => typeof each === "string");
    const wanted = text.value;
    if (texts.length === 0 || texts.length < distinct.length || texts.length > maxChoices || texts.includes(wanted))
      return [];
    const choices = isMember(property) ? choicesOf(propertyName(property) ?? "", around, texts) : undefined;
    // One of several spellings that are tried.
    if (alternatives(comparison, all, tree).some((each) => (choices ?? texts).includes(each))) return [];
    const near = misspelling(wanted, choices ?? texts);
    const isAlike = texts.some((each) => sameWord(each, wanted));
    const isCertain = choices ? !choices.includes(wanted) : isAlike || (isEmpty && values.length >= minSeen);
    if (!isCertain) return [];
    const listed = (choices ?? texts).slice(0, maxChoices).map((each) => JSON.stringify(each));
    const meant = near === undefined ? "" : ` Did you mean ${JSON.stringify(near)}?`;
    const what = choices ? "it can be" : "it was";
    return `line ${tree.line(node)}: ${tree.text(property)} is never ${JSON.stringify(wanted)}: ${what} ${listed.join(", ")}.${meant}`;
  });
}

/** The other texts that the same property is compared with in one condition. */
function alternatives({ node, property }: Comparison, all: Comparison[], tree: Tree): string[] {
  const outer = [...tree.ancestors(node)].filter((each) => each.type === "LogicalExpression").at(-1) ?? node;
  return all.flatMap((each) => {
    const isSame = outer.start <= each.node.start && each.node.end <= outer.end;
    return isSame && tree.text(each.property) === tree.text(property) ? [each.text.value] : [];
  });
}

interface Comparison {
  node: Node;
  property: Node;
  text: Literal & { value: string };
}

/** `a.b === "c"`, `["c", "d"].includes(a.b)`, and the cases of a switch. */
function comparisons(tree: Tree): Comparison[] {
  return tree.nodes.flatMap((node): Comparison[] => {
    if (node.type === "BinaryExpression") {
      const { left, right, operator } = node as BinaryExpression;
      if (!/^[!=]==?$/.test(operator)) return [];
      const [property, text]: Node[] = isText(right) ? [left, right] : [right, left];
      return property && text && isText(text) ? [{ node, property, text }] : [];
    }
    if (node.type === "SwitchStatement") {
      const { discriminant, cases } = node as SwitchStatement;
      return cases.flatMap(({ test }) =>
        test && isText(test) ? [{ node: test, property: discriminant, text: test }] : [],
      );
    }
    if (!isCall(node) || !isMember(node.callee) || propertyName(node.callee) !== "includes") return [];
    const { object } = node.callee;
    const [property] = node.arguments;
    const texts = object.type === "ArrayExpression" && property ? object.elements : [];
    return texts.flatMap((text) => (text && property && isText(text) ? [{ node, property, text }] : []));
  });
}

function isText(node: Node): node is Literal & { value: string } {
  return node.type === "Literal" && typeof (node as Literal).value === "string";
}

/** The values that arguments of the same name may have, on the servers that were called, where all that were seen are among them. */
function choicesOf(name: string, { scope, calls }: Surroundings, seen: string[]): string[] | undefined {
  const called = scope.namespaces.filter((each) => calls.some(({ tool }) => tool.startsWith(`${each.name}.`)));
  const fitting = called.flatMap(({ functions }) =>
    (functions === "any" ? [] : functions).flatMap(({ inputSchema }) => {
      const properties = isRecord(inputSchema) ? inputSchema["properties"] : undefined;
      const property = isRecord(properties) ? properties[name] : undefined;
      const choices = isRecord(property) ? property["enum"] : undefined;
      return Array.isArray(choices) && seen.every((each) => choices.includes(each)) ? [choices.map(String)] : [];
    }),
  );
  return fitting.length > 0 ? [...new Set(fitting.flat())] : undefined;
}

/** The same letters in another writing. */
function sameWord(a: string, b: string): boolean {
  return a.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "") === b.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}
