/** `claudikins list`: the configured servers, their tools and their state. */

import type { App } from "../../app/app.ts";
import { ageText, durationText } from "../../base/duration.ts";
import { ClaudikinsError, messageOf, toClaudikinsError } from "../../base/errors.ts";
import { about, either, list, named, nothing, record, text, texts } from "../../base/json-shape.ts";
import { didYouMean } from "../../base/near-names.ts";
import { aboutMegabytes } from "../../base/units.ts";
import { escaped } from "../../base/visible-text.ts";
import type { ConfigOrigin } from "../../config/discover.ts";
import type { Environment } from "../../config/environment.ts";
import { type Config, type Extended, mistakeLines, ownServersOf } from "../../config/load.ts";
import { calledTool } from "../../config/tool-edits.ts";
import { statusOf } from "../../daemon/peers.ts";
import { placeOf } from "../../daemon/place.ts";
import { interruptedBefore } from "../../tools/catalog/ask-all.ts";
import {
  type CheckedServer,
  checkServers,
  disabledServers,
  inventory,
  listedStateText,
  type ServerFacts,
  serverShape,
  withSessions,
} from "../../tools/catalog/inventory.ts";
import { listTools, type MissingServer, type ShownTool, toolListShape } from "../../tools/catalog/list-tools.ts";
import { heldServers } from "../../tools/definitions/review.ts";
import type { RegistryServer } from "../../tools/model.ts";
import { heldLines } from "../../tools/search/down-servers.ts";
import { type CommandAnswer, command, flag, place, several } from "../command.ts";
import { type ConfigFlags, viewArgs } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { openApp } from "../open-app.ts";
import { errorText } from "../output/report.ts";
import { countingServers, saying } from "../terminal/progress.ts";
import { table } from "../terminal/table.ts";
import { dim, stateCell } from "../terminal/terminal-output.ts";
import { foundText } from "./search.ts";

const serversShape = named(
  "Servers",
  record({
    config: about("The config file; null for the demo", either(text, nothing)),
    "ownConfig?": about("Your own config, if the project's config extends it", text),
    "replaced?": about("Servers of your own config that the project's servers replace", texts),
    servers: list(serverShape),
  }),
);

const listShape = either(serversShape, toolListShape);

export default command({
  description:
    "List the configured servers with their state, tools and description. No server is started unless you add --check.",
  args: {
    what: place("What to list: servers (default), tools, or the tools of a server", {
      required: false,
      choices: ["servers", "tools"],
      complete: "server",
    }),
    server: place("List only the tools of these servers", {
      required: false,
      complete: "server",
      ...several,
    }),
    detailed: flag("Of tools, also show how to call each tool, and its labels with their reasons"),
    check: flag("Start every server, fetch its tools, and report failures"),
    ...viewArgs,
  },
  examples: [
    "claudikins list",
    "claudikins list --check --json",
    "claudikins list tools",
    "claudikins list demo --detailed",
  ],
  json: listShape,
  jsonFailure: { "list?": listShape },
  async run(args, io) {
    const { what = "servers", detailed, check, server } = args;
    if (what !== "servers") {
      if (check) throw new ClaudikinsError("USAGE", "--check works only with servers: claudikins list --check");
      if (what === "tools") return toolsAnswer(server, args, io);
      return await toolsAnswer([what, ...server], args, io).catch((error: unknown) => {
        const meant = didYouMean(what, ["servers", "tools"]);
        if (meant === undefined || toClaudikinsError(error).code !== "SERVER_NOT_FOUND") throw error;
        throw new ClaudikinsError("SERVER_NOT_FOUND", messageOf(error), { hint: meant });
      });
    }
    const [named] = server;
    if (detailed || named !== undefined) {
      const given = named === undefined ? "--detailed" : `"${named}"`;
      throw new ClaudikinsError("USAGE", `${given} works only with list tools`, {
        hint: `Run claudikins list tools ${named ?? "--detailed"}`,
      });
    }
    return serversAnswer(check === true, args, io);
  },
});

