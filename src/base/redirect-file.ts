/**
 * A file that leads a browser to an address. Every user of a machine can read the command lines of all programs, so a browser is
 * started with the path of the file, which only this user can read.
 */
import { existsSync, lstatSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ClaudikinsError, messageOf } from "./errors.ts";
import { namesIn } from "./files.ts";

/** Time for a browser to start and read a file that redirects it. */
const redirectFileKeptMs = 60_000;

const prefix = "claudikins-open-";

export class RedirectFile implements Disposable {
  readonly path: string;
  readonly #folder: string;
  readonly #onRemoved: () => void;
  readonly #timer: NodeJS.Timeout;

  /** It is removed after a minute, and when the process ends. `home` is the user's home folder. Throws FILE_NOT_WRITABLE. */
  constructor(address: URL, home: string, onRemoved: () => void = () => {}) {
    const place = placeFor(home);
    removeOld(place);
    try {
      // The system gives the folder a random name and the mode 0700.
      this.#folder = mkdtempSync(join(place, prefix));
      this.path = join(this.#folder, "open.html");
      writeFileSync(this.path, pageTo(address), { mode: 0o600, flag: "wx" });
    } catch (cause) {
      throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot write a file in ${place}: ${messageOf(cause)}`, { cause });
    }
    this.#onRemoved = onRemoved;
    this.#timer = setTimeout(() => this[Symbol.dispose](), redirectFileKeptMs).unref();
    if (present.size === 0) process.on("exit", removeAll);
    present.add(this);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    present.delete(this);
    if (present.size === 0) process.off("exit", removeAll);
    rmSync(this.#folder, { recursive: true, force: true });
    this.#onRemoved();
  }
}

/** The files of this process. */
const present = new Set<RedirectFile>();

function removeAll(): void {
  for (const file of present) file[Symbol.dispose]();
}

/**
 * The folder for the file. Browsers that snapd confines cannot read the temporary folder or hidden folders, but they can read other folders
 * in the home folder.
 */
function placeFor(home: string): string {
  return process.platform === "linux" && existsSync("/var/lib/snapd") ? home : tmpdir();
}

/** Removes the files of killed processes. */
function removeOld(place: string): void {
  for (const name of namesIn(place)) {
    if (!name.startsWith(prefix)) continue;
    const folder = join(place, name);
    const found = lstatSync(folder, { throwIfNoEntry: false });
    const isOld =
      found?.isDirectory() && found.uid === process.getuid?.() && found.mtimeMs < Date.now() - redirectFileKeptMs;
    if (isOld) rmSync(folder, { recursive: true, force: true });
  }
}

/** Works with and without scripts. */
function pageTo({ href }: URL): string {
  const text = Bun.escapeHTML(href);
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${text}">
<title>claudikins</title>
<p><a href="${text}">Continue</a></p>
`;
}
