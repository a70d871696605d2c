/** Hashes of the audit log that are kept elsewhere: lines of a file that only grows. An entry with such a hash was not changed since. */
import { appendFileSync } from "node:fs";
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import { readIfThere } from "../../base/files.ts";

/** The hash in the last line of the file. Undefined for a file that is missing or empty. Throws CONFIG_INVALID for another file. */
export function lastAnchor(file: string): string | undefined {
  const last = (readIfThere(file) ?? "").trimEnd().split("\n").at(-1);
  if (last === undefined || last === "") return undefined;
  const [, hash] = /^\S+ \d+ ([0-9a-f]{64})$/.exec(last) ?? [];
  if (hash !== undefined) return hash;
  throw new ClaudikinsError(
    "CONFIG_INVALID",
    `The last line of ${file} is not an anchor: a time, an entry and a hash`,
    {
      hint: "Name a file that `claudikins audit verify --anchor` has written, or one that does not exist yet.",
    },
  );
}

/** Throws FILE_NOT_WRITABLE. */
export function addAnchor(file: string, { entries, sha256 }: { entries: number; sha256: string }): void {
  try {
    appendFileSync(file, `${new Date().toISOString()} ${entries} ${sha256}\n`, { flush: true });
  } catch (cause) {
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot write ${file}: ${messageOf(cause)}`, { cause });
  }
}
