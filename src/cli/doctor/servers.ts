/** Doctor check of the servers: starts each one and asks for its tools. The registry is not changed. */
import { existsSync } from "node:fs";
import { counted } from "../../base/counted.ts";
import { durationText } from "../../base/duration.ts";
import { type Problem, problemOf } from "../../base/errors.ts";
import { boxEngine } from "../../config/box.ts";
import { usesOwn } from "../../config/credentials.ts";
import { documentsOf } from "../../config/documents.ts";
import type { NetworkServer, ServerConfig } from "../../config/load.ts";
import { outerServers } from "../../config/saved-programs.ts";
import { loginCommand } from "../../servers/auth/words.ts";
import type { ServerIdentity } from "../../servers/connection/server-client.ts";
import { Pool } from "../../servers/pool.ts";
import { authMethodOf } from "../../setup/sign-in/sign-ins.ts";
import { askAll } from "../../tools/catalog/ask-all.ts";
import { editedTools } from "../../tools/catalog/edited-tools.ts";
import { type CheckContext, type CheckParts, type Finding, findingsOf } from "./finding.ts";

/** A start that takes more than this share of its time limit is reported as slow. */
const slowStartShare = 0.5;

const { ok, warning, problem } = findingsOf("servers");

export async function serverFindings(app: CheckParts, scene: CheckContext): Promise<Finding[]> {
  if (!scene.withServers) return [];
  const { config } = app;
  // The check of the config reports missing variables and mistakes.
  const servers = outerServers(config).filter(({ needs, mistake }) => needs.length === 0 && !mistake);
  // A separate pool: the app's pool records tools, and may use the daemon's servers.
  const { env, log, serverFolder: cwd } = scene;
  const credentialsFile = fileInUse(servers, scene);
  await using pool = new Pool(config.servers, { env, log, cwd, credentialsFile, sealing: () => config.sealing });
  const open = servers.filter((server) => !app.catalog.isClosed(server.name) && !usesOwn(server));
  const asked = await askAll(
    open.map(({ name }) => name),
    pool,
    async (name) => ({ finding: await ask(config.servers.get(name)!, pool, scene.signal) }),
    scene,
  );
  const answers = new Map<string, Finding>();
  for (const answer of asked) if ("finding" in answer && answer.finding) answers.set(answer.server, answer.finding);
  const left = open.filter(({ name }) => !answers.has(name));
  return [
    ...servers.flatMap((server) => {
      if (app.catalog.isClosed(server.name)) return closed(server);
      return usesOwn(server) ? ofPeople(server) : (answers.get(server.name) ?? []);
    }),
    ...(left.length > 0 ? [notAsked(left)] : []),
  ];
}

async function ask(server: ServerConfig, pool: Pool, signal: AbortSignal): Promise<Finding | undefined> {
  const { name } = server;
  const begunAt = performance.now();
  try {
    const missing: string[] = [];
    const listed = await pool.listTools(name, { signal }, { note: (problem) => missing.push(problem) });
    const { tools, problems } = await editedTools(server, listed);
    const tookMs = Math.round(performance.now() - begunAt);
    const state = pool.state(name);
    const startMs = state.state === "ready" ? Math.min(state.startMs ?? tookMs, tookMs) : tookMs;
    const facts = {
      startMs,
      listMs: tookMs - startMs,
      tools: tools.length,
      ...confinedBy(server),
      ...pool.identity(name),
    };
    const finding = answered(server, facts);
    const whole = problems.length === 0 ? finding : misfit(problems, finding);
    return missing.length === 0 ? whole : incomplete(missing, whole);
  } catch (thrown) {
    // A server whose start was interrupted may be healthy.
    return signal.aborted ? undefined : failed(server, problemOf(thrown));
  }
}

function confinedBy({ box }: ServerConfig): { sandbox?: string } {
  return box ? { sandbox: boxEngine } : {};
}

export function answered(
  { name, startTimeoutMs }: Pick<ServerConfig, "name" | "startTimeoutMs">,
  facts: { startMs: number; listMs: number; tools: number; sandbox?: string } & Partial<ServerIdentity>,
): Finding {
  const { startMs, listMs, tools, protocol, sandbox } = facts;
  const revision = protocol === undefined ? "" : `, MCP ${protocol}`;
  const confined = sandbox === undefined ? "" : `, confined by ${sandbox}`;
  const text = `${name}: ${counted(tools, "tool")}, started in ${durationText(startMs)}, listed in ${durationText(listMs)}${revision}${confined}`;
  if (tools === 0) {
    const repair = "Check its documentation for the arguments and variables it needs.";
    return warning(idOf(name), `${name} started in ${durationText(startMs)}, but has no tools`, repair, facts);
  }
  if (startMs > slowStartShare * startTimeoutMs) {
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

/** The finding if entries of `tools` in the config do not fit the tools of the server. */
function misfit(problems: readonly string[], finding: Finding): Finding {
  const { message, details = [], repair = "claudikins config edit" } = finding;
  const text = `${message}; "tools" in the config does not fit them`;
  return { ...finding, state: "warning", message: text, details: [...details, ...problems], repair };
}

/** The finding if the list of tools is not whole. */
function incomplete(missing: readonly string[], finding: Finding): Finding {
  const {
    message,
    details = [],
    repair = "Report this to the server's author, or try another version of it.",
  } = finding;
  const text = `${message}; its list of tools is incomplete`;
  return { ...finding, state: "warning", message: text, details: [...details, ...missing], repair };
}

/** The finding for a server that could not be asked for its tools. */
export function failed(server: ServerConfig, { code, message, hint }: Problem): Finding {
  const wantsPerson = code === "AUTH_REQUIRED" && server.url !== undefined && isForPeople(server);
  return problem(idOf(server.name), message, code, wantsPerson ? loginCommand(server.name) : hint);
}

function isForPeople(server: NetworkServer): boolean {
  return authMethodOf(server) === "sign-in" && !asksNobody(server);
}

function asksNobody({ oauth }: NetworkServer): boolean {
  return typeof oauth === "object" && oauth.grant === "client_credentials";
}

/** An empty path if there are no sign-ins, so that not even a lock file is created. */
function fileInUse(servers: ServerConfig[], { credentialsFile, env }: CheckContext): string | undefined {
  const isUsed = servers.some((server) => server.url !== undefined && asksNobody(server));
  return isUsed || !documentsOf(env).areFiles || existsSync(credentialsFile) ? credentialsFile : undefined;
}

/** The servers that could not be asked for their tools. */
export function failedServers(findings: readonly Finding[]): Set<string> {
  const failed = findings.filter(({ id, state }) => state === "problem" && id.startsWith(idOf("")));
  return new Set(failed.map(({ id }) => id.slice(idOf("").length)));
}

function closed({ name }: ServerConfig): Finding {
  return ok(idOf(name), `${name} is not started: the config denies all its tools`);
}

function ofPeople({ name }: ServerConfig): Finding {
  return ok(idOf(name), `${name} is not started: it works with the credentials of each person, at serve --http`);
}

function notAsked(servers: readonly ServerConfig[]): Finding {
  const names = servers.map(({ name }) => name).join(", ");
  const text = `Not checked, because the command was interrupted: ${names}`;
  return warning("servers.unchecked", text, "claudikins doctor");
}

function idOf(name: string): string {
  return `server.${name}`;
}
