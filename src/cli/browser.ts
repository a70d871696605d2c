/** Opening the person's browser: which program does it, and whether it worked. */
import type { Environment } from "../config/environment.ts";

/** A program that opens a browser ends soon; one that is the browser itself may run for days. */
const startedAfterMs = 3_000;

/** Whether a browser is likely to open where the person sees it. $BROWSER says so itself. */
export function hasBrowser(env: Environment, platform: NodeJS.Platform = process.platform): boolean {
  if (env["BROWSER"]) return env["BROWSER"] !== "none";
  if (env["SSH_CONNECTION"] || env["SSH_CLIENT"] || env["SSH_TTY"]) return false;
  return platform === "darwin" || platform === "win32" || Boolean(env["DISPLAY"] || env["WAYLAND_DISPLAY"]);
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

/** Whether one of the commands opened it, as far as can be told. Nothing but a page of the web is ever opened. */
export async function openBrowser(url: URL, env: Environment): Promise<boolean> {
  if (url.protocol !== "https:" && url.protocol !== "http:") return false;
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
    const timeout = setTimeout(timer.resolve, startedAfterMs, 0);
    timeout.unref();
    const code = await Promise.race([child.exited, timer.promise]);
    clearTimeout(timeout);
    return code === 0;
  } catch {
    // There is no such program.
    return false;
  }
}
