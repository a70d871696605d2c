/** The input of a program that is saved: values in its code that become inputs, and the schema of all its inputs. */
import type { CallExpression, Literal } from "acorn";
import { ClaudikinsError } from "../../base/errors.ts";
import { withExactTexts } from "../../base/exact-json.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { Lines, type Position } from "../../sandbox/ast/lines.ts";
import { isMember, isNamed, keyName, type Node, propertyName } from "../../sandbox/ast/nodes.ts";
import type { Tree } from "../../sandbox/ast/tree.ts";
import { transpile } from "../../sandbox/code/transpile.ts";
import { findTool, type RegistryTool } from "../../tools/model.ts";
import { shapeOf } from "../../tools/observed/observe.ts";
import type { Parts } from "../parts.ts";
import { programsServer, versionIn, versionName } from "./model.ts";

/** The constant with the input. */
const inputName = "input";

export interface WithInputs {
  code: string;
  /** JSON Schema of the input. */
  input: JsonObject;
  /** How often each given value was replaced. 0 if the code reads the input by itself. */
  replaced: Record<string, number>;
  /** The ids of what the code calls. */
  calls: string[];
}

/**
 * Replaces texts and numbers in the code that are equal to a given value by `input.NAME`. A value that the code reads as `input.NAME` by
 * itself needs no replacement. Throws INVALID_ARGUMENTS for a value that is not in the code, and CheckError for code that cannot be read.
 */
export async function withInputs(code: string, given: JsonObject, parts: Pick<Parts, "catalog">): Promise<WithInputs> {
  const { plain, originalPosition } = await transpile(code);
  const isDeclared = plain.all("Identifier").some((node) => node.name === inputName && plain.binding(node));
  if (isDeclared) {
    throw new ClaudikinsError("INVALID_ARGUMENTS", `The program has a variable "${inputName}" of its own`, {
      hint: `Give it another name: a saved program gets its input as the constant ${inputName}.`,
    });
  }
  const called = calledTools(plain, parts);
  const read = namesRead(plain);
  /** The schemas of arguments that get an input as their value. */
  const schemas = new Map<string, unknown>();
  for (const [name, nodes] of read)
    schemas.set(name, nodes.map((node) => argumentSchema(node, plain, called)).find(isObject));
  const edits: { from: number; to: number; text: string }[] = [];
  const replaced: Record<string, number> = {};
  for (const [name, value] of Object.entries(given)) {
    const literals = plain.all("Literal").filter((node) => node.value === value && isReplaceable(node, plain));
    for (const literal of literals) schemas.set(name, schemas.get(name) ?? argumentSchema(literal, plain, called));
    for (const place of await placesOf(literals, code, originalPosition)) {
      if (!place) throw notReplaceable(name, value);
      edits.push({ ...place, text: accessTo(name) });
    }
    if (literals.length === 0 && !read.has(name)) throw notReplaceable(name, value);
    replaced[name] = literals.length;
  }
  edits.sort((a, b) => b.from - a.from);
  let result = code;
  for (const { from, to, text } of edits) result = result.slice(0, from) + text + result.slice(to);
  const calls = [...new Set(called.map(({ id }) => id))].sort();
  return { code: result, input: schemaOf(given, schemas), replaced, calls };
}

interface CodePlace {
  from: number;
  to: number;
}

/**
 * Where literals of the code without types stand in the code. Lines are exact, and columns often are not: on a line that has the text of a
 * literal as often as the code without types, the places are in the same order. Undefined for a literal that is not found.
 */
async function placesOf(
  literals: readonly Literal[],
  code: string,
  originalPosition: (offset: number) => Promise<Position>,
): Promise<(CodePlace | undefined)[]> {
  const lines = new Lines(code);
  const placed = await Promise.all(
    literals.map(async ({ start, raw = "" }) => ({ raw, position: await originalPosition(start) })),
  );
  const places: (CodePlace | undefined)[] = [];
  for (const same of Map.groupBy(placed, ({ raw, position }) => `${position.line} ${raw}`).values()) {
    const [{ raw, position }] = same as [(typeof same)[0]];
    const [begin, end] = [
      lines.offset({ line: position.line, column: 1 }),
      lines.offset({ line: position.line + 1, column: 1 }),
    ];
    const line = code.slice(begin, end > begin ? end : undefined);
    const found = [...line.matchAll(new RegExp(`(?<![\\w.])${RegExp.escape(raw)}(?!\\w)`, "g"))].map(
      ({ index }) => begin + index,
    );
    const exact = same.map(({ position }) => lines.offset(position));
    const starts =
      found.length === same.length ? found : exact.map((from) => (code.startsWith(raw, from) ? from : undefined));
    places.push(...starts.map((from) => (from === undefined ? undefined : { from, to: from + raw.length })));
  }
  return places;
}

function accessTo(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `${inputName}.${name}` : `${inputName}[${JSON.stringify(name)}]`;
}

/** Keys of objects, the names of modules, and directives are no values. */
function isReplaceable(node: Literal, tree: Tree): boolean {
  const parent = tree.parent(node);
  if (!parent || typeof node.value === "boolean" || node.value === null) return false;
  if ("key" in parent && parent.key === node) return false;
  if (isMember(parent) && parent.property === node) return false;
  return !/^(?:Import|Export)/.test(parent.type) && !("directive" in parent);
}

