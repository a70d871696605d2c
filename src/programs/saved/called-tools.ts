/** The tools that a program calls, as far as its text tells. */
import type { CallExpression } from "acorn";
import { isMember, keyName, type Node, propertyName } from "../../sandbox/ast/nodes.ts";
import type { Tree } from "../../sandbox/ast/tree.ts";
import { findTool, type RegistryTool } from "../../tools/model.ts";
import type { Parts } from "../parts.ts";

export interface CalledTool {
  call: CallExpression;
  /** `demo.list_orders`, or `demo.resources` for a function that a server has beside its tools. */
  id: string;
  /** Undefined if it is not known. */
  tool: RegistryTool | undefined;
}

const groups = ["resources", "prompts", "skills"];

/** `demo.list_orders(…)`, `servers["my-server"].tool(…)`, `demo.resources.read(…)`. Names that are computed are not found. */
export function calledTools(tree: Tree, { catalog }: Pick<Parts, "catalog">): CalledTool[] {
  return tree.all("CallExpression").flatMap((call): CalledTool[] => {
    const { callee } = call;
    const called = isMember(callee) && propertyName(callee) === "raw" ? callee.object : callee;
    const name = isMember(called) ? propertyName(called) : undefined;
    if (!isMember(called) || name === undefined) return [];
    const { object } = called;
    const server = serverOf(object);
    if (server !== undefined) {
      const known = catalog.find(server);
      const tool = known && findTool(known, name);
      return [{ call, id: `${server}.${tool?.name ?? name}`, tool }];
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
