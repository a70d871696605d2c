/** What a JSON Schema accepts, as far as TypeScript can say it: plain data between reading a schema and printing a type. */

export type TypeNode =
  | { kind: "plain"; text: "string" | "number" | "boolean" | "null" | "undefined" | "unknown" | "never" }
  | { kind: "literal"; value: string | number | boolean }
  | { kind: "union"; of: TypeNode[] }
  | { kind: "intersection"; of: TypeNode[] }
  | { kind: "list"; of: TypeNode }
  | TupleNode
  | ObjectNode
  | ReferenceNode;

export interface TupleNode {
  kind: "tuple";
  of: TypeNode[];
  /** How many of them must be there. */
  required: number;
  /** What may follow; undefined where nothing may. */
  rest: TypeNode | undefined;
}

export interface ObjectNode {
  kind: "object";
  members: Member[];
  /** Further keys: every one (`string`), or those of a template such as `x-${string}`. */
  others: { key: string; type: TypeNode }[];
  /** Where it was read, for telling that a type is within itself. */
  schema: object;
}

export interface Member {
  name: string;
  isOptional: boolean;
  type: TypeNode;
  /** For its documentation. */
  schema: unknown;
  /** What the server takes where a required argument is left out. */
  usual?: unknown;
}

/** A type that stands elsewhere in the document. */
export interface ReferenceNode {
  kind: "reference";
  /** As the schema has it: `#/$defs/address`. */
  pointer: string;
  schema: object;
}

export const unknownType: TypeNode = { kind: "plain", text: "unknown" };
export const neverType: TypeNode = { kind: "plain", text: "never" };

/** Key and type of `Record<string, unknown>`. */
export const anyKey = { key: "string", type: unknownType };

/**
 * Objects that a value must be all at once, as one object: a member of several has all their types and is optional where it
 * is in each. What is no object, or has further keys, stays beside it.
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
