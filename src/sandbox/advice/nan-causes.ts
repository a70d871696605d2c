/** Where NaN comes from, as far as the program and what the tools gave show it. */
import type { AssignmentExpression, BinaryExpression, MemberExpression, Node } from "acorn";
import { isMember, isNamed, propertyName } from "../ast/nodes.ts";
import type { Tree } from "../ast/tree.ts";
import { shownExpression } from "./fault.ts";
import type { Surroundings } from "./surroundings.ts";

export function nanCauses({ values }: Surroundings): string[] {
  const { tree } = values;
  const sums = tree.all<AssignmentExpression>("AssignmentExpression").flatMap(({ left, right, operator }) => {
    if (!/^[-+*/]=$/.test(operator) || !isMember(left) || !isUnsetAt(left, tree)) return [];
    const name = shownExpression(left, tree);
    const first = `${name} = (${name} ?? 0) ${operator[0]} ${shownExpression(right, tree)}`;
    return `line ${tree.line(left)}: ${name} is undefined at first: ${first}.`;
  });
  const texts = tree.all<BinaryExpression>("BinaryExpression").flatMap(({ left, right, operator }) => {
    if (!/^[-*/%]$/.test(operator)) return [];
    const text = [left as Node, right].find((node) => isNoNumber(values.of(node)?.values ?? []));
    if (!text) return [];
    const sample = values.of(text)?.values.find((value) => typeof value === "string");
    const isDate = typeof sample === "string" && !Number.isNaN(Date.parse(sample));
    const name = shownExpression(text, tree);
    const write = isDate ? `Date.parse(${name})` : `Number(${name}.replace(/[^\\d.]/g, ""))`;
    return `line ${tree.line(text)}: ${name} is a string, ${JSON.stringify(sample)}: write ${write}.`;
  });
  return [...sums, ...texts];
}

function isNoNumber(seen: readonly unknown[]): boolean {
  return seen.length > 0 && seen.every((value) => typeof value === "string" && Number.isNaN(Number(value)));
}

/** `counts[key] += 1`, where counts begins as `{}` and nothing else sets its keys. */
function isUnsetAt(target: MemberExpression, tree: Tree): boolean {
  if (!target.computed || target.object.type !== "Identifier") return false;
  const binding = tree.binding(target.object);
  const [only, another] = binding?.sources ?? [];
  if (!binding || another || only?.kind !== "value" || only.node.type !== "ObjectExpression") return false;
  if (only.node.properties.length > 0) return false;
  return !tree.all<AssignmentExpression>("AssignmentExpression").some(({ left, operator }) => {
    return isMember(left) && isNamed(left.object, binding.name) && /^(?:=|\?\?=|\|\|=)$/.test(operator);
  });
}

/** `by[country] = 1` where by is a Map, which stays empty. */
export function mapAsObject({ values: { tree } }: Surroundings): string[] {
  return tree.all<AssignmentExpression>("AssignmentExpression").flatMap(({ left }) => {
    if (!isMember(left) || left.object.type === "Super") return [];
    const [only, another] = tree.binding(left.object)?.sources ?? [];
    const made = only?.kind === "value" && !another && only.path.length === 0 ? only.node : undefined;
    if (made?.type !== "NewExpression" || !isNamed(made.callee, "Map") || propertyName(left) === "constructor")
      return [];
    const name = tree.text(left.object);
    return `line ${tree.line(left)}: ${name} is a Map: set entries with ${name}.set(key, value) and read them with ${name}.get(key).`;
  });
}

/** Objects in a text: `${order.lines}`, `"Products: " + result`. */
export function objectsInTexts({ values }: Surroundings): string[] {
  const { tree } = values;
  const within = tree.all<Node & { expressions: Node[] }>("TemplateLiteral").flatMap(({ expressions }) => expressions);
  const added = tree
    .all<BinaryExpression>("BinaryExpression")
    .flatMap(({ left, right, operator }) => (operator === "+" ? [left as Node, right] : []));
  return [...within, ...added].flatMap((node) => {
    const seen = values.of(node);
    if (!seen || seen.promised || seen.values.length === 0) return [];
    const isObject = seen.values.every((value) => value !== null && typeof value === "object" && !isPlainList(value));
    return isObject ? [`line ${tree.line(node)}: ${shownExpression(node, tree)} is ${shape(seen.values)}`] : [];
  });
}

function isPlainList(value: object): boolean {
  return Array.isArray(value) && value.every((each) => typeof each !== "object");
}

function shape(values: readonly unknown[]): string {
  const [first] = values;
  const isList = Array.isArray(first);
  const keys = Object.keys((isList ? first.find((each) => each !== null) : first) ?? {}).slice(0, 12);
  return `${isList ? "a list of" : "the object"} { ${keys.join(", ")} }`;
}
