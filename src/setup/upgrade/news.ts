/** Whether there is a newer version of this executable, and the command that installs it. */
import { version } from "../../base/version.ts";
import type { Environment } from "../../config/environment.ts";
import { noteLatest, readSeen } from "./hint.ts";
import { type Installation, ownInstallation, upgradeCommand } from "./installation.ts";
import { findRelease } from "./releases.ts";
import { compareVersions } from "./versions.ts";

export interface News {
  /** The version of this executable. */
  from: string;
  /** The newest version, or the wanted one. */
  to: string;
  /** Whether `to` is another version than `from`, and was asked for or is newer. */
  available: boolean;
  /** Above zero if `to` is newer than `from`, and below zero if it is older. */
  order: number;
  installed: Installation["kind"];
  /** This executable. */
  path: string;
  /** The command to run, where claudikins cannot replace itself. */
  command?: string | undefined;
}

/** Asks the server of releases, and notes the newest version. Throws the errors of `findRelease`. */
export async function askForNews(
  wanted: string | undefined,
  { env, signal }: { env: Environment; signal: AbortSignal },
): Promise<News> {
  const { version: to } = await findRelease(wanted, env, signal);
  if (wanted === undefined) noteLatest(to, env);
  return newsOf(to, wanted);
}

/** What the last check has found, and when it was, in milliseconds since 1970. Nothing is asked. `news` is undefined if there was no check. */
export function knownNews(env: Environment): { news: News | undefined; checkedAt: number | undefined } {
  const { latest, checkedAt } = readSeen(env);
  return latest === undefined
    ? { news: undefined, checkedAt: undefined }
    : { news: newsOf(latest, undefined), checkedAt };
}

function newsOf(to: string, wanted: string | undefined): News {
  const installation = ownInstallation();
  const order = compareVersions(to, version);
  const available = order > 0 || (wanted !== undefined && order !== 0);
  const command = available && installation.kind !== "script" ? upgradeCommand(installation, to, wanted) : undefined;
  return { from: version, to, available, order, installed: installation.kind, path: installation.path, command };
}
