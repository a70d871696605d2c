/** Cancels an execution for a person or the user. The audit log has a line first: whose execution it was, and who has ended it. */
import type { Person } from "../../config/oidc.ts";
import { thisProcess } from "../../store/audit/decider.ts";
import type { Decider } from "../../store/audit/event.ts";
import type { ExecutionParts } from "../execute.ts";
import type { Executions } from "./executions.ts";
import type { StoredRequest } from "./stored-executions.ts";

interface CancelParts extends ExecutionParts {
  executions(): Promise<Executions>;
}

/**
 * `by` is the person who has signed in to the page, if it is not the user. Returns false if the execution had ended before. Throws
 * EXECUTION_NOT_FOUND, and FILE_NOT_WRITABLE if it cannot be recorded.
 */
export async function cancelFor(
  id: string,
  parts: CancelParts,
  place: NonNullable<Decider["place"]>,
  by?: Person,
): Promise<boolean> {
  const executions = await parts.executions();
  const { row } = await executions.stored.look(id, parts);
  if (row.state === "ended") return false;
  const { door, person } = JSON.parse(row.request) as StoredRequest;
  const about = {
    ...(row.config === null ? {} : { config: row.config }),
    ...(door === undefined ? {} : { door }),
    ...(person ? { person: { id: person.id, name: person.name } } : {}),
  };
  await parts.store.audit.add([{ decision: "cancelled", execution: id, ...about }], {
    ...thisProcess(place),
    ...(by ? { person: { id: by.id, name: by.name } } : {}),
  });
  return executions.cancel(id, parts);
}
