/** `order.status === "completed"`: comparisons with a string that the property never is. */
import type { Literal } from "acorn";
import { objectAt } from "../../base/json-object.ts";
import { misspelling } from "../../base/near-names.ts";
import { isMember, isWithin, methodName, type Node, propertyName } from "../ast/nodes.ts";
import { isSameName } from "../ast/tool-names.ts";
import type { Tree } from "../ast/tree.ts";
import { maxChoices } from "../limits.ts";
import type { ProgramOutput } from "../suspect-output.ts";
import { mayNotHaveRun } from "./guards.ts";
import { areTexts } from "./shapes.ts";
import type { Surroundings } from "./surroundings.ts";

/**
 * Certain if the values differ from the string only in their spelling, or if the server declares the choices, the string
 * is none of them, and the program found nothing.
 */
export function neverTrue({ json = "", logs }: ProgramOutput, around: Surroundings): string[] {
  const { tree, values } = around;
  const isEmpty = logs.length === 0 && /^(?:|0|\[\]|\{\}|null|""|\{"\w+":(?:0|\[\])\})$/.test(json);
  const all = tree.nodes.flatMap(comparisonsIn);
  return all.flatMap((comparison) => {
    const { node, property, wanted, isEqual } = comparison;
    const seen = [...new Set(values.of(property)?.values)];
    if (seen.length === 0 || seen.length > maxChoices || !areTexts(seen) || mayNotHaveRun(property, around)) return [];
    const declared = isMember(property) ? choicesOf(propertyName(property) ?? "", around, seen) : undefined;
    const choices = declared ?? seen;
    // Programs that try several spellings may include one that exists.
    const tried = [wanted, ...alternatives(comparison, all, tree)];
    const isMisspelt = choices.some((each) => isSameName(each, wanted));
    if (tried.some((each) => choices.includes(each)) || !(isMisspelt || (declared && isEqual && isEmpty))) return [];
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
  const outer = tree.ancestors(node).filter(isOuter).toArray().at(-1) ?? node;
  const same = all.filter((each) => isWithin(each.node, outer) && tree.text(each.property) === tree.text(property));
  return same.map((each) => each.wanted);
}

interface Comparison {
  node: Node;
  property: Node;
  wanted: string;
  /** The code asks for equality, not for inequality. */
  isEqual: boolean;
}

/** `a.b === "c"`, `["c", "d"].includes(a.b)`, and the cases of a switch. */
function comparisonsIn(node: Node): Comparison[] {
  if (node.type === "BinaryExpression" && /^[!=]==?$/.test(node.operator)) {
    const { left, right } = node;
    const [property, text] = isText(right) ? [left, right] : [right, left];
    const isEqual = !node.operator.startsWith("!");
    return isText(text) ? [{ node, property, wanted: text.value, isEqual }] : [];
  }
  if (node.type === "SwitchStatement") {
    return node.cases.flatMap(({ test }) => {
      return isText(test) ? [{ node: test, property: node.discriminant, wanted: test.value, isEqual: true }] : [];
    });
  }
  if (node.type !== "CallExpression" || methodName(node) !== "includes") return [];
  const [property] = node.arguments;
  const list = isMember(node.callee) && node.callee.object.type === "ArrayExpression" ? node.callee.object : undefined;
  if (!property || !list) return [];
  return list.elements.filter(isText).map(({ value: wanted }) => ({ node, property, wanted, isEqual: true }));
}

function isText(node: Node | null | undefined): node is Literal & { value: string } {
  return node?.type === "Literal" && typeof node.value === "string";
}

/**
 * The values that an argument of the same name may have on the called servers, if they include all values that were
 * seen.
 */
function choicesOf(name: string, { namespaces, calls }: Surroundings, seen: string[]): string[] | undefined {
  const called = namespaces.filter((each) => calls.some(({ tool }) => tool.startsWith(`${each.name}.`)));
  const functions = called.flatMap((each) => (each.functions === "any" ? [] : each.functions));
  const fitting = functions.flatMap(({ inputSchema }) => {
    const choices = objectAt(inputSchema, ["properties", name])["enum"];
    return Array.isArray(choices) && seen.every((each) => choices.includes(each)) ? choices.map(String) : [];
  });
  return fitting.length > 0 ? [...new Set(fitting)] : undefined;
}
