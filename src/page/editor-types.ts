/** What the editor of the page completes: the servers, their tools, and the types of arguments and results as far as they are known. */
import type { App } from "../app/app.ts";
import { isObject } from "../base/json-object.ts";
import { pageAgent } from "../programs/trace/record.ts";
import { firstAnswerMs } from "../tools/limits.ts";
import type { RegistryTool } from "../tools/model.ts";
import { resultSchema } from "../tools/observed/result-schema.ts";
import { signature } from "../tools/signature.ts";
import { isUnknown, mergeObjects, type TypeNode } from "../tools/types/node.ts";
import { type Role, SchemaReader } from "../tools/types/read-schema.ts";
import type { PageEditor, PageEditorTool, PageField, PageType } from "./programs-contract.ts";
import { shownDescription } from "./servers.ts";

/** Levels of a type that the editor knows. */
const maxTypeLevels = 6;

/** Fields of one object that the editor knows. */
const maxTypeFields = 200;

/** Fields of all types of one tool. */
const maxToolFields = 1_000;

/** Values of one type that the editor offers. */
const maxTypeValues = 100;

export function editorOf({ catalog, config }: App): PageEditor {
  const servers = catalog.names
    .filter(({ name }) => !catalog.isClosed(name))
    .map(({ name, jsName }) => {
      const description = config.servers.get(name)?.description ?? catalog.find(name)?.description ?? "";
      return { name, jsName, description: shownDescription({ description }) };
    });
  return { servers, doors: [...config.doors], agent: pageAgent };
}

/**
 * The tools as they were listed last. A server that was never listed is started for it, as for a search of an agent. None if it does not
 * answer in time, or is not in the config.
 */
export async function editorTools(server: string, { catalog }: App): Promise<PageEditorTool[]> {
  await catalog.tools(server, { freshAs: "stored", waitMs: firstAnswerMs }).catch(() => {});
  await catalog.observer.settleAll();
  const known = catalog.find(server);
  if (!known) return [];
  const jsName = catalog.jsNameOf(server);
  return known.tools.map((tool) => toolOf({ name: server, jsName }, tool));
}

function toolOf(server: { name: string; jsName: string | undefined }, tool: RegistryTool): PageEditorTool {
  const { name, jsName, inputSchema } = tool;
  const result = resultSchema(tool);
  const left = { fields: maxToolFields };
  return {
    name,
    jsName,
    description: shownDescription(tool),
    signature: signature(server, tool),
    arguments: new TypeWriter(inputSchema, "arguments", left).type(inputSchema),
    result: result && new TypeWriter(result, "results", left).type(result),
  };
}

class TypeWriter {
  readonly #reader: SchemaReader;
  readonly #left: { fields: number };

  constructor(root: unknown, role: Role, left: { fields: number }) {
    this.#reader = new SchemaReader(root, role);
    this.#left = left;
  }

  type(schema: unknown): PageType {
    return this.#typeOf([this.#reader.typeOf(schema)], maxTypeLevels);
  }

  /** The type of values that have one of these types. */
  #typeOf(options: readonly TypeNode[], levels: number): PageType {
    const nodes = options.flatMap((node) => this.#alternatives(node, levels));
    const values = nodes.flatMap((node) => (node.kind === "literal" ? [JSON.stringify(node.value)] : []));
    const lists = nodes.flatMap((node) => (node.kind === "list" ? [node.of] : node.kind === "tuple" ? node.of : []));
    const objects = nodes.filter((node) => node.kind === "object");
    const isList = nodes.some(({ kind }) => kind === "list" || kind === "tuple");
    const plain = nodes.flatMap((node) => (node.kind === "plain" ? [node.text] : []));
    const words = [
      ...values.slice(0, maxTypeValues),
      ...plain,
      isList ? "list" : "",
      objects.length > 0 ? "object" : "",
    ];
    const members = objects.flatMap((node) => node.members);
    const isDeep = levels <= 0;
    return {
      text: [...new Set(words.filter(Boolean))].join(" | ") || "unknown",
      values: values.length === 0 ? undefined : [...new Set(values)].slice(0, maxTypeValues),
      items: lists.length === 0 || isDeep ? undefined : this.#typeOf(lists, levels - 1),
      fields: members.length === 0 || isDeep ? undefined : this.#fields(members, levels - 1),
    };
  }

  #fields(members: Extract<TypeNode, { kind: "object" }>["members"], levels: number): PageField[] {
    const byName = Map.groupBy(members, ({ name }) => name);
    const room = Math.min(maxTypeFields, this.#left.fields);
    const taken = [...byName].slice(0, room);
    this.#left.fields -= taken.length;
    return taken.map(([name, same]) => ({
      name,
      isOptional: same.every(({ isOptional }) => isOptional),
      description: descriptionOf(same[0]?.schema),
      type: this.#typeOf(
        same.map(({ type }) => type),
        levels,
      ),
    }));
  }

  /** The parts of a union, and the targets of references. */
  #alternatives(node: TypeNode, levels: number, depth = 0): TypeNode[] {
    if (depth > maxTypeLevels) return [];
    const inner = (each: TypeNode) => this.#alternatives(each, levels, depth + 1);
    if (node.kind === "union") return node.of.flatMap(inner);
    if (node.kind === "reference") return inner(this.#reader.typeOf(node.schema));
    // An intersection of unions is taken for their union: completion may offer a field too many.
    if (node.kind === "intersection") return mergeObjects(node.of.filter((each) => !isUnknown(each)).flatMap(inner));
    return [node];
  }
}

function descriptionOf(schema: unknown): string {
  const description = isObject(schema) ? schema["description"] : undefined;
  return typeof description === "string" ? shownDescription({ description }) : "";
}
