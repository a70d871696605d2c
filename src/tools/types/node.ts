/** The nodes of types: what a JSON Schema accepts, as far as TypeScript can express it. */

export type TypeNode =
  | { kind: "plain"; text: "string" | "number" | "boolean" | "null" | "undefined" | "unknown" | "never" }
  | { kind: "literal"; value: string | number | boolean }
  | { kind: "union"; of: TypeNode[] }
  | { kind: "intersection"; of: TypeNode[] }
  | { kind: "list"; of: TypeNode }
  | TupleNode
  | ObjectNode
  | ReferenceNode;

interface TupleNode {
  kind: "tuple";
  of: TypeNode[];
  /** How many items are required. */
  required: number;
  /** The type of further items; undefined if there may be none. */
  rest: TypeNode | undefined;
}

export interface ObjectNode {
  kind: "object";
  members: Member[];
  /** Further keys: all (`string`), or keys that match a template such as `x-${string}`. */
  others: { key: string; type: TypeNode }[];
  /** The schema that was read, to detect recursive types. */
  schema: object;
}

export interface Member {
  name: string;
  isOptional: boolean;
  type: TypeNode;
  /** The schema with its documentation. */
  schema: unknown;
  /** The default of a required argument. */
  usual?: unknown;
}

/** A reference to a type in the document. */
export interface ReferenceNode {
  kind: "reference";
  /** The reference in the schema: `#/$defs/address`. */
  pointer: string;
  schema: object;
}

export const unknownType: TypeNode = { kind: "plain", text: "unknown" };
export const neverType: TypeNode = { kind: "plain", text: "never" };

/** Key and type of `Record<string, unknown>`. */
export const anyKey = { key: "string", type: unknownType };

/**
 * Merges objects of an intersection into one. A member of several has all their types, and is optional only if it is optional
 * in all. Other types, and objects with further keys, stay separate.
 */
export function mergeObjects(nodes: TypeNode[]): TypeNode[] {
  const plain = nodes.filter((node): node is ObjectNode => node.kind === "object" && node.others.length === 0);
  if (plain.length < 2) return nodes;
  const members = new Map<string, Member>();
  for (const member of plain.flatMap((node) => node.members)) {
    const before = members.get(member.name);
    members.set(member.name, before ? both(before, member) : member);
  }
  const merged: ObjectNode = { kind: "object", members: [...members.values()], others: [], schema: plain[0]!.schema };
  return [merged, ...nodes.filter((node) => !plain.includes(node as ObjectNode))];
}

function both(a: Member, b: Member): Member {
  const type: TypeNode =
    a.type === b.type || isUnknown(b.type)
      ? a.type
      : isUnknown(a.type)
        ? b.type
        : { kind: "intersection", of: [a.type, b.type] };
  const { usual = b.usual } = a;
  const isOptional = a.isOptional && b.isOptional;
  return { ...a, type, isOptional, usual, schema: isUnknown(a.type) ? b.schema : a.schema };
}

export function isUnknown(node: TypeNode): boolean {
  return node.kind === "plain" && node.text === "unknown";
}
