/** What a saved program may call: named when it is saved, checked with each call. */
import { ClaudikinsError } from "../../base/errors.ts";
import { shellWord } from "../../base/shell-word.ts";
import { isMember, propertyName } from "../../sandbox/ast/nodes.ts";
import type { Tree } from "../../sandbox/ast/tree.ts";
import type { BindingCall } from "../../sandbox/contract.ts";
import type { Parts } from "../parts.ts";
import { programsServer, saveFunction } from "./model.ts";

/** The saved program that an execution runs. */
export interface ProgramIdentity {
  name: string;
  /** What it may call. */
  calls: readonly string[];
  /** 1 if a person or an agent runs it, and one more for each program that calls another. */
  depth: number;
}

/** `demo.list_orders` for a tool; `demo.resources` for everything that a server has beside its tools. */
function idOf({ namespace, group, name }: Pick<BindingCall, "namespace" | "group" | "name">): string {
  return `${namespace}.${group === "tools" ? name : group}`;
}

/** Throws POLICY_DENIED. `tool` is the tool's own name, if it is known. */
export function requirePermission({ name, calls }: ProgramIdentity, call: BindingCall, tool: string = call.name): void {
  const id = idOf({ ...call, name: tool });
  if (calls.includes(id)) return;
  const allowed = calls.length === 0 ? "it may call nothing" : `it may call ${calls.join(", ")}`;
  throw new ClaudikinsError("POLICY_DENIED", `The saved program "${name}" may not call ${id}: ${allowed}`, {
    hint: `Only its user can allow it: claudikins programs save ${name} --name ${name} --call ${shellWord(id)}`,
  });
}

/** The calls that the code names: `demo.list_orders(…)`, `servers["my-server"].tool(…)`. Names that are computed are not found. */
export function callsIn(tree: Tree, { catalog }: Pick<Parts, "catalog">): string[] {
  const found = tree.all("CallExpression").flatMap(({ callee }): string[] => {
    const called = isMember(callee) && propertyName(callee) === "raw" ? callee.object : callee;
    const last = isMember(called) ? propertyName(called) : undefined;
    if (!isMember(called) || last === undefined) return [];
    const { object } = called;
    // `demo.resources.read(…)` is a call of a group.
    const group = isMember(object) ? propertyName(object) : undefined;
    const server = serverOf(object);
    if (server !== undefined) return [`${server}.${toolOf(server, last)}`];
    const outer = isMember(object) && groups.includes(group ?? "") ? serverOf(object.object) : undefined;
    return outer === undefined ? [] : [`${outer}.${group}`];
  });
  return [...new Set(found)].filter((id) => id !== `${programsServer}.${saveFunction}`).sort();

  function serverOf(object: Tree["nodes"][number]): string | undefined {
    if (object.type === "Identifier") {
      if (tree.binding(object)?.sources.some(({ kind }) => kind !== "import")) return undefined;
      return catalog.names.find(({ jsName }) => jsName === object.name)?.name;
    }
    const isServers = isMember(object) && object.object.type === "Identifier" && object.object.name === "servers";
    const wanted = isServers ? propertyName(object) : undefined;
    return catalog.names.find(({ name, jsName }) => name === wanted || jsName === wanted)?.name;
  }

  function toolOf(server: string, written: string): string {
    const tools = catalog.find(server)?.tools ?? [];
    return (
      (tools.find(({ name }) => name === written) ?? tools.find(({ jsName }) => jsName === written))?.name ?? written
    );
  }
}

const groups = ["resources", "prompts", "skills"];
