/** `claudikins list`: the configured servers, their tools and their state. */

import type { ServerFacts } from "../../catalog/inventory.ts";
import { type CheckedServer, checkServers, inventory } from "../../catalog/inventory.ts";
import { stateText } from "../../clients/state.ts";
import type { ConfigOrigin } from "../../config/discover.ts";
import type { Environment } from "../../config/environment.ts";
import { statusOf } from "../../daemon/peers.ts";
import { placeOf } from "../../daemon/place.ts";
import { ClaudikinsError } from "../../errors.ts";
import { didYouMean } from "../../near-names.ts";
import { hasColours } from "../colours.ts";
import { command, commonArgs, several } from "../command.ts";
import { Progress } from "../progress.ts";
import { errorJson, errorText } from "../report.ts";
import { openToolbox } from "../session.ts";
import { about, either, list, named, nothing, number, oneOf, problem, record, text, texts, time } from "../shapes.ts";
import { table } from "../table.ts";
import { ageText } from "../time-text.ts";
import { trustArgs } from "../trust-prompt.ts";

/** The output contains no secrets: no arguments and no values of variables. */
const serversShape = named(
  "Servers",
  record({
    config: about("The config file; null for the demo", either(text, nothing)),
    servers: list(
      record({
        server: text,
        transport: oneOf("stdio", "http", "sse", "websocket"),
        "program?": text,
        "host?": text,
        "description?": text,
        state: oneOf("idle", "starting", "ready", "needs", "signed out", "broken"),
        "variables?": about("Variables that are not set", texts),
        "since?": time,
        "startMs?": number,
        "pid?": number,
        "code?": text,
        "why?": text,
        "hint?": text,
        "failures?": about("Consecutive failures", number),
        "retryAt?": time,
        "tools?": about("Number of known tools that the config allows", number),
        "denied?": number,
        "askedAt?": time,
        "memoryBytes?": number,
        "problem?": problem,
      }),
    ),
  }),
);

const toolsShape = named(
  "Tools",
  about(
    "list tools",
    record({
      tools: list(
        record({
          id: text,
          server: text,
          name: text,
          description: text,
          "signature?": about("With --detailed", text),
          "example?": text,
        }),
      ),
      missing: about(
        "Servers whose tools could not be listed, and why",
        list(record({ server: text, code: text, message: text, "hint?": text })),
      ),
    }),
  ),
);

const listShape = either(serversShape, toolsShape);

export default command({
  description:
    "List the configured servers with their state, tools and description. No server is started unless you add --check.",
  args: {
    what: {
      type: "positional",
      required: false,
      description: "What to list: servers (default) or tools",
      choices: ["servers", "tools"],
    },
    server: {
      type: "positional",
      required: false,
      description: "With tools: list only the tools of these servers",
      complete: "server",
      ...several,
    },
    detailed: { type: "boolean", description: "With tools: also show how to call each tool" },
    check: { type: "boolean", description: "Start every server, fetch its tools, and report failures" },
    ...trustArgs,
    ...commonArgs,
  },
  examples: [
    "claudikins list",
    "claudikins list --check --json",
    "claudikins list tools",
    "claudikins list tools demo --detailed",
  ],
  json: listShape,
  jsonFailure: { "list?": listShape },
  async run(args, io) {
    const [named] = args.server;
    const { what = "servers" } = args;
    if (what !== "servers" && what !== "tools") {
      throw new ClaudikinsError("USAGE", `list takes servers or tools; got "${what}"`, {
        hint: didYouMean(what, ["servers", "tools"]) ?? `To list the tools of a server: claudikins list tools ${what}`,
      });
    }
    if (what === "tools") {
      if (args.check) throw new ClaudikinsError("USAGE", "--check works only with servers: claudikins list --check");
      const { detailed = false, json = false } = args;
      const { writeToolList } = await import("../tool-list.ts");
      return writeToolList({ servers: args.server, detailed, json, flags: args }, io);
    }
    if (args.detailed || named !== undefined) {
      throw new ClaudikinsError(
        "USAGE",
        `${named === undefined ? "--detailed" : `"${named}"`} works only with list tools`,
        {
          hint: `Run claudikins list tools ${named ?? "--detailed"}`,
        },
      );
    }
    await using toolbox = await openToolbox(io, args);
    const { origin } = toolbox.config;
    const servers: CheckedServer[] = args.check ? await checked() : await withHeld(inventory(toolbox), origin, io.env);
    const failure = failureOf(servers);
    if (args.json) {
      const list = { config: origin.kind === "demo" ? null : origin.file, servers: servers.map(flat) };
      if (failure) await io.stderr.write(errorJson(failure, { list }));
      else await io.stdout.write(`${JSON.stringify(list)}\n`);
      return failure?.exitCode ?? 0;
    }
    if (origin.kind === "demo") await io.stderr.write("No config file: using the built-in demo server.\n\n");
    if (servers.length === 0) await io.stderr.write("The config has no servers.\n");
    else await io.stdout.write(serverTable(servers, args.check === true, io.stdout.columns));
    const colours = hasColours(io.stderr, io);
    for (const { problem } of servers) {
      if (problem) await io.stderr.write(`\n${errorText(asError(problem), colours)}`);
    }
    return failure?.exitCode ?? 0;

    async function checked(): Promise<CheckedServer[]> {
      const progress = new Progress(args.json ? undefined : io.stderr, "servers", toolbox.config.servers.size);
      const onServer = (name: string) => progress.advance(name);
      const all = await checkServers(toolbox, { signal: io.interrupted, onServer });
      progress.end();
      return all;
    }
  },
});

