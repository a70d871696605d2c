/** Reads entries of the audit log, for the command line and the page. */
import { lineOf } from "./chain.ts";
import type { AuditLine } from "./event.ts";
import type { AuditLog } from "./log.ts";

/** Which entries are wanted. Undefined keys want all. */
export interface AuditFilter {
  /** Milliseconds since 1970. */
  since?: number | undefined;
  server?: string | undefined;
  /** The id of a tool: `server.tool`. */
  tool?: string | undefined;
  execution?: string | undefined;
  /** The id or the name of a person, or a user of the machine: who decided, and whom the entry is about. */
  user?: string | undefined;
  /** The path of a config file. */
  config?: string | undefined;
  decision?: string | undefined;
}

/** The wanted entries, read while they are asked for. Lines that are not entries are left out. */
export async function* auditEntries(
  log: Pick<AuditLog, "lines">,
  filter: AuditFilter = {},
  order: "oldest first" | "newest first" = "oldest first",
): AsyncGenerator<AuditLine> {
  for await (const stored of log.lines(order)) {
    const line = lineOf(stored.line);
    if (line && isWanted(line, filter)) yield line;
  }
}

/** The newest wanted entries, newest first, at most `most`. */
export async function newestEntries(
  log: Pick<AuditLog, "lines">,
  filter: AuditFilter,
  most: number,
): Promise<AuditLine[]> {
  const found: AuditLine[] = [];
  if (most === 0) return found;
  for await (const line of auditEntries(log, filter, "newest first")) if (found.push(line) === most) break;
  return found;
}

function isWanted(
  line: AuditLine,
  { since = 0, server, tool, execution, user, config, decision }: AuditFilter,
): boolean {
  return (
    line.at >= since &&
    (server === undefined || line.server === server) &&
    (tool === undefined || (line.server !== undefined && `${line.server}.${line.tool ?? ""}` === tool)) &&
    (execution === undefined || line.execution === execution) &&
    (user === undefined || namesIn(line).includes(user)) &&
    (config === undefined || line.config === config) &&
    (decision === undefined || line.decision === decision)
  );
}

/** Everything by which the entry can be found with `user`. */
function namesIn({ person, by }: AuditLine): string[] {
  return [person, by.person].flatMap((each) => (each ? [each.id, each.name] : [])).concat(by.user);
}

/** What the entry is about, in a few words. Names are unchanged texts of servers and people. */
export function subjectOf({
  decision,
  execution,
  server,
  tool,
  config = "",
  changes,
  token,
  person,
  cut: removed,
  why,
}: AuditLine): string {
  const whose = person === undefined ? "" : ` for ${person.name}`;
  if (server !== undefined) return `${[server, ...(tool === undefined ? [] : [tool])].join(".")}${whose}`;
  if (decision === "cancelled") return `execution ${execution}${whose}`;
  if (removed) return `entries up to ${removed.entry}`;
  if (person) return `person ${person.name} ${person.id}`;
  if (token) return `token ${[token.id, token.name].filter(Boolean).join(" ")}${why === undefined ? "" : `: ${why}`}`;
  if (changes) return `${config}: ${changes.map(({ at }) => at).join(", ")}`;
  return why ?? config;
}

/** The name of the person or the program that has decided. */
export function deciderText({ by }: AuditLine): string {
  return by.person?.name ?? [by.user, by.parent].filter(Boolean).join(", from ");
}
