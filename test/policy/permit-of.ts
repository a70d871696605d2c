/** A permit without servers. */
import { noAgent, SessionReads } from "../../src/policy/flow/session-reads.ts";
import { Permit, type PermitOptions } from "../../src/policy/permit.ts";

export function permitOf(options: Partial<PermitOptions> = {}): Permit {
  const reads = new SessionReads();
  return new Permit({
    exists: () => true,
    policyOf: () => undefined,
    asker: () => undefined,
    labels: { load: () => undefined, of: () => new Set(), ofAll: () => new Set(), isStrange: () => false },
    argumentNames: () => undefined,
    suspiciousTool: () => undefined,
    asksFor: () => undefined,
    changes: () => true,
    isModel: () => false,
    describedIn: () => undefined,
    place: { door: "", person: "" },
    caller: () => ({ reads, agent: noAgent }),
    definition: () => Promise.reject(new Error("not asked for")),
    jsonOf: JSON.stringify,
    hasServerText: () => true,
    ...options,
  });
}
