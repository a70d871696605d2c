/** Turns JSON Schemas into TypeScript declarations with comments, for generated files. An invalid schema is `unknown`. */
import { docComment } from "./documentation.ts";
import { Effort, TooMuch } from "./effort.ts";
import { mergeObjects, type ObjectNode, type ReferenceNode, type TypeNode } from "./node.ts";
import { typeText } from "./one-line.ts";
import { type Role, SchemaReader } from "./read-schema.ts";
import { intersectionText, keyText, listText, recordText, tupleText, unionText } from "./text.ts";

/** Depths of nested objects and lists to try, until the text is short enough. */
const depths = [12, 6, 4, 3, 2, 1];
const maxLength = 20_000;

/**
 * The exported type of the schema's values, and the types that it needs. Referenced definitions are declared once, with names
 * that are added to `taken`. Recursive definitions stay recursive.
 */
export function declareType(schema: unknown, name: string, taken: Set<string>, role: Role = "results"): string {
  const reader = new SchemaReader(schema, role);
  const effort = new Effort();
  taken.add(name);
  for (const depth of depths) {
    const names = new Set(taken);
    effort.begin(maxLength);
    const text = new Writer(reader, names, effort).write(schema, name, depth);
    if (text === undefined) continue;
    for (const each of names) taken.add(each);
    return text;
  }
  return `export type ${name} = ${typeText(schema, role)};\n`;
}

class Writer {
  readonly #reader: SchemaReader;
  readonly #taken: Set<string>;
  /** Names of definitions, and the definitions that are not written yet. */
  readonly #names = new Map<object, string>();
  readonly #waiting: ReferenceNode[] = [];
  readonly #effort: Effort;

  constructor(reader: SchemaReader, taken: Set<string>, effort: Effort) {
    this.#reader = reader;
    this.#taken = taken;
    this.#effort = effort;
  }

