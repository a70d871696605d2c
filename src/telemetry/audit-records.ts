/** Sends the entries that this process adds to the audit log as log records. They have no arguments, results or values of a config. */
import { type Attributes, type Logger, SeverityNumber } from "@opentelemetry/api";
import type { WrittenEvent } from "../store/audit/heard.ts";
import { attribute } from "./conventions.ts";
import { maxNameChars } from "./limits.ts";

/** A function that sends an event. */
export function auditSender(logger: Logger): (written: WrittenEvent) => void {
  return ({ event, by, at }) => {
    const { decision, server, tool, execution, call, approval, config, door, person, scope, changes, token, why } =
      event;
    const known: Record<string, string | number | undefined> = {
      [attribute.auditDecision]: decision,
      [attribute.auditScope]: scope,
      [attribute.server]: server,
      [attribute.tool]: tool,
      [attribute.execution]: execution,
      [attribute.call]: call,
      [attribute.approval]: approval,
      [attribute.config]: config,
      [attribute.door]: door ?? token?.door,
      [attribute.personId]: person?.id,
      [attribute.personName]: person?.name,
      [attribute.token]: token?.id,
      [attribute.changed]: changes?.map((each) => each.at).join(" "),
      [attribute.why]: why,
      [attribute.decidedAt]: by.place,
      [attribute.decidedBy]: by.person?.id ?? by.user,
      [attribute.decidedByName]: by.person?.name ?? by.user,
      [attribute.decidedFrom]: by.parent,
      [attribute.pid]: by.pid,
    };
    const attributes: Attributes = {};
    for (const [name, value] of Object.entries(known)) {
      if (value !== undefined) attributes[name] = typeof value === "string" ? value.slice(0, maxNameChars) : value;
    }
    const about = server === undefined ? "" : ` ${tool === undefined ? server : `${server}.${tool}`}`;
    logger.emit({
      eventName: `claudikins.audit.${decision}`,
      timestamp: at,
      severityNumber: decision === "broken" ? SeverityNumber.WARN : SeverityNumber.INFO,
      severityText: decision === "broken" ? "WARN" : "INFO",
      body: `${decision}${about}`.slice(0, maxNameChars),
      attributes,
    });
  };
}