async function serversAnswer(isChecked: boolean, flags: ConfigFlags, io: Io): Promise<CommandAnswer> {
  await using app = await openApp(io, flags, { ownMeanwhile: true });
  const { origin, servers: configured } = app.config;
  const own = ownIn(app.config);
  const check = () =>
    countingServers(flags.json ? undefined : io.stderr, configured.size, (onServer) =>
      checkServers(app, { signal: io.interrupted, onServer }),
    );
  const facts: CheckedServer[] = isChecked ? await check() : await withHeld(inventory(app), origin, io.env);
  const known = stillHeld(app);
  const namesOf = new Map(known.map(({ name, held }) => [name, held?.tools.map((tool) => tool.name)]));
  const current = facts.map((each) => ({ ...each, held: each.held && namesOf.get(each.server) }));
  const enabled = await withSessions(current, app.catalog);
  const servers: CheckedServer[] = [...enabled, ...disabledServers(app.config)];
  const document = {
    config: origin.kind === "demo" ? null : origin.file,
    ...(own && { ownConfig: own.file, replaced: own.replaced }),
    // For JSON, the state is flattened into the facts of the server, without the words for the page.
    servers: servers.map(({ state, ...facts }) => ({ ...facts, ...state, onPage: undefined })),
  };
  if (!flags.json && origin.kind === "demo") {
    await io.stderr.write("No config file: using the built-in demo server.\n\n");
  }
  const failure = failureOf(enabled);
  const problems = servers.flatMap(({ problem }) => (problem ? [`\n${errorText(asError(problem), io.stderr)}`] : []));
  problems.push(...heldLines(known).map((line) => `\n${line}\n`));
  for (const misfit of servers.flatMap(({ misfits = [] }) => misfits)) problems.push(`\nwarning: ${misfit}\n`);
  problems.push(...mistakeLines(app.config).map((line) => `\nwarning: ${line}\n`));
  if (failure?.code === "CANCELLED") problems.push(`\n${errorText(failure, io.stderr)}`);
  return {
    json: document,
    text: servers.length > 0 ? serverTable(servers, isChecked, io.stdout.columns) : "",
    note: servers.length > 0 ? ownText(own) + problems.join("") : "The config has no servers.\n",
    failure,
    beside: { list: document },
  };
}

/** The stored servers, without held tools that were accepted since they were listed. */
function stillHeld({ catalog, config, env, cwd }: App): RegistryServer[] {
  const isReviewed = ({ name }: RegistryServer) => catalog.isReviewed(name);
  const servers = catalog.visibleServers;
  if (!servers.some(isReviewed)) return servers;
  const records = heldServers({ config, env, cwd });
  return servers.map((stored) => {
    if (!stored.held || !isReviewed(stored)) return stored;
    const names = new Set(records.find(({ server }) => server === stored.name)?.tools.map(({ tool }) => tool));
    const { held, ...rest } = stored;
    const tools = held.tools.filter(({ name }) => names.has(name));
    return tools.length === 0 ? rest : { ...rest, held: { ...held, tools } };
  });
}

/** The user's own config, if it matters for the servers of a project. */
function ownIn(config: Config): Extended | undefined {
  const { extended } = config;
  return extended && ownServersOf(config).length + extended.replaced.length > 0 ? extended : undefined;
}

/** Says which servers are the user's own. */
function ownText(own: Extended | undefined): string {
  if (!own) return "";
  const replaced = own.replaced.length === 0 ? "" : `; the project replaces ${own.replaced.join(", ")}`;
  return `\nServers marked "own" are from your own config, ${own.file}${replaced}.\n`;
}

interface ToolFlags extends ConfigFlags {
  detailed?: boolean | undefined;
}

/** Fails if a named server cannot be asked. Throws SERVER_NOT_FOUND. */
async function toolsAnswer(servers: string[], flags: ToolFlags, io: Io): Promise<CommandAnswer> {
  await using app = await openApp(io, flags, { ownMeanwhile: true });
  const listing = listTools(servers, app.catalog, io.interrupted);
  const { tools, missing } = await saying(io.stderr, "Fetching the tools of the servers", listing);
  const detailed = flags.detailed ? await withLabels(tools, app) : undefined;
  const shown = detailed ?? tools.map(({ signature: _, example: __, ...tool }) => tool);
  const document = { tools: shown, missing };
  const notListed = missing.map(
    ({ server, message, hint }) => `Not listed: ${server} (${[message, hint].filter(Boolean).join(". ")})\n`,
  );
  const held = heldLines(stillHeld(app)).map((line) => `${line}\n`);
  const isEmpty = tools.length + missing.length + held.length === 0;
  return {
    json: document,
    text: detailed ? detailedText(detailed, io) : toolTexts(tools, io),
    note: isEmpty ? "There are no tools.\n" : [...notListed, ...held].join(""),
    failure: servers.length > 0 ? failureOfTools(missing) : undefined,
    beside: { list: document },
  };
}

type LabelledTool = ShownTool & { labels: Record<string, string> };

/** With the labels of each tool, and why it has them. */
async function withLabels(tools: ShownTool[], { pool, catalog, config }: App): Promise<LabelledTool[]> {
  const labelled = tools.map(async (tool) => {
    const { server, name } = tool;
    const { edits } = config.servers.get(server) ?? {};
    const own = (edits && calledTool(edits, name, catalog.find(server)?.tools)?.tool) ?? name;
    const reasons = await pool.explainLabels(server, own);
    return { ...tool, labels: Object.fromEntries(reasons.map(({ label, why }) => [label, why])) };
  });
  return Promise.all(labelled);
}

