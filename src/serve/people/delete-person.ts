/** Deletes what is kept of a person who has signed in to `serve --http`. The lines of the audit log stay: they are a chain. */
import { rmSync } from "node:fs";
import { sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ClaudikinsError, systemCodeOf } from "../../base/errors.ts";
import type { Environment } from "../../config/environment.ts";
import { foldersOfPerson, personFolder, sharedNameOf } from "../../config/locations.ts";
import type { Person } from "../../config/oidc.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import { fileHolder } from "../../policy/flow/label-sessions.ts";
import { ProgramLibrary } from "../../programs/saved/library.ts";
import { readSummaries, removeRecords } from "../../programs/trace/store.ts";
import { thisProcess } from "../../store/audit/decider.ts";
import type { Decider } from "../../store/audit/event.ts";
import { openStore } from "../../store/open.ts";
import type { StoredPerson } from "../../store/people.ts";
import type { Store } from "../../store/store.ts";
import { clientsOf, personOwner } from "../owner.ts";
import { endPeople } from "./access.ts";

/** Time after which every process has ended what a revoked person began, and has written what it records of it. */
const revokedEverywhereMs = 3_000;

/** Time for the executions of a person to end before the person's data is deleted. */
const personEndMs = 30_000;

/** Time between looks whether they have. */
const personEndLookMs = 200;

/** What was deleted, as numbers and names. */
export interface DeletedData {
  executions: number;
  /** Calls that waited for a decision, and decisions. */
  approvals: number;
  /** Records of executions, which `claudikins executions` shows. */
  records: number;
  /** Lines of the call log. */
  calls: number;
  /** Files that the replicas share. */
  files: number;
  /** Workspaces and registries of the person on this machine. */
  folders: string[];
}

interface DeleteOptions {
  /** The registries and workspaces that the config and its doors share, see `sharedFolders`. */
  shared: readonly string[];
  /** The saved programs of the config and its doors, see `savedProgramsOfAll`. */
  programs: readonly SavedProgramsPlace[];
  env: Environment;
  /** The administrator on the page. */
  by?: Person | undefined;
  /** For the audit log. */
  why?: string | undefined;
}

/**
 * Deletes everything that is kept of a person, in the store and on this machine. It begins when all processes have ended the person's work.
 * A revoked person stays refused, without a name. Any other person can come back as a new one. The audit log gets a line first. It can be
 * repeated after a failure. Throws EXECUTION_RUNNING if an execution does not end, and FILE_NOT_WRITABLE.
 */
export async function deletePerson(
  person: StoredPerson,
  { shared, programs, env, by, why }: DeleteOptions,
): Promise<DeletedData> {
  const { id, config } = person;
  const decider: Decider = { ...thisProcess(by ? "page" : "command"), ...(by ? { person: by } : {}) };
  await using store = openStore(env);
  await store.audit.add(
    [{ decision: "deleted", config, person: { id, name: id }, ...(why === undefined ? {} : { why }) }],
    decider,
  );
  await endPeople([id], config, env);
  await ended(person, store);
  const folders = foldersOfPerson(shared, person);
  // Another replica may have had the only folder.
  const labelled = [...folders, ...shared.map((each) => personFolder(each, person))];
  const deleted = {
    executions: await removeExecutions(person, store),
    approvals: await removeApprovals(person, store, decider),
    records: await removeRecordsOf(person, store),
    calls: await store.callLog.removePerson(config, id),
    files: (await store.files?.clear({ config, person: id }, Date.now())) ?? 0,
    folders: removeFolders(folders),
  };
  // These belong to replicas that have died.
  await store.replicas?.sessions.forget(config, personOwner(id));
  await removeLabels(labelled, { config, env, store });
  for (const place of programs) await removePrograms(place, personOwner(id));
  await store.directory.forget(config, id);
  await store.people.forget(person);
  return deleted;
}

/** Resolves when no process works for the person any more. Processes look for revoked people several times a second. */
async function ended({ id, config, revokedAt }: StoredPerson, store: Store): Promise<void> {
  await sleep(Math.max(0, (revokedAt ?? 0) + revokedEverywhereMs - Date.now()));
  for (const deadline = performance.now() + personEndMs; ; await sleep(personEndLookMs)) {
    const open = (await store.executions.startedBy(clientsOf(personOwner(id)))).filter((row) => row.config === config);
    if (open.length === 0) return;
    if (performance.now() < deadline) continue;
    throw new ClaudikinsError("EXECUTION_RUNNING", `The execution "${open[0]!.id}" of the person has not ended yet`, {
      hint: "Nothing was deleted. Try again, or end the process that runs it.",
    });
  }
}

async function removeExecutions({ id, config }: StoredPerson, store: Store): Promise<number> {
  const all = await store.executions.startedBy(clientsOf(personOwner(id)), "all");
  const rows = all.filter((row) => row.config === config);
  if (rows.length === 0) return 0;
  const writer = store.executions.writer();
  try {
    for (const row of rows) await writer.do("remove", row.id, {});
  } finally {
    await writer.close();
  }
  return rows.length;
}

async function removeApprovals({ id, config }: StoredPerson, store: Store, by: Decider): Promise<number> {
  const rows = (await store.approvals.list({ config })).filter(({ person }) => person === id);
  const ids = rows.map((row) => row.id);
  if (ids.length === 0) return 0;
  const open = rows.filter(({ state }) => state === "open").map((row) => row.id);
  await store.approvals.change({ type: "withdraw", ids: open }, by, Date.now());
  await store.approvals.change({ type: "remove", ids }, by, Date.now());
  return ids.length;
}

async function removeRecordsOf({ id, config }: StoredPerson, store: Store): Promise<number> {
  const summaries = await readSummaries(store);
  const own = summaries.filter((each) => each.config === config && each.person?.id === id);
  await removeRecords(
    store,
    own.map((each) => each.id),
  );
  return own.length;
}

async function removePrograms(place: SavedProgramsPlace, owner: string): Promise<void> {
  await place.documents.ready();
  const library = new ProgramLibrary(place, owner);
  for (const name of library.names()) await library.remove(name);
}

function removeFolders(folders: string[]): string[] {
  for (const folder of folders) {
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      throw new ClaudikinsError(
        "FILE_NOT_WRITABLE",
        `Cannot remove ${folder}: ${systemCodeOf(error) ?? "unknown error"}`,
        {
          hint: "Remove it by hand, or check the rights of the folder, and try again.",
        },
      );
    }
  }
  return folders;
}

async function removeLabels(
  folders: readonly string[],
  { config, env, store }: { config: string; env: Environment; store: Store },
): Promise<void> {
  for (const folder of new Set(folders)) {
    const prefix = fileHolder(`${sharedNameOf(folder, config, env)}${sep}`);
    await store.labels.change({ prune: { prefix, before: Number.MAX_SAFE_INTEGER } });
  }
}
