/** A session of a host with claudikins in this process, and its counts in the ledger. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { App, type AppOptions } from "../../src/app/app.ts";
import { silentLog } from "../../src/base/log.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Counts } from "../../src/programs/ledger/counts.ts";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import { createSession } from "../../src/serve/legacy/session.ts";
import { sessionMode } from "../../src/serve/proxy/mode.ts";
import { surfaceOf } from "../../src/serve/surface/surface.ts";
import { storedCounts } from "./stored.ts";

/** The counts in the ledger of a home, for all days together. */
export async function ledgerOf(home: string): Promise<Counts | undefined> {
  const [first, ...others] = (await storedCounts(home)).values();
  for (const each of others) first?.add(each);
  return first;
}

/** The folder is the home, and contains the config, if any. */
export async function inSession<T>(
  folder: string,
  work: (client: Client, app: App) => Promise<T>,
  { door, ...more }: Pick<AppOptions, "idleAfterMs" | "waitsForApprovals"> & { door?: string } = {},
): Promise<T> {
  const env = { PATH: process.env["PATH"], HOME: folder, CI: "true" };
  const config = await loadConfig({ cwd: folder, env, door });
  await using app = new App(config, new Sandbox(), { env, cwd: folder, log: silentLog, ...more });
  const surface = sessionMode(app) === "code" ? await surfaceOf(app) : undefined;
  const server = createSession(app, new AbortController().signal, surface);
  const client = new Client({ name: "test", version: "1" });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  const result = await work(client, app);
  await client.close();
  return result;
}
