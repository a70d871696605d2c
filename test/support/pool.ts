/** Pools for tests, with servers in a short notation, and errors as people read them. */

import { ClaudikinsError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { defaultServerTimes } from "../../src/config/defaults.ts";
import type { NetworkServer, ServerConfig, StdioServer } from "../../src/config/load.ts";
import { entryReferencesOf } from "../../src/config/secrets/references.ts";
import { Pool, type PoolOptions } from "../../src/servers/pool.ts";
import { type ToolResult, toolValue } from "../../src/servers/result.ts";
import { root } from "./claudikins.ts";
import { fixturePrograms } from "./servers.ts";

export type ServerEntry = (Partial<StdioServer> & { command: string }) | (Partial<NetworkServer> & { url: string });

/** The parsed config of an entry, with times that are long enough on a small machine. */
export function serverConfig(name: string, entry: ServerEntry): ServerConfig {
  const times = { ...defaultServerTimes, startTimeoutMs: 20_000, callTimeoutMs: 20_000 };
  const references = entryReferencesOf(entry, process.cwd());
  const defaults = { name, disabled: false, needs: [], ...times, ...references };
  if (entry.url !== undefined) return { ...defaults, transport: "auto", headers: {}, ...entry };
  return { ...defaults, args: [], env: {}, ...entry };
}

/** The surroundings of a test's pool: servers find their programs, and the folder is also their home. */
export function surroundings(folder: string): PoolOptions {
  return { env: { PATH: process.env["PATH"] ?? "", HOME: folder }, cwd: folder, log: silentLog };
}

export function openPool(entries: Record<string, ServerEntry>, options: PoolOptions): Pool {
  return new Pool(new Map(Object.entries(entries).map(([name, entry]) => [name, serverConfig(name, entry)])), options);
}

/** The value that code gets of a result. */
export function plainValue(result: ToolResult): unknown {
  const value = toolValue(result, "the tool");
  if ("jsonOrText" in value) return value.jsonOrText;
  if ("text" in value) return value.text;
  return JSON.parse("json" in value ? value.json : value.blocks);
}

/** The error of a failure, which must be a ClaudikinsError. */
export async function failureOf(of: Promise<unknown>): Promise<ClaudikinsError> {
  const error = await of.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof ClaudikinsError) return error;
  throw new Error(`no failure of ours: ${Bun.inspect(error)}`);
}

/** The error as people read it: code, message and hint, without what differs between runs and machines. */
export function failureText({ code, message, hint }: ClaudikinsError, folder?: string): string {
  const text = `${code}: ${message}${hint === undefined ? "" : `\nhint: ${hint}`}`
    .replaceAll(fixturePrograms(), "FIXTURES")
    .replaceAll(process.execPath, "BUN")
    .replaceAll(root, "ROOT")
    .replaceAll(/127\.0\.0\.1:\d+/g, "HOST");
  return folder === undefined ? text : text.replaceAll(folder, "MARK");
}
