/**
 * The address that belongs to the path of a daemon's socket. Except on Windows, the address is that path. On Windows, the path is a file
 * with the name of a named pipe. Each daemon chooses a random name, because every user of the machine may create a pipe under a name that
 * is known, and only this user can write the file. Generated files use this too, so this file must not need Bun.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";

const isWindows = process.platform === "win32";

/** Throws the system's ENOENT if no daemon has listened there. */
export function addressOf(socket: string): string {
  return isWindows ? readFileSync(socket, "utf8") : socket;
}

/** `\\.\pipe\claudikins-` and 32 hexadecimal digits. */
export function newPipeName(): string {
  return `\\\\.\\pipe\\claudikins-${randomBytes(16).toString("hex")}`;
}
