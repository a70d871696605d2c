/** Doctor check of the stored sign-ins. No network is used. */

import { statSync } from "node:fs";
import { waitText } from "../../base/duration.ts";
import { shellWord } from "../../base/shell-word.ts";
import { dayMs } from "../../base/units.ts";
import { documentsOf } from "../../config/documents.ts";
import { signInStore } from "../../servers/auth/sign-in-store.ts";
import { loginCommand } from "../../servers/auth/words.ts";
import { networkServers, type ServerAuthStatus, standings } from "../../setup/sign-in/sign-ins.ts";
import { type CheckContext, type CheckParts, type Finding, findingsOf } from "./finding.ts";

/** A sign-in that ends sooner and cannot be renewed is reported. */
const signInEndsSoonMs = dayMs;

const { ok, warning, problem } = findingsOf("sign-ins");

export async function signInFindings(app: CheckParts, { credentialsFile, env }: CheckContext): Promise<Finding[]> {
  let isWarned = false;
  const warn = () => {
    isWarned = true;
  };
  const { areFiles, areKnown } = documentsOf(env);
  // A database that cannot be reached is another finding.
  if (!areKnown) return [];
  const credentials = await signInStore(credentialsFile, { env, sealing: app.config.sealing, warn });
  await credentials.ready();
  const found = standings(networkServers(app.config), credentials).flatMap(findingOf);
  const { whyLocked } = credentials;
  if (whyLocked !== undefined) return [locked(whyLocked, areFiles), ...found];
  const file = isWarned ? [damaged(credentialsFile)] : areFiles ? rightsOf(credentialsFile) : [];
  return [...file, ...found];
}

function findingOf(standing: ServerAuthStatus): Finding[] {
  const { server } = standing;
  const id = `sign-in.${server}`;
  if (standing.state === "expired") {
    const text = `The sign-in to "${server}" expired ${waitText(Date.now() - standing.expiresAt)} ago`;
    return [problem(id, text, "AUTH_REQUIRED", loginCommand(server))];
  }
  // Only the server knows whether it requires a sign-in.
  if (standing.state !== "signed in") return [];
  const { expiresAt, renewable } = standing;
  if (renewable) return [ok(id, `Signed in to "${server}", renewed automatically`)];
  if (expiresAt === undefined) return [ok(id, `Signed in to "${server}"`)];
  const text = `Signed in to "${server}" for another ${waitText(expiresAt - Date.now())}`;
  if (expiresAt - Date.now() > signInEndsSoonMs) return [ok(id, text)];
  return [warning(id, `${text}; the sign-in cannot be renewed`, loginCommand(server))];
}

function damaged(file: string): Finding {
  const text = `The sign-ins file is damaged, so you are signed out of every server: ${file}`;
  const repair = `mv ${shellWord(file)} ${shellWord(`${file}.damaged`)}`;
  return problem("sign-ins.file", text, "AUTH_REQUIRED", repair, {
    details: ["Then sign in again: claudikins auth login"],
  });
}

function locked(why: string, areFiles: boolean): Finding {
  const text = `The sign-ins are sealed, and ${why}, so you are signed out of every server`;
  const repair = areFiles ? "Unlock the keychain" : "Set the key of the other machines";
  return problem("sign-ins.key", text, "AUTH_REQUIRED", `${repair}, or sign in again: claudikins auth login`);
}

function rightsOf(file: string): Finding[] {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found || process.platform === "win32" || (found.mode & 0o077) === 0) return [];
  const text = "Other users of this machine can read your sign-ins";
  return [warning("sign-ins.file", text, `chmod 600 ${shellWord(file)}`)];
}
