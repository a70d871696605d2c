/**
 * Commands that download what they start, such as `npx`. They need the network and write to caches that other programs use, so a box has only what they
 * start: the package is installed outside of it, without running any of its code, and its program is started inside.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { isWithin } from "../../config/trust/written-folders.ts";
import { ServerFailure } from "../failures/server-failure.ts";
import { maxErrorLines } from "../limits.ts";
import { missingCommand } from "../process/process-group.ts";
import { unavailable } from "./bubblewrap.ts";

/** Time to install the package of `npx` before its server is started in a box. */
const packageInstallMs = 120_000;

export interface Command {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

interface Surroundings {
  home: string;
  trusted: Readonly<Record<string, string>>;
}

/** What to do instead of starting a launcher in a box. */
const instead: Record<string, string> = {
  uvx: "uv tool install <package>",
  uv: "uv tool install <package>",
  pipx: "pipx install <package>",
  bunx: "bun add --global <package>",
  pnpx: "pnpm add --global <package>",
  pnpm: "pnpm add --global <package>",
  yarn: "npm install --global <package>",
  npm: "npm install --global <package>",
};

/**
 * The command to start in the box. Installs the package of `npx` if it is not in the cache of npm; `trusted` is the environment for that, without the
 * variables of the entry, because npm runs outside of the box. Throws SANDBOX_UNAVAILABLE for launchers that cannot
 * be replaced, and SERVER_UNAVAILABLE if the package cannot be installed.
 */
export async function startedCommand(given: Command, { home, trusted }: Surroundings): Promise<Command> {
  const name = basename(given.command);
  if (name === "docker" || name === "podman") {
    throw unavailable(
      `${name} gives its own program all your rights`,
      'The container is its sandbox: remove "sandbox".',
    );
  }
  const install = Object.hasOwn(instead, name) ? instead[name] : undefined;
  const isLauncher =
    !["uv", "pnpm", "yarn", "npm"].includes(name) || /^(?:run|tool|exec|x|dlx)$/.test(given.args[0] ?? "");
  if (install !== undefined && isLauncher) throw notConfined(name, install);
  return name === "npx" ? installedByNpx(given, { home, trusted }) : given;
}

function notConfined(launcher: string, install: string): ClaudikinsError {
  const hint = `Install the program once (${install}), and write its name into "command" of the entry.`;
  return unavailable(`${launcher} downloads programs, which needs more rights than the server`, hint);
}

async function installedByNpx(given: Command, { home, trusted }: Surroundings): Promise<Command> {
  const { spec, name, program, rest } = npxWords(given.args);
  const cache = resolve(home, given.env["npm_config_cache"] ?? ".npm");
  const folder = join(cache, "_npx", createHash("sha512").update(spec).digest("hex").slice(0, 16), "node_modules");
  const manifest = join(folder, name, "package.json");
  if (!existsSync(manifest)) await install(spec, cache, trusted);
  const found = existsSync(manifest) ? parsedJson(readFileSync(manifest, "utf8")) : undefined;
  const bin = binOf(found, name, program);
  const file = bin === undefined ? undefined : resolve(folder, name, bin);
  // A package could name a file outside of itself, which would then be shown to it.
  if (file === undefined || !isWithin(file, join(folder, name))) {
    throw new ClaudikinsError(
      "SERVER_UNAVAILABLE",
      `${spec} has no program${program === undefined ? "" : ` ${program}`}`,
      {
        hint: 'Check the name of the package in "args" of the entry.',
      },
    );
  }
  const { PATH = "" } = given.env;
  const env = { ...given.env, PATH: `${join(folder, ".bin")}:${PATH}` };
  return { command: file, args: rest, env };
}

/** `npx -y package@1 words` → its package, and what the program gets. Throws SANDBOX_UNAVAILABLE for other options of npx. */
function npxWords(args: readonly string[]): { spec: string; name: string; program?: string; rest: string[] } {
  const words = [...args];
  let spec: string | undefined;
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (/^(?:-y|--yes|-q|--quiet|--prefer-online|--prefer-offline|--)$/.test(word)) continue;
    if (/^(?:-p|--package)$/.test(word)) {
      spec = words.shift();
      continue;
    }
    spec = /^--package=(.+)$/.exec(word)?.[1] ?? spec;
    if (word.startsWith("--package=")) continue;
    const [, name] = /^((?:@\w[\w.-]*\/)?\w[\w.-]*)(?:@[\w.^~<>=*+-]+)?$/.exec(spec ?? word) ?? [];
    if (word.startsWith("-") || name === undefined) break;
    return spec === undefined ? { spec: word, name, rest: words } : { spec, name, program: word, rest: words };
  }
  throw notConfined("npx with these options", "npm install --global <package>");
}

/** The program of a package, by the rules of npx: its only one, or the one that is called like the package. */
function binOf(manifest: unknown, name: string, program: string | undefined): string | undefined {
  const bin = isObject(manifest) ? manifest["bin"] : undefined;
  const short = basename(name);
  const bins = typeof bin === "string" ? { [short]: bin } : isObject(bin) ? bin : {};
  const files = new Set(Object.values(bins));
  const chosen = program ?? (files.size === 1 ? Object.keys(bins)[0] : short);
  const file = chosen !== undefined && Object.hasOwn(bins, chosen) ? bins[chosen] : undefined;
  return typeof file === "string" ? file : undefined;
}

/** npm itself runs outside of the box. It runs no script of the package. */
async function install(spec: string, cache: string, env: Surroundings["trusted"]): Promise<void> {
  const npx = Bun.which("npx", { PATH: env["PATH"] ?? "" });
  if (npx === null) throw new ClaudikinsError("SERVER_UNAVAILABLE", missingCommand("npx").why, missingCommand("npx"));
  const words = ["--yes", "--ignore-scripts", `--cache=${cache}`, `--package=${spec}`, "-c", ":"];
  const child = Bun.spawn([npx, ...words], {
    cwd: "/",
    env,
    stdio: ["ignore", "ignore", "pipe"],
    timeout: packageInstallMs,
    killSignal: "SIGKILL",
  });
  const [said, code] = await Promise.all([child.stderr.text(), child.exited]);
  if (code === 0) return;
  const lines = said.trim().split("\n").slice(0, maxErrorLines).join("\n  ");
  const why = `${spec} could not be installed:\n  ${lines}`;
  // The network may be back at the next attempt.
  throw new ServerFailure("SERVER_UNAVAILABLE", why, {
    why,
    lasting: false,
    hint: "Check the network and the name of the package.",
  });
}