/** The names that the code reads of its input: `input.month`, `const { month } = input`. */
function namesRead(tree: Tree): Map<string, Node[]> {
  const isInput = (node: Node | null | undefined) => isNamed(node, inputName);
  const members = tree.all("MemberExpression").filter(({ object }) => isInput(object));
  const patterns = tree.all("VariableDeclarator").flatMap(({ id, init }) => {
    if (id.type !== "ObjectPattern" || !isInput(init)) return [];
    return id.properties.flatMap((each) => (each.type === "Property" ? (keyName(each) ?? []) : []));
  });
  const found = new Map<string, Node[]>(patterns.map((name) => [name, []]));
  for (const member of members) {
    const name = propertyName(member);
    if (name !== undefined) found.set(name, [...(found.get(name) ?? []), member]);
  }
  return found;
}

/** An input that a tool gets has the schema of its argument. Others have the types of their values, or any. */
function schemaOf(given: JsonObject, schemas: ReadonlyMap<string, unknown>): JsonObject {
  const names = [...new Set([...Object.keys(given), ...schemas.keys()])];
  const properties = Object.fromEntries(names.map((name) => [name, propertyOf(name, given, schemas.get(name))]));
  return { type: "object", properties, required: Object.keys(given), additionalProperties: false };
}

function propertyOf(name: string, given: JsonObject, schema: unknown): JsonObject {
  const examples = Object.hasOwn(given, name) ? { examples: [given[name]] } : {};
  // A reference leads to another part of the tool's schema.
  if (isObject(schema) && !JSON.stringify(schema).includes('"$ref"')) {
    const { default: _, ...rest } = schema;
    return { ...rest, ...examples };
  }
  return Object.hasOwn(given, name) ? { ...shapeOf(given[name]), ...examples } : {};
}

function notReplaceable(name: string, value: unknown): ClaudikinsError {
  const shown = JSON.stringify(value)?.slice(0, 100);
  return new ClaudikinsError(
    "INVALID_ARGUMENTS",
    `The code has no value ${shown} that could become ${accessTo(name)}`,
    {
      hint: `Write ${accessTo(name)} in the code where the value belongs, and save it again.`,
    },
  );
}

/** The code with its input as a constant. It starts on the first line, so that lines keep their numbers. */
export function codeWithInput(code: string, input: JsonObject): string {
  // A key such as `__proto__` would not be a property in a literal.
  return `const ${inputName} = JSON.parse(${JSON.stringify(withExactTexts(JSON.stringify(input)))}); ${code}`;
}

/** A tool that a program calls, as far as its text tells. */
export interface CalledTool {
  call: CallExpression;
  /** `demo.list_orders`, or `demo.resources` for a function that a server has beside its tools. */
  id: string;
  /** Undefined if it is not known. */
  tool: RegistryTool | undefined;
}

const groups = ["resources", "prompts", "skills"];

/** `demo.list_orders(…)`, `servers["my-server"].tool(…)`, `demo.resources.read(…)`. Names that are computed are not found. */
function calledTools(tree: Tree, { catalog }: Pick<Parts, "catalog">): CalledTool[] {
  return tree.all("CallExpression").flatMap((call): CalledTool[] => {
    const { callee } = call;
    const called = isMember(callee) && ["raw", "pages"].includes(propertyName(callee) ?? "") ? callee.object : callee;
    const name = isMember(called) ? propertyName(called) : undefined;
    if (!isMember(called) || name === undefined) return [];
    const { object } = called;
    const server = serverOf(object);
    if (server !== undefined) {
      const known = catalog.find(server);
      const version = server === programsServer ? versionIn(name) : undefined;
      const tool = known && findTool(known, version?.name ?? name);
      const named = tool?.name ?? version?.name ?? name;
      // The input of a version may have other types.
      if (version) return [{ call, id: `${server}.${versionName(named, version.number)}`, tool: undefined }];
      return [{ call, id: `${server}.${named}`, tool }];
    }
    const group = isMember(object) ? (propertyName(object) ?? "") : "";
    const outer = isMember(object) && groups.includes(group) ? serverOf(object.object) : undefined;
    return outer === undefined ? [] : [{ call, id: `${outer}.${group}`, tool: undefined }];
  });

  function serverOf(object: Node): string | undefined {
    if (object.type === "Identifier") {
      if (tree.binding(object)?.sources.some(({ kind }) => kind !== "import")) return undefined;
      return catalog.names.find(({ jsName }) => jsName === object.name)?.name;
    }
    const isServers = isMember(object) && object.object.type === "Identifier" && object.object.name === "servers";
    const wanted = isServers ? propertyName(object) : undefined;
    return catalog.names.find(({ name, jsName }) => name === wanted || jsName === wanted)?.name;
  }
}

/** The argument of a known tool that gets this expression as its whole value: its schema. */
export function argumentSchema(node: Node, tree: Tree, called: readonly CalledTool[]): unknown {
  const property = tree.parent(node);
  if (property?.type !== "Property" || property.value !== node) return undefined;
  const object = tree.parent(property);
  const found = called.find(({ call }) => call.arguments[0] === object);
  const name = keyName(property);
  const properties = Object(found?.tool?.inputSchema["properties"]) as Record<string, unknown>;
  return name !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}