  /** Undefined if the text would be too long. */
  write(schema: unknown, name: string, depth: number): string | undefined {
    if (typeof schema === "object" && schema !== null) this.#names.set(schema, name);
    try {
      const node = this.#reader.typeOf(schema);
      const declarations = [`export ${this.#declaration(name, node, schema, depth)}`];
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
        const { schema: definition } = next;
        const text = this.#declaration(
          this.#names.get(definition)!,
          this.#reader.typeOf(definition),
          definition,
          depth,
        );
        declarations.push(docComment(definition, "") + text);
      }
      return declarations.join("\n");
    } catch (error) {
      if (error instanceof TooMuch) return undefined;
      throw error;
    }
  }

  #declaration(name: string, node: TypeNode, schema: unknown, depth: number): string {
    const object = this.#soleObject(node);
    if (object && recordText(object, () => "unknown") === undefined) {
      return this.#effort.counted(`interface ${name} ${this.#objectText(object, { left: depth, indent: "" })}\n`);
    }
    const text = this.#isCircular(node, schema) ? "unknown" : this.#text(node, { left: depth, indent: "" });
    return this.#effort.counted(`type ${name} = ${text};\n`);
  }

  /** The node if it can be an interface. Only interfaces may refer to themselves everywhere. */
  #soleObject(node: TypeNode): ObjectNode | undefined {
    this.#effort.step();
    if (node.kind === "object") return node;
    if (node.kind === "union" && node.of.length === 1) return this.#soleObject(node.of[0]!);
    if (node.kind !== "intersection") return undefined;
    const parts = mergeObjects(node.of.map((part) => this.#soleObject(part) ?? part).filter((part) => !isVague(part)));
    return parts.length === 1 && parts[0]!.kind === "object" ? parts[0] : undefined;
  }

  /** Whether the type refers to itself without an object or list in between, which the compiler rejects. */
  #isCircular(node: TypeNode, schema: unknown, seen = new Set<object>()): boolean {
    this.#effort.step();
    if (node.kind === "union" || node.kind === "intersection") {
      return node.of.some((part) => this.#isCircular(part, schema, seen));
    }
    if (node.kind !== "reference") return false;
    if (node.schema === schema) return true;
    if (seen.has(node.schema)) return false;
    seen.add(node.schema);
    const target = this.#reader.typeOf(node.schema);
    return this.#soleObject(target) === undefined && this.#isCircular(target, schema, seen);
  }

  #text(node: TypeNode, place: Place): string {
    this.#effort.step();
    switch (node.kind) {
      case "plain":
        return this.#effort.counted(node.text);
      case "literal":
        return this.#effort.counted(JSON.stringify(node.value));
      case "union":
        return unionText(node.of.map((option) => this.#text(option, place)));
      case "intersection": {
        const parts = node.of.map((part) => this.#soleObject(part) ?? part);
        return intersectionText(mergeObjects(parts).map((part) => this.#text(part, place)));
      }
      case "reference":
        return this.#effort.counted(this.#nameOf(node));
      default:
        return this.#nested(node, place);
    }
  }

  #nested(node: Extract<TypeNode, { kind: "list" | "tuple" | "object" }>, place: Place): string {
    if (place.left === 0) return "unknown";
    const inner = { ...place, left: place.left - 1 };
    const textOf = (part: TypeNode) => this.#text(part, inner);
    switch (node.kind) {
      case "list":
        return listText(textOf(node.of));
      case "tuple":
        return tupleText(node.of.map(textOf), node.required, node.rest && textOf(node.rest));
      case "object":
        return this.#recordText(node, textOf) ?? this.#objectText(node, place);
    }
  }

  /** An index signature, except for simple types, because in `Record` a type cannot refer to itself. */
  #recordText(node: ObjectNode, textOf: (part: TypeNode) => string): string | undefined {
    const text = recordText(node, textOf);
    const [only] = node.others;
    if (text === undefined || !only || !/[A-Z{]/.test(textOf(only.type))) return text;
    return `{ [key: ${only.key}]: ${textOf(only.type)} }`;
  }

  #objectText({ members, others }: ObjectNode, { left, indent }: Place): string {
    const inner = { left: left - 1, indent: `${indent}  ` };
    const named = members.map(({ name, isOptional, type, schema }) => {
      const doc = type.kind === "reference" && !hasOwnWords(schema) ? "" : docComment(schema, inner.indent);
      const text = this.#text(type, inner);
      return `${this.#effort.counted(`${doc}${inner.indent}${keyText(name)}${isOptional ? "?" : ""}: `)}${text};\n`;
    });
    const further = others.map(({ key, type }) => `${inner.indent}[key: ${key}]: ${this.#text(type, inner)};\n`);
    return `{\n${named.join("")}${further.join("")}${indent}}`;
  }

  #nameOf(node: ReferenceNode): string {
    const known = this.#names.get(node.schema);
    if (known !== undefined) return known;
    const name = freeName(typeName(node.pointer.split("/").at(-1) ?? ""), this.#taken);
    this.#names.set(node.schema, name);
    this.#waiting.push(node);
    return name;
  }
}

interface Place {
  left: number;
  indent: string;
}

/** Whether the type adds nothing to a more specific type of the same value. */
function isVague(node: TypeNode): boolean {
  if (node.kind === "plain") return node.text === "unknown";
  return node.kind === "object" && node.members.length === 0 && node.others.every(({ type }) => isVague(type));
}

function hasOwnWords(schema: unknown): boolean {
  return typeof schema === "object" && schema !== null && "description" in schema;
}

/** `create-issue` → `CreateIssue`. */
export function typeName(text: string): string {
  const words = text.split(/[^\p{ID_Continue}]+|_+/u).filter((word) => word !== "");
  const name = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join("");
  return /^\p{ID_Start}/u.test(name) ? name : `T${name}`;
}

/** The name, with a number if it is taken. It is added to `taken`. */
export function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let count = 2; taken.has(free) || globalTypes.has(free); count++) free = `${name}${count}`;
  taken.add(free);
  return free;
}

/** Global types that the generated files use. */
const globalTypes = new Set(["Promise", "Record", "Array", "ImportMeta", "Object", "String", "Number", "Boolean"]);
