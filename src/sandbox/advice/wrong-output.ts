/** Explains why an output is empty or contains undefined, if the program and its results show the cause. */
import { isObject } from "../../base/json-object.ts";
import { isInside, isMember, isNamed, keyName, type Node, propertyName } from "../ast/nodes.ts";
import { isSameName } from "../ast/tool-names.ts";
import type { Tree } from "../ast/tree.ts";
import type { ProgramOutput } from "../worker/suspect-output.ts";
import { type Missing, missingProperties, missingText } from "./missing-properties.ts";
import { knownTool } from "./pages.ts";
import type { Seen } from "./seen.ts";
import { keysOf, listKeys, shapeOf } from "./shapes.ts";
import type { Surroundings } from "./surroundings.ts";

/** Warns about properties that no result has and no signature declares, where they certainly spoil the output. */
export function missing(output: ProgramOutput, around: Surroundings): string[] {
  const { tree } = around;
  const hasNaN = showsNaN(output);
  const text = [output.json ?? "", ...output.logs.map((each) => each.text)].join("\n");
  const lostKey = /\.([\w$]+)$/.exec(output.notes?.odd.find(({ kind }) => kind === "undefined")?.path ?? "")?.[1];
  const harms = (each: Missing) =>
    hasNaN ||
    each.below !== undefined ||
    isShownAs(each.node, lostKey, tree) ||
    (each.property === "length" && each.seen.whole) ||
    keysOf(each.seen.values).some((key) => isSameName(key, each.property)) ||
    (text.includes("undefined") && isInText(each.node, tree)) ||
    (text.includes('"undefined":') && each.meant !== undefined);
  const found = [
    ...missingProperties(around).filter(harms),
    ...missingProperties(around, true).filter((each) => isEnvelope(each, output, tree)),
  ];
  const warned = new Set<string>();
  return found.flatMap((each) => {
    const name = `${each.seen.tool}.${each.property}`;
    if (warned.has(name) || isDeclared(each, around)) return [];
    warned.add(name);
    return [`line ${each.line}: ${each.property === "length" ? lengthText(each) : missingText(each)}`];
  });
}

/**
 * Whether the signature of the tool has the property as one that results may lack: it is optional, or in one of several types. A
 * required property that is missing belongs to another object of the result.
 */
function isDeclared({ property, below, seen: { tool = "" } }: Missing, around: Surroundings): boolean {
  const signature = knownTool(tool, around)?.signature ?? "";
  const result = signature.slice(signature.indexOf("Promise<"));
  const named = [...result.matchAll(new RegExp(`[^\\w$]${RegExp.escape(property)}"?\\??:`, "g"))];
  if (below !== undefined && named.length < 2) return false;
  const mark = result.includes("} | {") ? "\\??" : "\\?";
  return property !== "length" && new RegExp(`[^\\w$]${RegExp.escape(property)}"?${mark}:`).test(result);
}

function lengthText(missing: Missing): string {
  const { object, seen } = missing;
  if (!seen.whole) return missingText(missing);
  const lists = listKeys(seen);
  const write = lists.length === 1 ? ` Write ${object}.${lists[0]}.length.` : "";
  return `${object} is ${shapeOf(seen.values)}, not a list, and has no length.${write}`;
}

/** `{ id: order.order_id }`, if the value that was returned has an `id` that is undefined. */
function isShownAs(node: Node, key: string | undefined, tree: Tree): boolean {
  const parent = tree.parent(node);
  return key !== undefined && parent?.type === "Property" && parent.value === node && keyName(parent) === key;
}

/** `${order.total}` and `"Total: " + order.total`. */
function isInText(node: Node, tree: Tree): boolean {
  const parent = tree.parent(node);
  if (parent?.type !== "BinaryExpression") return parent?.type === "TemplateLiteral";
  const { left, right, operator } = parent;
  return operator === "+" && [left, right].some((each) => each.type === "Literal" && typeof each.value === "string");
}

/**
 * `response.data?.orders ?? []`, although `response` itself has the orders, or `response.orders ?? []`, although they are one level below.
 * Also `response.items ?? []`, a guess, if the program never names the only list of the response. The result has none of the keys that the program
 * tries, and the output was empty.
 */
function isEnvelope(
  { node, object, property, below, seen }: Missing,
  { json = "" }: ProgramOutput,
  tree: Tree,
): boolean {
  const parent = tree.parent(node);
  const within = isMember(parent) && parent.object === node ? propertyName(parent) : undefined;
  const isEmpty = json === "" || /^(?:0|\[\]|\{\}|null|\{"\w+":(?:0|\[\])\})$/.test(json);
  const isOutside = within !== undefined && keysOf(seen.values).includes(within);
  if (!isEmpty || !seen.whole) return false;
  if (!isOutside && below === undefined && !(guessedKeys.test(property) && hasUnreadList(seen, tree))) return false;
  const chain =
    tree
      .ancestors(node)
      .filter(({ type }) => type === "LogicalExpression")
      .toArray()
      .at(-1) ?? node;
  const tried = tree.all("MemberExpression").filter((each) => {
    return isInside(each, chain) && tree.text(each.object) === object;
  });
  const keys = keysOf(seen.values);
  return tried[0] === node && tried.every((each) => !keys.includes(propertyName(each) ?? ""));
}

/** Names that programs guess for the list of a result. Other keys may be optional: `result.warnings ?? []`. */
const guessedKeys =
  /^(?:items|data|results?|records|rows|list|values|entries|body|response|content|structuredContent)$/;

/** The only list of the result has elements, and its name is nowhere in the program. */
function hasUnreadList(seen: Seen, { code }: Tree): boolean {
  const [key, another] = listKeys(seen);
  if (key === undefined || another !== undefined || new RegExp(`\\b${RegExp.escape(key)}\\b`).test(code)) return false;
  return seen.values.some((value) => isObject(value) && Array.isArray(value[key]) && value[key].length > 0);
}

function showsNaN({ notes, logs }: ProgramOutput): boolean {
  return (
    notes?.odd.some(({ kind }) => kind === "NaN") || logs.some(({ text }) => /(?<![\w"'`])NaN(?![\w"'`])/.test(text))
  );
}

/** `by[country] = 1`, if `by` is a Map in which the program never sets an entry: it stays empty. */
export function mapAsObject({ tree }: Surroundings): string[] {
  return tree.all("AssignmentExpression").flatMap(({ left }) => {
    if (!isMember(left) || !left.computed) return [];
    const made = tree.onlyValue(left.object);
    if (made?.type !== "NewExpression" || !isNamed(made.callee, "Map") || made.arguments.length > 0) return [];
    if (tree.binding(left.object)?.references.some((each) => /^\.set\b/.test(tree.code.slice(each.end)))) return [];
    const name = tree.text(left.object);
    return `line ${tree.line(left)}: ${name} is a Map: set entries with ${name}.set(key, value) and read them with ${name}.get(key).`;
  });
}

/** Values that JSON cannot show because they contain themselves. */
export function circular({ notes }: ProgramOutput): string[] {
  return (notes?.odd ?? []).flatMap(({ kind, path, count }) => {
    if (kind !== "circular") return [];
    const where = `${path || "the value"}${count > 1 ? ` and ${count - 1} more are` : " is"}`;
    return `${where} circular, shown as "[Circular]": return ids there, not objects.`;
  });
}
