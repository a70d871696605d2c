/** The token that `serve --http` asks for where the user gives none: claudikins makes it once and keeps it in a private file. */
import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { ClaudikinsError, messageOf, systemCodeOf } from "../errors.ts";
import { writeWhenChanged } from "../files.ts";
import { withLock } from "../lock.ts";
import { isUsableToken } from "./http-flags.ts";

export interface KeptToken {
  token: string;
  file: string;
  /** Made just now. */
  isNew: boolean;
}

const others = "Delete the file to let claudikins make a new token, or give a token with --token-env or --token-file.";

/**
 * The token in the file, which is made if it is missing. Any process creates it; concurrent creation is safe. Throws USAGE for
 * a file that others can read or that has no token, FILE_NOT_WRITABLE, and CALL_TIMEOUT.
 */
export async function keptToken(file: string): Promise<KeptToken> {
  const found = tokenIn(file);
  if (found !== undefined) return { token: found, file, isNew: false };
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    return await withLock(`${file}.lock`, "the token of serve --http", () => {
      const made = tokenIn(file);
      if (made !== undefined) return { token: made, file, isNew: false };
      const token = randomBytes(32).toString("hex");
      writeWhenChanged(file, `${token}\n`, () => false, 0o600);
      return { token, file, isNew: true };
    });
  } catch (cause) {
    if (cause instanceof ClaudikinsError && cause.code !== "FILE_NOT_WRITABLE") throw cause;
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot store the token of serve --http: ${messageOf(cause)}`, {
      hint: "Give a token with --token-env NAME or --token-file FILE.",
      cause,
    });
  }
}

/** Undefined where there is no file. */
function tokenIn(file: string): string | undefined {
  const opened = open(file);
  if (opened === undefined) return undefined;
  try {
    const { uid, mode } = fstatSync(opened);
    const isPrivate = process.platform === "win32" || (uid === process.getuid?.() && (mode & 0o077) === 0);
    if (!isPrivate) throw unusable(`Others can read or change ${file}, so its token is not secret`);
    const token = readFileSync(opened, "utf8").trim();
    if (!isUsableToken(token)) throw unusable(`${file} has no usable token`);
    return token;
  } finally {
    closeSync(opened);
  }
}

/** A link could lead to a file of somebody else. */
function open(file: string): number | undefined {
  try {
    return openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (cause) {
    if (systemCodeOf(cause) === "ENOENT") return undefined;
    throw unusable(`Cannot read the token from ${file}: ${systemCodeOf(cause) ?? messageOf(cause)}`);
  }
}

function unusable(message: string): ClaudikinsError {
  return new ClaudikinsError("USAGE", message, { hint: others });
}
