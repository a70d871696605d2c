/** doctor: every server started, several at once, and asked for its tools. The registry learns nothing of it. */
import { existsSync } from "node:fs";
import type { Problem } from "../catalog/ask-all.ts";
import { ListingQueue } from "../catalog/listing-queue.ts";
import { loginCommand } from "../clients/auth/words.ts";
import { Pool } from "../clients/pool.ts";
import type { NetworkServer, ServerConfig } from "../config/load.ts";
import { durationText } from "../duration.ts";
import { toClaudikinsError } from "../errors.ts";
import { wayOf } from "../sign-in/sign-ins.ts";
import { type Check, counted, type Finding, findingsOf, type Scene } from "./finding.ts";

const { ok, warning, problem } = findingsOf("servers");

/** A start that takes more of its time than this may be too slow on another day. */
const slowPart = 0.5;

export const serversCheck: Check = {
  area: "servers",
  async runWith(toolbox, scene) {
    if (!scene.withServers) return [];
    const { config } = toolbox;
    // Those that need a variable are told of with the config.
    const servers = [...config.servers.values()].filter(({ needs }) => needs.length === 0);
    // Of its own: the toolbox writes down what servers tell, and its pool may have them from the daemon.
    const { env, log, serverFolder: cwd } = scene;
    await using pool = new Pool(config.servers, { env, log, cwd, credentialsFile: fileInUse(servers, scene) });
    const answers = new Map<string, Finding>();
    using asking = new ListingQueue(async (name) => {
      answers.set(name, await ask(config.servers.get(name)!, pool, scene.signal));
      scene.onServer?.(name);
      // A start that was given up is ended with the pool.
      if (!scene.signal.aborted) await pool.release(name);
    });
    const stop = () => asking[Symbol.dispose]();
    scene.signal.addEventListener("abort", stop, { once: true });
    if (scene.signal.aborted) stop();
    const open = servers.filter(({ name }) => !toolbox.catalog.isClosed(name));
    await Promise.all(open.map(({ name }) => asking.add(name)));
    scene.signal.removeEventListener("abort", stop);
    return servers.map((server) =>
      toolbox.catalog.isClosed(server.name) ? closed(server) : (answers.get(server.name) ?? notAsked(server)),
    );
  },
};

async function ask(server: ServerConfig, pool: Pool, signal: AbortSignal): Promise<Finding> {
  const { name } = server;
  const begunAt = performance.now();
  try {
    const tools = (await pool.listTools(name, { signal })).length;
    const tookMs = Math.round(performance.now() - begunAt);
    const state = pool.state(name);
    const startMs = state.state === "ready" ? Math.min(state.startMs ?? tookMs, tookMs) : tookMs;
    return answered(server, { startMs, listMs: tookMs - startMs, tools });
  } catch (thrown) {
    const { code, message, hint } = toClaudikinsError(thrown);
    return failed(server, { code, message, ...(hint === undefined ? {} : { hint }) });
  }
}

export function answered(
  { name, startTimeoutMs }: Pick<ServerConfig, "name" | "startTimeoutMs">,
  facts: { startMs: number; listMs: number; tools: number },
): Finding {
  const { startMs, listMs, tools } = facts;
  const text = `${name}: ${counted(tools, "tool")}, started in ${startMs} ms, listed in ${listMs} ms`;
  if (tools === 0) {
    const repair = "Check its documentation for the arguments and variables it needs.";
    return warning(idOf(name), `${name} started in ${startMs} ms, but has no tools`, repair, facts);
  }
  if (startMs > slowPart * startTimeoutMs) {
    const repair = `Raise "startTimeoutMs" of "${name}" in the config.`;
    return warning(
      idOf(name),
      `${text}: the time limit for the start is ${durationText(startTimeoutMs)}`,
      repair,
      facts,
    );
  }
  return ok(idOf(name), text, facts);
}

/** A server that could not be asked for its tools. */
export function failed(server: ServerConfig, { code, message, hint }: Problem): Finding {
  const wantsPerson = code === "AUTH_REQUIRED" && server.url !== undefined && isForPeople(server);
  return problem(idOf(server.name), message, code, wantsPerson ? loginCommand(server.name) : hint);
}

function isForPeople(server: NetworkServer): boolean {
  return wayOf(server) === "sign-in" && !asksNobody(server);
}

function asksNobody({ oauth }: NetworkServer): boolean {
  return typeof oauth === "object" && oauth.grant === "client_credentials";
}

/** Where there are no sign-ins yet, and none is made without a person, not even a lock of theirs is to be made. */
function fileInUse(servers: ServerConfig[], { credentialsFile }: Scene): string | undefined {
  const isUsed = servers.some((server) => server.url !== undefined && asksNobody(server));
  return isUsed || existsSync(credentialsFile) ? credentialsFile : undefined;
}

function closed({ name }: ServerConfig): Finding {
  return ok(idOf(name), `${name} is not started: the config denies all its tools`);
}

function notAsked({ name }: ServerConfig): Finding {
  return problem(idOf(name), `${name} was not checked: the command was interrupted`, "CANCELLED", undefined);
}

function idOf(name: string): string {
  return `server.${name}`;
}