function asError({ code, message, hint }: NonNullable<CheckedServer["problem"]>): ClaudikinsError {
  return new ClaudikinsError(code, message, { hint });
}

/** The error of the command. An unreachable server takes precedence over missing variables. */
function failureOf(servers: CheckedServer[]): ClaudikinsError | undefined {
  const failed = servers.flatMap(({ server, problem }) => (problem ? [{ server, error: asError(problem) }] : []));
  const worst = failed.find(({ error }) => error.exitCode === 4) ?? failed[0];
  if (!worst) return undefined;
  const names = failed.map(({ server }) => server).join(", ");
  return new ClaudikinsError(worst.error.code, `${failed.length} of ${servers.length} servers failed: ${names}`);
}

/** Flattens the state into the facts of the server, for JSON. */
function flat({ state, ...facts }: CheckedServer): object {
  return { ...facts, ...state };
}

function serverTable(servers: CheckedServer[], isChecked: boolean, width: number | undefined): string {
  const head = ["server", "transport", "state", "tools", ...(isChecked ? ["pid", "memory"] : []), "description"];
  const rows = servers.map((facts) => {
    const { server, transport, program, host, state, description = "" } = facts;
    const pid = state.state === "ready" ? state.pid : undefined;
    return [
      server,
      [transport, program ?? host].filter(Boolean).join(" "),
      isChecked ? checkedText(facts) : stateText(state),
      toolsText(facts, isChecked),
      ...(isChecked ? [String(pid ?? "-"), memoryText(facts.memoryBytes)] : []),
      description,
    ];
  });
  return table(head, rows, width);
}

/** The reason is printed below the table. */
function checkedText({ state, problem }: CheckedServer): string {
  if (state.state === "needs") return stateText(state);
  if (state.state === "signed out") return stateText(state);
  if (problem) return "broken";
  return state.state === "ready" ? `ready in ${state.startMs} ms` : stateText(state);
}

function toolsText({ tools, denied, askedAt, problem }: CheckedServer, isChecked: boolean): string {
  if (tools === undefined || problem) return "-";
  const age = isChecked || askedAt === undefined ? undefined : ageText(Date.now() - askedAt);
  const more = [denied && `${denied} denied`, age].filter(Boolean).join(", ");
  return more === "" ? String(tools) : `${tools} (${more})`;
}

function memoryText(bytes: number | undefined): string {
  return bytes === undefined ? "-" : `${Math.round(bytes / 1_048_576)} MB`;
}

/** Marks servers that the daemon runs as ready. Without a daemon the facts are unchanged. */
async function withHeld(servers: ServerFacts[], origin: ConfigOrigin, env: Environment): Promise<ServerFacts[]> {
  const place = placeOf(origin.kind === "demo" ? undefined : origin.file, env);
  const status = await statusOf(place.socket).catch(() => undefined);
  return servers.map((facts) => {
    const held = status?.held.find(({ server }) => server === facts.server);
    if (!held || facts.state.state !== "idle") return facts;
    return { ...facts, state: { state: "ready", since: held.since, pid: held.pid ?? undefined } };
  });
}
