/**
 * The process environment: read here and nowhere else, so that everything above can be given another one in tests.
 *
 * The environment belongs to the user and is trusted. Files of the working directory are not: somebody else's repository may
 * have put them there, or code in the sandbox. This is what is decided about each way in which they could count:
 *
 * - `bunfig.toml`, `.env*`, `tsconfig.json`, `package.json`: the executable is built so that Bun reads none of them
 *   (scripts/build.ts). Generated programs start Bun without `bunfig.toml` and `.env*` (registry/program-line.ts); the
 *   bridge takes no variable from an `.env` file (registry/runtime/bridge.ts).
 * - `PATH`: folders that are not absolute are left out, below. They would let a `./npx` stand in for the user's.
 * - `HOME`, `XDG_*`, `CLAUDIKINS_EXECUTABLE`: a path that is not absolute does not count (locations.ts, bridge.ts).
 * - `NODE_TLS_REJECT_UNAUTHORIZED`: removed, below. Certificates are always checked.
 * - `NODE_EXTRA_CA_CERTS`, `SSL_CERT_FILE`, `SSL_CERT_DIR`, proxies, `CLAUDIKINS_CONFIG`: count as they are.
 * - `BUN_OPTIONS`, `BUN_BE_BUN`, `BUN_INSPECT*`, `BUN_CONFIG_*`, `BUN_JSC_*`: Bun reads them before our first line. They are
 *   the user's to set, and no server is given them (clients/child-environment.ts).
 * - `NODE_OPTIONS`, `NODE_PATH`, `BUN_RUNTIME_TRANSPILER_CACHE_PATH`: mean nothing to the executable, nor is a server given them.
 */
import { delimiter, isAbsolute } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Changes `process.env` itself: Bun looks there for programs, and for whether certificates are checked. */
export function processEnvironment(): Environment {
  delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
  const path = process.env["PATH"];
  if (path !== undefined) process.env["PATH"] = absoluteFolders(path);
  return process.env;
}

/** A PATH without folders that depend on the working directory; an empty entry means that directory. */
export function absoluteFolders(path: string): string {
  const folders = path.split(delimiter).filter((entry) => isAbsolute(entry.replace(/^"|"$/g, "")));
  // Shells take an empty PATH for the working directory.
  return folders.join(delimiter) || "/usr/bin:/bin";
}
