/** Approvals for tests. */
import type { Asking } from "../../src/store/approval.ts";

export type AskingChanges = Partial<Omit<Asking, "args"> & { args: object }>;

export function asking({ args = { id: 1, text: 'a "quoted" text' }, ...changes }: AskingChanges = {}): Asking {
  return {
    config: "/shop/claudikins.json",
    door: null,
    person: null,
    personName: null,
    execution: "e1",
    call: 1,
    owner: "process-1",
    line: 3,
    code: "await github.merge({ id: 1 })",
    server: "github",
    tool: "merge",
    args: JSON.stringify(args),
    why: 'policy.confirm says "always"',
    told: "the user confirms every call of this tool",
    changed: null,
    bound: { "its description": "d", "the arguments of the call": "a" },
    askedAt: 1_000,
    expiresAt: 2_000,
    ...changes,
  };
}
