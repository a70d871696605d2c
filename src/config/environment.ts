/**
 * The environment of the process. It is read only in this file, so that tests can pass another one.
 *
 * The environment belongs to the user and is trusted. Files of the working directory are not trusted: they may come from another
 * person's repository, or from code in the sandbox. The decision for each effect that they could have:
 *
 * - `bunfig.toml`, `.env*`, `tsconfig.json`, `package.json`: the executable is built so that Bun reads none of them
 *   (scripts/build.ts). Generated programs start Bun without `bunfig.toml` and `.env*` (registry/emit.ts). The bridge takes
 *   no variable from an `.env` file (cli/bridge.ts).
 * - `PATH`: relative folders are removed, below. Otherwise a `./npx` could replace the user's.
 * - `HOME`, `XDG_*`, `CLAUDIKINS_EXECUTABLE`: relative paths are ignored (locations.ts, cli/bridge.ts).
 * - `NODE_TLS_REJECT_UNAUTHORIZED`: removed, below. Certificates are always checked.
 * - `NODE_EXTRA_CA_CERTS`, `SSL_CERT_FILE`, `SSL_CERT_DIR`, proxies, `CLAUDIKINS_CONFIG`: used as they are.
 * - `BUN_OPTIONS`, `BUN_BE_BUN`, `BUN_INSPECT*`, `BUN_CONFIG_*`, `BUN_JSC_*`: Bun reads them before our code runs. The user may set
 *   them; servers do not get them (clients/child-environment.ts).
 * - `NODE_OPTIONS`, `NODE_PATH`, `BUN_RUNTIME_TRANSPILER_CACHE_PATH`: have no effect on the executable; servers do not get them.
 */
import { delimiter, isAbsolute } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns `process.env`, and changes it in place: Bun itself reads PATH and the TLS variable from there. */
export function processEnvironment(): Environment {
  delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
  const path = process.env["PATH"];
  if (path !== undefined) process.env["PATH"] = absoluteFolders(path);
  return process.env;
}

/** Returns the environment without relative folders in its PATH. For an environment that another process has sent. */
export function withAbsolutePath(env: Environment): Environment {
  const { PATH: path } = env;
  return path === undefined ? env : { ...env, PATH: absoluteFolders(path) };
}

/** Returns a PATH without relative folders. An empty entry means the working directory and is removed too. */
function absoluteFolders(path: string): string {
  const folders = path.split(delimiter).filter((entry) => isAbsolute(entry.replace(/^"|"$/g, "")));
  // Shells search the working directory if PATH is empty.
  return folders.join(delimiter) || "/usr/bin:/bin";
}
