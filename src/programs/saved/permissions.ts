/** What a saved program may call: named when it is saved, checked with each call. */
import { ClaudikinsError } from "../../base/errors.ts";
import { shellWord } from "../../base/shell-word.ts";
import type { Read } from "../../policy/flow/session-reads.ts";
import type { BindingCall } from "../../sandbox/contract.ts";
import type { Pins } from "./model.ts";

/** The saved program that an execution runs. */
export interface ProgramIdentity {
  name: string;
  /** What it may call. */
  calls: readonly string[];
  /** The key of the token or person whose program it is, and whose programs it calls. Undefined for the user's. */
  owner?: string | undefined;
  /** What the session that saved it had read. */
  labels?: Read[] | undefined;
  /** What it may run with other programs: its own pins, or the pins of the program that calls it. */
  pins?: Pins | undefined;
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