/** How to call each tool, and what its data is. */
function detailedText(tools: LabelledTool[], { stdout }: Io): string {
  const texts = tools.map((tool) => {
    const found = { kind: "tool" as const, score: 0, exampleTells: !tool.example.endsWith("()"), ...tool };
    const reasons = Object.entries(tool.labels).map(([label, why]) =>
      dim(`${label}: ${why.replace(/[\n\r\t]/g, escaped)}`),
    );
    return foundText([found], "signatures", stdout.columns) + reasons.map((line) => `  ${line}\n`).join("");
  });
  return texts.join("\n");
}

/** One line per tool. */
function toolTexts(tools: ShownTool[], { stdout }: Io): string {
  const rows = tools.map(({ id, description }) => [id, description]);
  // Only a terminal gets the head, so that a program can read one tool per line.
  const text = table(["tool", { text: "description" }], rows, stdout.columns);
  return stdout.isTerminal && rows.length > 0 ? text : text.slice(text.indexOf("\n") + 1);
}

function failureOfTools(missing: MissingServer[]): ClaudikinsError | undefined {
  const [first] = missing;
  if (!first) return undefined;
  if (missing.length === 1) return asError(first);
  const names = missing.map(({ server }) => server).join(", ");
  return new ClaudikinsError(first.code, `${missing.length} servers could not list their tools: ${names}`);
}

function asError({ code, message, hint }: Omit<MissingServer, "server">): ClaudikinsError {
  return new ClaudikinsError(code, message, { hint });
}

/** The error of the command. An unreachable server takes precedence over missing variables. */
function failureOf(servers: CheckedServer[]): ClaudikinsError | undefined {
  const unchecked = servers.filter((each) => each.unchecked);
  if (unchecked.length > 0) return interruptedBefore(unchecked, servers.length);
  const failed = servers.flatMap(({ server, problem }) => (problem ? [{ server, error: asError(problem) }] : []));
  const worst = failed.find(({ error }) => error.exitCode === 4) ?? failed[0];
  if (!worst) return undefined;
  const names = failed.map(({ server }) => server).join(", ");
  return new ClaudikinsError(worst.error.code, `${failed.length} of ${servers.length} servers failed: ${names}`);
}

function serverTable(servers: CheckedServer[], isChecked: boolean, width: number | undefined): string {
  const more = isChecked ? ["protocol", "pid", "memory"] : [];
  const head = ["server", { text: "transport" }, "state", "tools", ...more, { text: "description" }];
  const rows = servers.map((facts) => {
    const {
      server,
      transport,
      program,
      host,
      sandbox,
      session,
      from,
      state,
      protocol,
      account,
      description = "",
    } = facts;
    const marks = [from === "own" && "own", sandbox && "sandbox", session === "private" && "private"].filter(Boolean);
    const pid = state.state === "ready" ? state.pid : undefined;
    return [
      server,
      [transport, program ?? host, marks.length > 0 && `(${marks.join(", ")})`].filter(Boolean).join(" "),
      stateCell(isChecked ? checkedText(facts) : ageOfFailure(state, listedStateText(state))),
      toolsText(facts, isChecked),
      ...(isChecked ? [protocol ?? "-", String(pid ?? "-"), memoryText(facts.memoryBytes)] : []),
      [account && `account ${account}`, description].filter(Boolean).join("; "),
    ];
  });
  return table(head, rows, width);
}

/** The reason is printed below the table. */
function checkedText({ state, problem, unchecked }: CheckedServer): string {
  if (unchecked) return "not checked";
  if (state.state === "needs" || state.state === "signed out") return listedStateText(state);
  if (problem) return "broken";
  return state.state === "ready" ? `ready in ${durationText(state.startMs ?? 0)}` : listedStateText(state);
}

/** Says when a server failed, because it may have been repaired since. */
function ageOfFailure(state: CheckedServer["state"], words: string): string {
  return state.state === "broken" ? `${words} (${ageText(Date.now() - state.since)})` : words;
}

function toolsText({ tools, denied, held, askedAt, problem }: CheckedServer, isChecked: boolean): string {
  if (tools === undefined || problem) return "-";
  const age = isChecked || askedAt === undefined ? undefined : ageText(Date.now() - askedAt);
  const more = [denied && `${denied} denied`, held && `${held.length} held`, age].filter(Boolean).join(", ");
  return more === "" ? String(tools) : `${tools} (${more})`;
}

function memoryText(bytes: number | undefined): string {
  return bytes === undefined ? "-" : aboutMegabytes(bytes);
}

/** Marks servers that the daemon runs as ready. Without a daemon the facts are unchanged. */
async function withHeld(servers: ServerFacts[], origin: ConfigOrigin, env: Environment): Promise<ServerFacts[]> {
  const place = placeOf(origin.kind === "demo" ? undefined : origin.file, env);
  const status = await statusOf(place.socket).catch(() => undefined);
  return servers.map((facts) => {
    const held = status?.held.find(({ server }) => server === facts.server);
    if (!held || !["idle", "broken"].includes(facts.state.state)) return facts;
    return { ...facts, state: { state: "ready", since: held.since, pid: held.pid ?? undefined } };
  });
}
