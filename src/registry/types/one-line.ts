/** Turns JSON Schemas into TypeScript types on one line, for signatures. An invalid schema is `unknown`. */
import { Effort, TooMuch } from "./effort.ts";
import { mergeObjects, type ObjectNode, type TypeNode } from "./node.ts";
import { type Role, SchemaReader } from "./read-schema.ts";
import { intersectionText, keyText, listText, recordText, tupleText, unionText, usualText } from "./text.ts";

/** Depths of nested objects and lists to try, until the text is short enough. */
const depths = [6, 4, 3, 2, 1];
const maxLength = 3_000;
const maxEnumValues = 24;
/** Maximum depth of references. */
const maxWithin = 64;

/**
 * The type of the schema's values. References are followed; recursion and too deep parts become `unknown`. A required
 * argument with a default is optional and shows it. Further keys of any type are not shown.
 */
export function typeText(schema: unknown, role: Role = "results"): string {
  const writer = new OneLine(schema, role);
  for (const depth of depths.slice(0, -1)) {
    const text = writer.write(depth, maxLength);
    if (text !== undefined) return text;
  }
  return writer.write(depths.at(-1)!, Number.POSITIVE_INFINITY) ?? "unknown";
}

/** The depth, and the schemas around it. */
interface Place {
  left: number;
  within: readonly object[];
}

class OneLine {
  readonly #schema: unknown;
  readonly #reader: SchemaReader;
  readonly #effort = new Effort();

  constructor(schema: unknown, role: Role) {
    this.#schema = schema;
    this.#reader = new SchemaReader(schema, role);
  }

  /** Undefined if the text would be too long. */
  write(depth: number, maxLength: number): string | undefined {
    const within = typeof this.#schema === "object" && this.#schema !== null ? [this.#schema] : [];
    this.#effort.begin(maxLength);
    try {
      return this.#text(this.#reader.typeOf(this.#schema), { left: depth, within });
    } catch (error) {
      if (error instanceof TooMuch) return undefined;
      throw error;
    }
  }

  #text(node: TypeNode, place: Place): string {
    this.#effort.step();
    switch (node.kind) {
      case "plain":
        return this.#effort.counted(node.text);
      case "literal":
        return this.#effort.counted(JSON.stringify(node.value));
      case "union":
        return this.#unionText(node.of, place);
      case "intersection":
        return intersectionText(this.#resolved(node.of, place).map(([part, where]) => this.#text(part, where)));
      case "reference": {
        const [[target, where] = []] = this.#resolved([node], place);
        return target && where ? this.#text(target, where) : "unknown";
      }
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
        return recordText(node, textOf) ?? this.#objectText(node, textOf);
    }
  }

  #objectText({ members, others }: ObjectNode, textOf: (node: TypeNode) => string): string {
    const named = members.map(({ name, isOptional, type, usual }) => {
      const key = this.#effort.counted(`${keyText(name)}${isOptional ? "?" : ""}: `);
      return key + textOf(type) + this.#effort.counted(isOptional ? usualText(usual) : "");
    });
    const further = others
      .map(({ key, type }) => ({ key, text: textOf(type) }))
      .filter(({ text }) => text !== "unknown");
    return `{ ${[...named, ...further.map(({ key, text }) => `[key: ${key}]: ${text}`)].join("; ")} }`;
  }

  /** A union. Of many values, only some are shown, with a mark. */
  #unionText(options: TypeNode[], place: Place): string {
    const literals = options.filter(({ kind }) => kind === "literal");
    const hidden = new Set(literals.slice(maxEnumValues));
    const kinds = [...hidden].map((node) => typeof (node as { value: unknown }).value);
    const shown = options.filter((option) => !hidden.has(option)).map((option) => this.#text(option, place));
    return unionText([...shown, ...kinds]);
  }

  /** Follows references, except those that are being written already, and merges objects. */
  #resolved(nodes: TypeNode[], place: Place): [TypeNode, Place][] {
    const found = nodes.flatMap((node): [TypeNode, Place][] => {
      if (node.kind !== "reference") return [[node, place]];
      this.#effort.step();
      if (place.within.length > maxWithin || place.within.includes(node.schema)) return [];
      const where = { ...place, within: [...place.within, node.schema] };
      const target = this.#reader.typeOf(node.schema);
      return target.kind === "intersection" ? this.#resolved(target.of, where) : [[target, where]];
    });
    const places = new Map(found);
    const all = found.flatMap(([, { within }]) => within);
    return mergeObjects(found.map(([node]) => node)).map((node) => {
      const own = places.get(node);
      // A merged object is inside all schemas of its parts.
      return [node, own ?? { ...place, within: [...new Set(all)] }];
    });
  }
}
