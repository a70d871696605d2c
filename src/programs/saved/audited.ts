/** Lines of the audit log about saved programs: each is there before what it says is done. */
import type { Config } from "../../config/load.ts";
import { configOwner } from "../../servers/logs/place.ts";
import { thisProcess } from "../../store/audit/decider.ts";
import type { AuditEvent, Decider } from "../../store/audit/event.ts";
import type { Store } from "../../store/store.ts";
import { differencesOf } from "./differences.ts";
import { digestOf } from "./library.ts";
import { programsServer, type SavedProgram } from "./model.ts";

/** What is done with a saved program or its schedule. */
export type ProgramDecision = Extract<
  AuditEvent["decision"],
  "saved" | "replaced" | "shared" | "accepted" | "removed" | "scheduled" | "unscheduled"
>;

export interface ProgramAudit {
  config: Pick<Config, "origin" | "door" | "person">;
  store: Pick<Store, "audit" | "deliveries">;
  place: NonNullable<Decider["place"]>;
}

/** Throws FILE_NOT_WRITABLE. */
export async function recordProgram(
  decision: ProgramDecision,
  { name, owner }: Pick<SavedProgram, "name" | "owner">,
  why: string,
  { config: { origin, door, person }, store, place }: ProgramAudit,
): Promise<void> {
  const config = configOwner(origin);
  const [kind, id] = owner?.key.split(":") ?? [];
  const event: AuditEvent = {
    decision,
    ...(config === null ? {} : { config }),
    ...(door === undefined ? {} : { door }),
    server: programsServer,
    tool: name,
    why,
    ...(kind === "person" ? { person: { id: id ?? "", name: owner?.name ?? "" } } : {}),
    ...(kind === "token" ? { token: { id: id ?? "" } } : {}),
  };
  await store.audit.add([event], { ...thisProcess(place), ...(person ? { person: { ...person } } : {}) });
}

/** What a line says of a program: its digest, and what is different. */
export function programText(program: SavedProgram, before?: SavedProgram): string {
  const { changes = [], isCodeChanged = false } = before ? differencesOf(before, program) : {};
  const changed = [...changes, ...(isCodeChanged ? ["its code is another"] : [])].join("; ");
  const was = before ? ` (before: ${digestOf(before)})` : "";
  const what = before ? changed : `it may call ${program.calls.join(", ") || "nothing"}`;
  return `SHA-256 ${digestOf(program)}${was}${what === "" ? "" : `; ${what}`}`;
}
