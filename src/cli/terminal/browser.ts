/**
 * Opening the user's browser: which program does it, and whether it worked. Addresses may hold secrets, so the browser is started with
 * a file that leads to the address. On Windows, other users cannot read command lines, and the browser gets the address itself.
 */
import { pathToFileURL } from "node:url";
import { RedirectFile } from "../../base/redirect-file.ts";
import type { Environment } from "../../config/environment.ts";
import { homeOf } from "../../config/locations.ts";
import { onAbort } from "../../servers/abort.ts";

/**
 * The program of VS Code on a remote machine, which sends addresses to the browser of another one. It would send the path of a file as
 * well, which that browser cannot read. A person opens the printed address with a click there.
 */
const isRelay = /[\\/]helpers[\\/]browser[\w-]*\.sh$/;

/**
 * Time after which a browser counts as started. A program that opens a browser ends soon; one that is the browser itself may run for days.
 */
const browserStartedAfterMs = 3_000;

/** Whether a browser is likely to open where the user sees it. $BROWSER says so itself. */
export function hasBrowser(env: Environment, platform: NodeJS.Platform = process.platform): boolean {
  if (env["BROWSER"]) return env["BROWSER"] !== "none" && !isRelay.test(env["BROWSER"]);
  if (isOverSsh(env)) return false;
  return platform === "darwin" || platform === "win32" || Boolean(env["DISPLAY"] || env["WAYLAND_DISPLAY"]);
}

const isOverSsh = (env: Environment) => Boolean(env["SSH_CONNECTION"] || env["SSH_CLIENT"] || env["SSH_TTY"]);

/** Whether the user has come over SSH and sees no browser of this machine. */
export function isRemoteShell(env: Environment): boolean {
  const isShown = hasBrowser(env) || Boolean(env["DISPLAY"] || env["WAYLAND_DISPLAY"]);
  return isOverSsh(env) && !isShown;
}

/** The commands to try, in their order: words, and no shell between. */
export function browserCommands(url: URL, env: Environment, platform: NodeJS.Platform = process.platform): string[][] {
  const own = (env["BROWSER"] ?? "").split(platform === "win32" ? ";" : ":").flatMap((entry) => {
    const words = entry.split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    return [
      words.some((word) => word.includes("%s"))
        ? words.map((word) => word.replaceAll("%s", () => url.href))
        : [...words, url.href],
    ];
  });
  const usual: Partial<Record<NodeJS.Platform, string[]>> = {
    darwin: ["open"],
    win32: ["rundll32", "url.dll,FileProtocolHandler"],
  };
  return [...own, [...(usual[platform] ?? ["xdg-open"]), url.href]];
}

/**
 * Whether a browser opened the address, as far as this can be known. Nothing but a page of the web is ever opened. The file that leads to it
 * exists for a minute, or until `until` is aborted.
 */
export async function openBrowser(url: URL, env: Environment, until?: AbortSignal): Promise<boolean> {
  if (url.protocol !== "https:" && url.protocol !== "http:") return false;
  if (!needsFile()) return opens(url, env);
  const file = fileTo(url, env);
  if (!file) return false;
  if (until) onAbort(until, () => file[Symbol.dispose]());
  const isOpen = await openFile(file.path, env);
  if (!isOpen) file[Symbol.dispose]();
  return isOpen;
}

/** Opens a file of this machine that leads to a page. */
export function openFile(path: string, env: Environment): Promise<boolean> {
  return opens(pathToFileURL(path), env);
}

/** Whether every user of the machine can read a browser's command line. */
export function needsFile(platform: NodeJS.Platform = process.platform): boolean {
  return platform !== "win32";
}

/** Undefined if it cannot be written: the user is shown the address. */
function fileTo(url: URL, env: Environment): RedirectFile | undefined {
  try {
    return new RedirectFile(url, homeOf(env));
  } catch {
    return undefined;
  }
}

async function opens(url: URL, env: Environment): Promise<boolean> {
  for (const command of browserCommands(url, env)) if (await starts(command, env)) return true;
  return false;
}

async function starts([program = "", ...args]: string[], env: Environment): Promise<boolean> {
  const timer = Promise.withResolvers<number>();
  try {
    const child = Bun.spawn([program, ...args], {
      // A browser may be a script of a language that loads modules from the working directory, which may be anybody's.
      cwd: "/",
      env,
      stdio: ["ignore", "ignore", "ignore"],
      // In a session of its own, so that Ctrl-C here does not end the browser there.
      detached: true,
    });
    child.unref();
    const timeout = setTimeout(timer.resolve, browserStartedAfterMs, 0);
    timeout.unref();
    const code = await Promise.race([child.exited, timer.promise]);
    clearTimeout(timeout);
    return code === 0;
  } catch {
    // There is no such program.
    return false;
  }
}
