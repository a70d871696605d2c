/** Turns JSON Schemas into TypeScript declarations with comments, for generated files. An invalid schema is `unknown`. */

import { docComment } from "./documentation.ts";
import { mergeObjects, type ObjectNode, type ReferenceNode, type TypeNode } from "./node.ts";
import { typeText } from "./one-line.ts";
import { joinedByAnd, joinedByOr, keyText, Printer, recordText, type TextOf } from "./printer.ts";
import type { Role } from "./read-schema.ts";

/** Depths of nested objects and lists to try, until the text is short enough. */
const depths = [12, 6, 4, 3, 2, 1];

/** Characters of one declaration. A longer type is written with less depth. */
const maxDeclarationChars = 20_000;

/**
 * The exported type of the schema's values, and the types that it needs. Referenced definitions are declared once, with names
 * that are added to `taken`. Recursive definitions stay recursive.
 */
export function declareType(schema: unknown, name: string, taken: Set<string>, role: Role = "results"): string {
  const declarations = new Declarations(schema, role);
  taken.add(name);
  for (const depth of depths) {
    const names = new Set(taken);
    const text = declarations.write(schema, name, names, depth);
    if (text === undefined) continue;
    for (const each of names) taken.add(each);
    return text;
  }
  return `export type ${name} = ${typeText(schema, role)};\n`;
}

class Declarations extends Printer<DeclarationState> {
  #taken = new Set<string>();
  /** Names of definitions, and the definitions that are not written yet. */
  readonly #names = new Map<object, string>();
  #waiting: ReferenceNode[] = [];

  /** Adds the names of the types to `taken`. Undefined if the text would be too long. */
  write(schema: unknown, name: string, taken: Set<string>, depth: number): string | undefined {
    this.#taken = taken;
    this.#names.clear();
    this.#waiting = [];
    if (typeof schema === "object" && schema !== null) this.#names.set(schema, name);
    return this.attempt(maxDeclarationChars, () => {
      const declarations = [`export ${this.#declaration(name, schema, depth)}`];
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
        const text = this.#declaration(this.#names.get(next.schema)!, next.schema, depth);
        declarations.push(docComment(next.schema, "") + text);
      }
      return declarations.join("\n");
    });
  }

  #declaration(name: string, schema: unknown, depth: number): string {
    const node = this.reader.typeOf(schema);
    const place = { left: depth, indent: "" };
    const object = this.#soleObject(node);
    if (object && recordText(object, () => "unknown") === undefined) {
      return this.counted(`interface ${name} ${this.#membersText(object, place)}\n`);
    }
    const text = this.#isCircular(node, schema) ? "unknown" : this.text(node, place);
    return this.counted(`type ${name} = ${text};\n`);
  }

  /** The node if it can be an interface. Only interfaces may refer to themselves everywhere. */
  #soleObject(node: TypeNode): ObjectNode | undefined {
    this.step();
    if (node.kind === "object") return node;
    if (node.kind === "union" && node.of.length === 1) return this.#soleObject(node.of[0]!);
    if (node.kind !== "intersection") return undefined;
    const parts = mergeObjects(node.of.map((part) => this.#soleObject(part) ?? part).filter((part) => !isVague(part)));
    return parts.length === 1 && parts[0]!.kind === "object" ? parts[0] : undefined;
  }

  /** Whether the type refers to itself without an object or list in between, which the compiler rejects. */
  #isCircular(node: TypeNode, schema: unknown, seen = new Set<object>()): boolean {
    this.step();
    if (node.kind === "union" || node.kind === "intersection") {
      return node.of.some((part) => this.#isCircular(part, schema, seen));
    }
    if (node.kind !== "reference") return false;
    if (node.schema === schema) return true;
    if (seen.has(node.schema)) return false;
    seen.add(node.schema);
    const target = this.reader.typeOf(node.schema);
    return this.#soleObject(target) === undefined && this.#isCircular(target, schema, seen);
  }

  protected unionText(options: TypeNode[], place: DeclarationState): string {
    return joinedByOr(options.map((option) => this.text(option, place)));
  }

  protected intersectionText(nodes: TypeNode[], place: DeclarationState): string {
    const parts = mergeObjects(nodes.map((part) => this.#soleObject(part) ?? part));
    return joinedByAnd(parts.map((part) => this.text(part, place)));
  }

  protected referenceText(node: ReferenceNode): string {
    let name = this.#names.get(node.schema);
    if (name === undefined) {
      name = freeName(typeName(node.pointer.split("/").at(-1) ?? ""), this.#taken);
      this.#names.set(node.schema, name);
      this.#waiting.push(node);
    }
    return this.counted(name);
  }

  /** With only one kind of keys, an index signature or, for simple types, a `Record`, in which a type cannot refer to itself. */
  protected objectText(node: ObjectNode, place: DeclarationState, textOf: TextOf): string {
    const text = recordText(node, textOf);
    if (text === undefined) return this.#membersText(node, place);
    const [only] = node.others;
    return only && /[A-Z{]/.test(textOf(only.type)) ? `{ [key: ${only.key}]: ${textOf(only.type)} }` : text;
  }

  #membersText({ members, others }: ObjectNode, { left, indent }: DeclarationState): string {
    const inner = { left: left - 1, indent: `${indent}  ` };
    const named = members.map(({ name, isOptional, type, schema }) => {
      const doc = type.kind === "reference" && !hasOwnWords(schema) ? "" : docComment(schema, inner.indent);
      const text = this.text(type, inner);
      return `${this.counted(`${doc}${inner.indent}${keyText(name)}${isOptional ? "?" : ""}: `)}${text};\n`;
    });
    const further = others.map(({ key, type }) => `${inner.indent}[key: ${key}]: ${this.text(type, inner)};\n`);
    return `{\n${named.join("")}${further.join("")}${indent}}`;
  }
}

interface DeclarationState {
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
