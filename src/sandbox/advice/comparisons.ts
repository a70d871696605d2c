/** `order.status === "completed"`: comparisons with a string that the property never is. */
import type { BinaryExpression, Literal, Node, SwitchStatement } from "acorn";
import { isObject } from "../../json-object.ts";
import { misspelling } from "../../near-names.ts";
import { isCall, isMember, isWithin, propertyName } from "../ast/nodes.ts";
import { isSameName } from "../ast/tool-names.ts";
import type { Tree } from "../ast/tree.ts";
import type { Output } from "../suspicion.ts";
import type { Surroundings } from "./surroundings.ts";

/** A property with more different values is not a set of choices. */
const maxChoices = 12;

/**
 * Certain if the values differ from the string only in their spelling, or if the server declares the choices, the string
 * is none of them, and the program found nothing.
 */
export function neverTrue({ json = "", logs }: Output, around: Surroundings): string[] {
  const { tree } = around.values;
  const isEmpty = logs.length === 0 && /^(?:|0|\[\]|\{\}|null|""|\{"\w+":(?:0|\[\])\})$/.test(json);
  const all = comparisons(tree);
  return all.flatMap((comparison) => {
    const { node, property, text, isEqual } = comparison;
    const distinct = [...new Set(around.values.of(property)?.values)];
    const texts = distinct.filter((each): each is string => typeof each === "string");
    const wanted = text.value;
    if (texts.length === 0 || texts.length < distinct.length || texts.length > maxChoices || texts.includes(wanted))
      return [];
    const declared = isMember(property) ? choicesOf(propertyName(property) ?? "", around, texts) : undefined;
    const choices = declared ?? texts;
    if (choices.includes(wanted)) return [];
    // Programs that try several spellings may include one that exists.
    if (alternatives(comparison, all, tree).some((each) => choices.includes(each))) return [];
    if (!choices.some((each) => isSameName(each, wanted)) && !(declared && isEqual && isEmpty)) return [];
    const near = misspelling(wanted, choices);
    const listed = choices.slice(0, maxChoices).map((each) => JSON.stringify(each));
    const meant = near === undefined ? "" : ` Did you mean ${JSON.stringify(near)}?`;
    const what = declared ? "it can be" : "it was";
    return `line ${tree.line(node)}: ${tree.text(property)} is never ${JSON.stringify(wanted)}: ${what} ${listed.join(", ")}.${meant}`;
  });
}

/** The strings that the same property is compared with in one condition or switch. */
function alternatives({ node, property }: Comparison, all: Comparison[], tree: Tree): string[] {
  const isOuter = ({ type }: Node) => type === "LogicalExpression" || type === "SwitchStatement";
  const outer = [...tree.ancestors(node)].filter(isOuter).at(-1) ?? node;
  return all.flatMap((each) => {
    return isWithin(each.node, outer) && tree.text(each.property) === tree.text(property) ? [each.text.value] : [];
  });
}

interface Comparison {
  node: Node;
  property: Node;
  text: Literal & { value: string };
  /** The code asks for equality, not for inequality. */
  isEqual: boolean;
}

/** `a.b === "c"`, `["c", "d"].includes(a.b)`, and the cases of a switch. */
function comparisons(tree: Tree): Comparison[] {
  return tree.nodes.flatMap((node): Comparison[] => {
    if (node.type === "BinaryExpression") {
      const { left, right, operator } = node as BinaryExpression;
      if (!/^[!=]==?$/.test(operator)) return [];
      const [property, text]: Node[] = isText(right) ? [left, right] : [right, left];
      return property && text && isText(text) ? [{ node, property, text, isEqual: !operator.startsWith("!") }] : [];
    }
    if (node.type === "SwitchStatement") {
      const { discriminant, cases } = node as SwitchStatement;
      return cases.flatMap(({ test }) =>
        test && isText(test) ? [{ node: test, property: discriminant, text: test, isEqual: true }] : [],
      );
    }
    if (!isCall(node) || !isMember(node.callee) || propertyName(node.callee) !== "includes") return [];
    const { object } = node.callee;
    const [property] = node.arguments;
    const texts = object.type === "ArrayExpression" && property ? object.elements : [];
    return texts.flatMap((text) => (text && property && isText(text) ? [{ node, property, text, isEqual: true }] : []));
  });
}

function isText(node: Node): node is Literal & { value: string } {
  return node.type === "Literal" && typeof (node as Literal).value === "string";
}

/**
 * The values that an argument of the same name may have on the called servers, if they include all values that were
 * seen.
 */
function choicesOf(name: string, { scope, calls }: Surroundings, seen: string[]): string[] | undefined {
  const called = scope.namespaces.filter((each) => calls.some(({ tool }) => tool.startsWith(`${each.name}.`)));
  const fitting = called.flatMap(({ functions }) =>
    (functions === "any" ? [] : functions).flatMap(({ inputSchema }) => {
      const properties = isObject(inputSchema) ? inputSchema["properties"] : undefined;
      const property = isObject(properties) ? properties[name] : undefined;
      const choices = isObject(property) ? property["enum"] : undefined;
      return Array.isArray(choices) && seen.every((each) => choices.includes(each)) ? [choices.map(String)] : [];
    }),
  );
  return fitting.length > 0 ? [...new Set(fitting.flat())] : undefined;
}
