/** Reads the types of results in the server catalog, which are written as TypeScript, as JSON Schemas. */
import { type JsonObject, parsedJson } from "../../base/json-object.ts";
import { maxSchemaDepth } from "../limits.ts";

/** Undefined for a type with syntax that the catalog does not use. */
export function schemaOfType(type: string): JsonObject | undefined {
  const tokens = type.match(/[\w$]+|"(?:[^"\\]|\\.)*"|\S/g) ?? [];
  const reader = new TypeReader(tokens);
  const schema = reader.union(0);
  return reader.isAtEnd ? schema : undefined;
}

const primitives: ReadonlyMap<string, JsonObject> = new Map([
  ["string", { type: "string" }],
  ["number", { type: "number" }],
  ["boolean", { type: "boolean" }],
  ["null", { type: "null" }],
  ["unknown", {}],
]);

class TypeReader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#tokens.length;
  }

  /** `A | B`. */
  union(depth: number): JsonObject | undefined {
    const options: JsonObject[] = [];
    do {
      const option = depth > maxSchemaDepth ? undefined : this.#list(depth);
      if (!option) return undefined;
      options.push(option);
    } while (this.#takes("|"));
    return options.length === 1 ? options[0] : { anyOf: options };
  }

  /** `A`, or `A[]`. */
  #list(depth: number): JsonObject | undefined {
    let schema = this.#single(depth);
    while (schema && this.#takes("[")) schema = this.#takes("]") ? { type: "array", items: schema } : undefined;
    return schema;
  }

  #single(depth: number): JsonObject | undefined {
    if (this.#takes("{")) return this.#object(depth);
    if (this.#takes("(")) {
      const inner = this.union(depth + 1);
      return this.#takes(")") ? inner : undefined;
    }
    const name = this.#next();
    if (name?.startsWith('"')) return { const: parsedJson(name) };
    if (name !== "Record") return primitives.get(name ?? "");
    const isMap = this.#takes("<") && this.#takes("string") && this.#takes(",");
    const values = isMap ? this.union(depth + 1) : undefined;
    return values && this.#takes(">") ? { type: "object", additionalProperties: values } : undefined;
  }

  /** `{ a: A; b?: B }` after its first brace. */
  #object(depth: number): JsonObject | undefined {
    const properties: JsonObject = Object.create(null);
    while (!this.#takes("}")) {
      const key = this.#next() ?? "";
      this.#takes("?");
      const value = this.#takes(":") ? this.union(depth + 1) : undefined;
      if (!value) return undefined;
      properties[key.startsWith('"') ? String(parsedJson(key)) : key] = value;
      this.#takes(";");
    }
    return { type: "object", properties };
  }

  #next(): string | undefined {
    const token = this.#tokens[this.#at];
    this.#at += 1;
    return token;
  }

  #takes(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at += 1;
    return true;
  }
}
