/** Issues and revokes tokens. The audit log has each change before it is made. */
import { randomBytes } from "node:crypto";
import { ClaudikinsError, messageOf, toClaudikinsError } from "../../base/errors.ts";
import { sha256 } from "../../base/sha256.ts";
import type { Environment } from "../../config/environment.ts";
import { cancelStartedBy } from "../../programs/execution/cancel-started-by.ts";
import { thisProcess } from "../../store/audit/decider.ts";
import type { AuditEvent } from "../../store/audit/event.ts";
import { record } from "../../store/audit/record.ts";
import { clientsOf, tokenOwner } from "../owner.ts";
import { changeTokens, type StoredToken, tokenId, tokenPrefix } from "./token-file.ts";

/** Tokens of all configs together, including expired ones. Each look at a changed file reads all of them. */
const maxTokens = 1_000;

export interface AskedToken extends Pick<StoredToken, "name" | "door" | "config"> {
  /** The time until it expires. Undefined: it never does. */
  lifeMs?: number | undefined;
}

/**
 * Makes a token and stores its digest. Returns the token, which nobody can read afterwards. Throws USAGE if there are too many, what the
 * file's reader throws, and FILE_NOT_WRITABLE if it cannot be recorded or stored.
 */
export async function issueToken(asked: AskedToken, env: Environment): Promise<{ token: string; stored: StoredToken }> {
  return recordedChange(env, (tokens, plan) => {
    if (tokens.length >= maxTokens) {
      throw new ClaudikinsError("USAGE", `There are ${tokens.length} tokens already, and no more are allowed`, {
        hint: "Revoke those that you do not need. To list them: claudikins tokens list --all",
      });
    }
    const { token, stored } = newToken(asked, new Set(tokens.map(tokenId)));
    plan(eventOf("issued", stored));
    tokens.push(stored);
    return { token, stored };
  });
}

/** The ids of tokens name them in commands, so each has its own. */
function newToken({ lifeMs, ...asked }: AskedToken, taken: ReadonlySet<string>) {
  const createdAt = Date.now();
  const expiresAt = lifeMs === undefined ? undefined : createdAt + lifeMs;
  for (;;) {
    const token = tokenPrefix + randomBytes(32).toString("base64url");
    const stored: StoredToken = { hash: sha256(token), ...asked, createdAt, expiresAt };
    if (!taken.has(tokenId(stored))) return { token, stored };
  }
}

/**
 * Removes tokens, and cancels what their clients have left running. Returns the tokens that were still there. Throws as `issueToken`
 * does.
 */
export async function revokeTokens(chosen: readonly StoredToken[], env: Environment): Promise<StoredToken[]> {
  const hashes = new Set(chosen.map(({ hash }) => hash));
  const revoked = await recordedChange(env, (tokens, plan) => {
    const removed = tokens.filter(({ hash }) => hashes.has(hash));
    plan(...removed.map((token) => eventOf("revoked", token)));
    tokens.splice(0, tokens.length, ...tokens.filter(({ hash }) => !hashes.has(hash)));
    return removed;
  });
  try {
    await cancelProgramsOf(revoked.map(tokenId), env);
  } catch (thrown) {
    const { code, message, hint } = toClaudikinsError(thrown);
    const what = "The tokens were revoked, but programs of their clients could not be cancelled";
    throw new ClaudikinsError(code, `${what}: ${message}`, {
      hint: hint ?? "To list them: claudikins executions list",
    });
  }
  return revoked;
}

/** Cancels the stored programs that clients of these tokens have started, in whatever process they run. */
export async function cancelProgramsOf(tokens: readonly string[], env: Environment): Promise<void> {
  for (const token of tokens) await cancelStartedBy(clientsOf(tokenOwner(token)), env);
}

/** Makes a change that the audit log has first. If the file cannot be written then, the log says that the change was not made. */
async function recordedChange<T>(
  env: Environment,
  change: (tokens: StoredToken[], plan: (...events: AuditEvent[]) => void) => T,
): Promise<T> {
  const by = thisProcess("command");
  const planned: AuditEvent[] = [];
  let isRecorded = false;
  try {
    return await changeTokens(env, async (tokens) => {
      const changed = change(tokens, (...events) => void planned.push(...events));
      if (planned.length > 0) await record(env, planned, by);
      isRecorded = planned.length > 0;
      return changed;
    });
  } catch (error) {
    const why = `not made: ${messageOf(error)}`;
    if (isRecorded) {
      const undone = planned.map((event) => ({ ...event, why }));
      await record(env, undone, by);
    }
    throw error;
  }
}

function eventOf(decision: "issued" | "revoked", stored: StoredToken): AuditEvent {
  const { name, door, expiresAt, config } = stored;
  const token = {
    id: tokenId(stored),
    ...(name === undefined ? {} : { name }),
    ...(door === undefined ? {} : { door }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  return { decision, ...(config === null ? {} : { config }), token };
}
