/** What the session that runs a program has read, see policy/flow. */
import { join } from "node:path";
import { sha256 } from "../base/sha256.ts";
import { type Caller, noAgent, type ProgramReads, type Read, type SessionReads } from "../policy/flow/session-reads.ts";
import type { Outcome } from "../sandbox/contract.ts";
import type { FileUse } from "../sandbox/host/files.ts";
import { outputsName } from "../sandbox/host/outputs.ts";
import { agentOfUser, type RequestingAgent, type Starter } from "./execution/asker.ts";
import { shownText } from "./execution/shown-outcome.ts";
import type { Parts } from "./parts.ts";
import type { HostIdentity } from "./trace/record.ts";

/** The session of a client of `serve --http`, else the session of the connection. */
export async function readsOf(starter: Starter | undefined, { config, pool, sessions }: Parts): Promise<SessionReads> {
  if (!starter) return pool.reads;
  return sessions.ofClient(JSON.stringify([config.door, starter.client, starter.session]));
}

/** The names of sessions that have a connection. */
const sessionNames = new WeakMap<SessionReads, string>();

/** A short name of the session of an agent: the same for all programs of the session, and another one for each session. */
export function sessionName(starter: Starter | undefined, { config, pool }: Parts): string {
  if (starter) return sha256(JSON.stringify([config.door, starter.client, starter.session])).slice(0, 16);
  const name = sessionNames.get(pool.reads) ?? crypto.randomUUID().replaceAll("-", "").slice(0, 16);
  sessionNames.set(pool.reads, name);
  return name;
}

/** Whose share of the places it uses. Without tokens, each client has its own. */
export function ownerOf(starter: Starter | undefined): string | undefined {
  return starter?.owner ?? starter?.client;
}

/** A program and what it reads, and the agent that has sent it. */
export interface ProgramCaller extends Caller {
  reads: ProgramReads;
  /** The session, or the program that called this one. It gets the outcome. */
  reader: SessionReads;
}

/** The caller of a program's calls. `within` is what the program that calls it has read. */
export async function callerOf(
  { id, source, program, starter, host, within }: AskedProgram,
  parts: Parts,
): Promise<ProgramCaller> {
  const { name = "", version = "" } = host ?? noAgent;
  const reader = within ?? (await readsOf(starter, parts));
  // A saved program with labels was written earlier: its source does not count as text that this session's model has written.
  const written = program?.labels?.length ? "" : source;
  return {
    reads: reader.program(id, written, program !== undefined),
    reader,
    agent: { name, version },
    owner: ownerOf(starter),
  };
}

interface AskedProgram {
  id: string;
  source: string;
  /** The saved program that it is. */
  program?: { labels?: readonly Read[] | undefined } | undefined;
  starter?: Starter | undefined;
  host?: HostIdentity | undefined;
  within?: SessionReads | undefined;
}

/** An agent that gets the outcome of an execution reads what the outcome shows of what the execution has read. */
export async function readOutcome(
  id: string,
  outcome: Outcome,
  { starter }: Pick<RequestingAgent, "starter">,
  parts: Parts,
): Promise<void> {
  const reads = await parts.sessions.ofExecution(id);
  if (reads.length > 0) await (await readsOf(starter, parts)).add(reads, shownText(outcome));
}

/** The files that hold answers that are too long for an agent have the labels of what its session has read. */
export async function markOutputs({ starter }: RequestingAgent = agentOfUser, parts: Parts): Promise<void> {
  const reads = await readsOf(starter, parts);
  const folder = join(parts.config.folders.workspaceName, outputsName);
  if (reads.all.length > 0) await parts.sessions.wroteFile(folder, reads, { replaces: false });
}

/** Follows what a program reads from the workspace and writes into it. */
export function fileListener({ reads }: Caller, { config, sessions }: Parts): (use: FileUse) => void {
  const { workspaceName } = config.folders;
  return ({ path, how }) =>
    reads.after(async () => {
      const file = join(workspaceName, path);
      if (how !== "reads") await sessions.wroteFile(file, reads, { replaces: how === "replaces" });
      else {
        const found = await sessions.ofFile(file, workspaceName);
        if (found.length > 0) await reads.add(found);
      }
    });
}
