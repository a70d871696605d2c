/** Reads JSON Schemas (draft 7 and 2020-12) into type nodes. Constraints that types cannot express are left out; invalid schemas are `unknown`. */
import { isObject, type JsonObject } from "../../base/json-object.ts";
import {
  defaultOf,
  requiredArguments,
  requiredNames,
  resolveReference,
  sameValue,
  schemasOf,
  typesIn,
} from "../../base/json-schema.ts";
import { maxSchemaDepth, maxSurroundingSchemas } from "../limits.ts";
import { anyKey, type Member, neverType, type ObjectNode, type TypeNode, unknownType } from "./node.ts";

const allTypes = ["string", "number", "boolean", "null", "object", "array"];

/** Arguments with a default may be left out of a call; results have everything that is required. */
export type Role = "arguments" | "results";

/** The types of one document, each schema read once. */
export class SchemaReader {
  readonly #root: unknown;
  readonly #role: Role;
  readonly #read = new Map<object, TypeNode>();

  constructor(root: unknown, role: Role) {
    this.#root = root;
    this.#role = role;
  }

  typeOf(schema: unknown): TypeNode {
    return this.#typeOf(schema, alone(0));
  }

  #typeOf(schema: unknown, surroundings: OuterSchemas): TypeNode {
    if (schema === false) return neverType;
    if (!isObject(schema) || surroundings.depth >= maxSchemaDepth) return unknownType;
    const isAlone = surroundings.types === undefined && surroundings.around.length === 0;
    const known = isAlone ? this.#read.get(schema) : undefined;
    if (known) return known;
    const type = this.#acceptedBy(schema, surroundings);
    // `nullable` is from OpenAPI.
    const node: TypeNode =
      schema["nullable"] === true ? { kind: "union", of: [type, { kind: "plain", text: "null" }] } : type;
    if (isAlone) this.#read.set(schema, node);
    return node;
  }

  #acceptedBy(schema: JsonObject, surroundings: OuterSchemas): TypeNode {
    const { not } = schema;
    if (not === true || (isObject(not) && Object.keys(not).length === 0)) return neverType;
    const types = typesOf(schema, surroundings.types);
    const inner: OuterSchemas = {
      depth: surroundings.depth + 1,
      types,
      properties: { ...surroundings.properties, ...propertiesOf(schema) },
      around: [...sameValue(schema, this.#root), ...surroundings.around].slice(0, maxSurroundingSchemas),
    };
    const own = this.#ownType(schema, types, inner);
    const parts = this.#parts(schema, inner);
    return parts.length === 0 ? own : { kind: "intersection", of: [own, ...parts] };
  }

  /** Other types that the value must have too. */
  #parts(schema: JsonObject, inner: OuterSchemas): TypeNode[] {
    const { $ref, anyOf, oneOf, allOf } = schema;
    const one = (part: unknown) => this.#typeOf(part, isObject(part) ? inner : { ...inner, types: undefined });
    const choice = (options: unknown[]): TypeNode[] =>
      options.length === 0 ? [] : [{ kind: "union", of: options.map(one) }];
    // One of `then` and `else` applies.
    const either = "then" in schema && "else" in schema ? [schema["then"], schema["else"]] : [];
    return [
      ...(typeof $ref === "string" ? [this.#reference($ref)] : []),
      ...choice(schemasOf(anyOf)),
      ...choice(schemasOf(oneOf)),
      ...schemasOf(allOf).map(one),
      ...choice(either),
    ];
  }

  #reference(pointer: string): TypeNode {
    const schema = resolveReference(pointer, this.#root);
    return isObject(schema) ? { kind: "reference", pointer, schema } : this.typeOf(schema);
  }

  #ownType(schema: JsonObject, types: string[] | undefined, inner: OuterSchemas): TypeNode {
    if ("const" in schema) return valueType(schema["const"]);
    const values = schemasOf(schema["enum"]).filter((value) => !isExcluded(value, schema));
    if (values.length > 0) return enumType(values, types);
    if (types === undefined) return this.#untyped(schema, inner);
    return { kind: "union", of: types.map((type) => this.#typeNamed(type, schema, inner)) };
  }

  /** Without `type`, the keywords of objects and lists tell the type. */
  #untyped(schema: JsonObject, inner: OuterSchemas): TypeNode {
    const names = ["properties", "patternProperties", "required", "propertyNames"];
    if (names.some((name) => name in schema) || forbiddenNames(schema).length > 0) {
      const node = this.#objectType(schema, inner);
      return node.members.length > 0 || node.others[0] !== anyKey ? node : unknownType;
    }
    return "items" in schema || "prefixItems" in schema ? this.#listType(schema, inner) : unknownType;
  }

  #typeNamed(type: string, schema: JsonObject, inner: OuterSchemas): TypeNode {
    switch (type) {
      case "string":
      case "null":
        return { kind: "plain", text: type };
      case "number":
      case "integer":
        return { kind: "plain", text: "number" };
      case "boolean": {
        const left = [true, false].filter((value) => !isExcluded(value, schema));
        return left.length === 1 ? valueType(left[0]) : { kind: "plain", text: "boolean" };
      }
      case "array":
        return this.#listType(schema, inner);
      case "object":
        return this.#objectType(schema, inner);
      default:
        return unknownType;
    }
  }

  #listType(schema: JsonObject, inner: OuterSchemas): TypeNode {
    const typeOf = (item: unknown) => this.#typeOf(item, alone(inner.depth));
    const { prefixItems, items, additionalItems, minItems } = schema;
    const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : undefined;
    if (!first) return { kind: "list", of: typeOf(items) };
    const after = Array.isArray(prefixItems) && !Array.isArray(items) ? items : additionalItems;
    return {
      kind: "tuple",
      of: first.map(typeOf),
      // Listed items are usually required, unless `minItems` says otherwise.
      required: typeof minItems === "number" ? Math.max(0, minItems) : first.length,
      rest: after === undefined || after === false ? undefined : typeOf(after),
    };
  }

  #objectType(schema: JsonObject, inner: OuterSchemas): ObjectNode {
    const required = requiredNames(schema);
    const needed = this.#role === "arguments" ? requiredArguments(schema, this.#root, inner.around) : required;
    const described = new Map(Object.entries(propertiesOf(schema)));
    const { propertyNames } = schema;
    const extra = schema["additionalProperties"] ?? schema["unevaluatedProperties"];
    const allowed = isObject(propertyNames) ? schemasOf(propertyNames["enum"]) : [];
    for (const name of allowed) if (typeof name === "string" && !described.has(name)) described.set(name, extra);
    // A required property without a description is required too. It may be described in an outer schema.
    for (const name of required)
      if (!described.has(name)) described.set(name, ownValue(inner.properties, name) ?? extra);
    const members = [...described].map(
      ([name, property]): Member => ({
        name,
        isOptional: !needed.has(name),
        type: this.#typeOf(property === false && required.has(name) ? {} : property, alone(inner.depth)),
        schema: property,
        ...(required.has(name) && !needed.has(name) ? { usual: defaultOf(name, inner.around, this.#root) } : {}),
      }),
    );
    for (const name of forbiddenNames(schema)) {
      if (!described.has(name)) members.push({ name, isOptional: true, type: neverType, schema: undefined });
    }
    return { kind: "object", members, others: this.#others(schema, extra, members, allowed.length > 0), schema };
  }

  /** Further keys. An index signature must also allow the types of the members that it matches. */
  #others(schema: JsonObject, extra: unknown, members: Member[], isClosed: boolean): ObjectNode["others"] {
    const patterns = Object.entries(propertiesOf(schema, "patternProperties")).map(([pattern, property]) => ({
      prefix: literalPrefix(pattern),
      type: this.typeOf(property),
    }));
    const prefixed = patterns.filter(({ prefix }) => prefix !== "");
    const isOpen = !isClosed && (extra === true || isObject(extra) || patterns.length > prefixed.length);
    if (!isOpen && patterns.length === 0) {
      const isBare = members.length === 0 && extra === undefined && !isClosed;
      return isBare ? [anyKey] : [];
    }
    const typeFor = (prefix: string, own: TypeNode[]): TypeNode => {
      const same = members.filter(({ name }) => name.startsWith(prefix));
      const missing = same.some(({ isOptional }) => isOptional) ? [undefinedType] : [];
      return { kind: "union", of: [...own, ...same.map(({ type }) => type), ...missing] };
    };
    const others = prefixed.map(({ prefix }) => {
      const own = patterns.filter((each) => each.prefix.startsWith(prefix)).map(({ type }) => type);
      return { key: `\`${prefix}\${string}\``, type: typeFor(prefix, own) };
    });
    if (!isOpen) return others;
    const free = extra === undefined || extra === false ? [] : [this.typeOf(extra)];
    const all = [...free, ...patterns.map(({ type }) => type)];
    if (members.length === 0 && all.every((type) => type === unknownType)) return [anyKey];
    return [...others, { key: "string", type: typeFor("", all) }];
  }
}

/** Constraints of outer schemas on the same value. */
interface OuterSchemas {
  depth: number;
  types: string[] | undefined;
  properties: JsonObject;
  /** The outer schemas, for defaults of arguments. Only the nearest are kept. */
  around: readonly JsonObject[];
}

/** The surroundings of a value that only its own schema describes. */
function alone(depth: number): OuterSchemas {
  return { depth, types: undefined, properties: {}, around: [] };
}

/** Not a JSON type: an index signature must allow it beside optional members. */
const undefinedType: TypeNode = { kind: "plain", text: "undefined" };

function ownValue(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function propertiesOf(schema: JsonObject, key = "properties"): JsonObject {
  const properties = schema[key];
  return isObject(properties) ? properties : {};
}

/** The types in the schema or around it, without those in `not`; undefined if all are possible. */
function typesOf(schema: JsonObject, outer: string[] | undefined): string[] | undefined {
  const named = typesIn(schema) ?? outer;
  const { not } = schema;
  const isOnlyType = isObject(not) && Object.keys(not).every((key) => ["type", "description", "title"].includes(key));
  const without = isOnlyType ? typesIn(not) : undefined;
  if (!without) return named;
  return (named ?? allTypes).filter((one) => !without.includes(one));
}

/** Whether `not` excludes exactly this value. */
function isExcluded(value: unknown, { not }: JsonObject): boolean {
  if (!isObject(not)) return false;
  const values = "const" in not ? [not["const"]] : schemasOf(not["enum"]);
  return values.some((each) => each === value);
}

/** Forbidden properties: `not: { required: ["a"] }`, also in alternatives. */
function forbiddenNames({ not }: JsonObject): string[] {
  if (!isObject(not)) return [];
  const all = "anyOf" in not ? schemasOf(not["anyOf"]).filter(isObject) : [not];
  const names = all.map((each) => (Object.keys(each).join() === "required" ? [...requiredNames(each)] : []));
  // With several names, only the combination is forbidden.
  return names.every(({ length }) => length === 1) ? names.flat() : [];
}

/** The prefix of all names that match the pattern; empty if it is unknown. */
function literalPrefix(pattern: string): string {
  const text = /^\^((?:[\w-]|\\[-./_])+)/.exec(pattern)?.[1] ?? "";
  const rest = pattern.slice(text.length + 1);
  if (pattern.includes("|")) return "";
  // A quantifier belongs to the last character.
  const sure = /^[?*{]/.test(rest) ? text.replace(/(?:\\.|.)$/, "") : text;
  return sure.replaceAll("\\", "");
}

function enumType(values: unknown[], types: string[] | undefined): TypeNode {
  const fitting = types ? values.filter((value) => types.some((type) => isOfType(value, type))) : values;
  // If no value has the type, the values win.
  const chosen = fitting.length > 0 ? fitting : values;
  return { kind: "union", of: chosen.map(valueType) };
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** The literal type of a value. */
function valueType(value: unknown): TypeNode {
  if (value === null) return { kind: "plain", text: "null" };
  if (Array.isArray(value)) {
    return { kind: "tuple", of: value.map(valueType), required: value.length, rest: undefined };
  }
  if (isObject(value)) {
    const members = Object.entries(value).map(([name, each]) => ({
      name,
      isOptional: false,
      type: valueType(each),
      schema: undefined,
    }));
    return { kind: "object", members, others: [], schema: value };
  }
  const isLiteral = typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
  return isLiteral ? { kind: "literal", value: value as string } : unknownType;
}
