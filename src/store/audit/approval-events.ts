/** What the audit log says about approvals. */
import type { Approval } from "../approval.ts";
import { argumentsDigest } from "../bound.ts";
import type { AuditEvent } from "./event.ts";

/** An event for each row that is not open. */
export function eventsOf(rows: readonly Approval[]): AuditEvent[] {
  return rows.flatMap((row) => {
    const { state, scope } = row;
    return state === "open" ? [] : [{ decision: state, ...aboutRow(row), ...(scope ? { scope } : {}) }];
  });
}

function aboutRow({
  id,
  config,
  door,
  person,
  personName,
  execution,
  call,
  line,
  server,
  tool,
  argsBytes,
  bound,
}: Approval): Omit<AuditEvent, "decision"> {
  return {
    approval: id,
    ...(config === null ? {} : { config }),
    ...(door === null ? {} : { door }),
    ...(person === null ? {} : { person: { id: person, name: personName ?? person } }),
    execution,
    call,
    ...(line === null ? {} : { line }),
    server,
    tool,
    arguments: { sha256: argumentsDigest(bound), bytes: argsBytes },
  };
}
