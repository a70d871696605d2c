/** `claudikins review`: shows tools whose definitions changed after they were accepted, and accepts the changes. */
import { counted } from "../../base/counted.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import {
  about,
  anything,
  either,
  list,
  nothing,
  number,
  problem,
  record,
  text,
  texts,
  yesOrNo,
} from "../../base/json-shape.ts";
import { didYouMean } from "../../base/near-names.ts";
import { shellWord } from "../../base/shell-word.ts";
import { visibleText } from "../../base/visible-text.ts";
import type { Config } from "../../config/load.ts";
import { DaemonClient } from "../../daemon/client.ts";
import { statusOf } from "../../daemon/peers.ts";
import { type Drift, driftText, programText } from "../../programs/drift/drift.ts";
import { reasonText } from "../../programs/drift/reasons.ts";
import { unifiedDiff } from "../../setup/unified-diff.ts";
import { checkServers } from "../../tools/catalog/inventory.ts";
import { definitionText } from "../../tools/definitions/definition-text.ts";
import {
  acceptTools,
  heldServers,
  makeLockFile,
  type ReviewedServer,
  type ReviewedTool,
  type Surroundings,
} from "../../tools/definitions/review.ts";
import { toolId } from "../../tools/model.ts";
import { type CommandAnswer, command, flag, place, several } from "../command.ts";
import { configArgs, openConfig, usesDaemon } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { openApp } from "../open-app.ts";
import { reasonShape } from "../programs/check.ts";
import { canAsk, confirm } from "../terminal/prompt.ts";
import { colouredDiff } from "../terminal/terminal-output.ts";

const toolShape = record({
  tool: about("The tool's own name", text),
  why: about("Why it is held", texts),
  suspicions: about("What in the new definition seems to talk to the model instead of about the tool", texts),
  before: about(
    "The accepted definition; null for a new tool, and if its text is not on this machine or no longer kept",
    either(anything, nothing),
  ),
  now: anything,
  accepted: about("Whether this command accepted it", yesOrNo),
});

const reviewShape = record({
  held: list(
    record({
      server: text,
      upgrade: about(
        "Whether the server has another version, or is started in another way, than when it was accepted",
        yesOrNo,
      ),
      "before?": about("The server's own version when its definitions were accepted", text),
      "now?": about("The server's own version", text),
      tools: list(toolShape),
    }),
  ),
  "programs?": about(
    "Saved programs that would break if the changes were accepted",
    record({
      total: number,
      broken: list(record({ name: text, "door?": text, reasons: list(reasonShape) })),
    }),
  ),
  "lockFile?": about("The lock file that was made", either(text, nothing)),
  "unchecked?": about("With --check: servers that could not be listed", list(record({ server: text, problem }))),
});

interface ReviewArgs {
  names: string[];
  accept?: boolean | undefined;
  all?: boolean | undefined;
  check?: boolean | undefined;
  init?: boolean | undefined;
  config?: string | undefined;
  trust?: boolean | undefined;
  json?: boolean | undefined;
}

export default command({
  description:
    "Show the tools that are held because their definitions changed after they were accepted, and accept the changes. Held tools are neither shown to agents nor called. Without names, lists them; with names, shows the differences and, at a terminal, asks about each server. For what a project's config may start: claudikins trust.",
  args: {
    names: place("Servers, or tools as server.tool", { required: false, complete: "server", ...several }),
    accept: flag("Accept the changes of the named servers and tools"),
    all: flag("With --accept: accept all changes"),
    check: flag("Start every server, list its tools, and fail if one is held"),
    init: flag(
      "Write the fingerprints of the accepted definitions to claudikins.lock beside the config, for your repository",
    ),
    ...configArgs,
  },
  examples: [
    "claudikins review",
    "claudikins review demo",
    "claudikins review --accept github",
    "claudikins review --check",
  ],
  json: reviewShape,
  jsonFailure: { "review?": reviewShape },
  async run(args, io) {
    refuseMixed(args);
    const config = await openConfig(args, io);
    const surroundings = { config, env: io.env, cwd: io.cwd };
    if (args.init) return made(surroundings);
    if (args.check) return checked(args, surroundings, io);
    const chosen = chosenServers(args.names, heldServers(surroundings), config);
    if (args.accept) return accepted(chosen, args, surroundings, io);
    const isShown = args.names.length > 0;
    const drift = await driftIf(chosen, args, io);
    if (isShown && !args.json && canAsk(io)) return asked(chosen, drift, args, surroundings, io);
    const { text = "", ...more } = isShown ? diffs(chosen) : overview(chosen);
    const shown = text + brokenText(drift);
    return { json: { ...documentOf(chosen), ...driftJson(drift) }, ...(shown === "" ? {} : { text: shown }), ...more };
  },
});

function refuseMixed({ names, accept, all, check, init }: ReviewArgs): void {
  const usage = (message: string) => new ClaudikinsError("USAGE", message);
  if ([accept, check, init].filter(Boolean).length > 1) throw usage("Use only one of --accept, --check and --init");
  if ((check || init) && names.length > 0) throw usage(`${check ? "--check" : "--init"} takes no names`);
  if (all && !accept) throw usage("--all works only with --accept");
  if (accept && !all && names.length === 0) throw usage("--accept needs the names of servers or tools, or --all");
  if (all && names.length > 0) throw usage("Use --all or names, not both");
}

/** The held tools that are named; all if nothing is named. Throws SERVER_NOT_FOUND and TOOL_NOT_FOUND. */
function chosenServers(names: readonly string[], held: readonly ReviewedServer[], config: Config): ReviewedServer[] {
  if (names.length === 0) return [...held];
  for (const name of names) {
    const isHeld = held.some(
      (each) => isNamed(each.server, name) || each.tools.some(({ tool }) => toolId(each.server, tool) === name),
    );
    if (isHeld || config.servers.has(name)) continue;
    const ids = held.flatMap(({ server, tools }) => tools.map(({ tool }) => toolId(server, tool)));
    const isOfServer = [...config.servers.keys()].some((server) => name.startsWith(`${server}.`));
    const hint = didYouMean(name, [...ids, ...config.servers.keys()]) ?? "To list the held tools: claudikins review";
    throw isOfServer
      ? new ClaudikinsError("TOOL_NOT_FOUND", `No held tool is called "${name}"`, { hint })
      : new ClaudikinsError("SERVER_NOT_FOUND", `No server is called "${name}"`, { hint });
  }
  return held.flatMap((each) => {
    if (names.some((name) => isNamed(each.server, name))) return [each];
    const tools = each.tools.filter(({ tool }) => names.includes(toolId(each.server, tool)));
    return tools.length === 0 ? [] : [{ ...each, tools }];
  });
}

const isNamed = (server: string, name: string) => server === name;

function documentOf(servers: readonly ReviewedServer[], isAccepted = (_: ReviewedTool) => false) {
  return {
    held: servers.map(({ server, isUpgrade, before, now, tools }) => ({
      server,
      upgrade: isUpgrade,
      before,
      now,
      tools: tools.map((each) => ({
        tool: each.tool,
        why: each.why,
        suspicions: each.suspicions,
        before: each.before ?? null,
        now: each.now,
        accepted: isAccepted(each),
      })),
    })),
  };
}

/** One line for each tool. The tools of an upgraded server are one review. */
function overview(servers: readonly ReviewedServer[]): Pick<CommandAnswer, "text" | "note"> {
  if (servers.length === 0) return { note: "Nothing is held: no definition has changed since it was accepted.\n" };
  const lines = servers.flatMap((each) => [
    ...(each.isUpgrade ? [`${each.server}: ${upgradeText(each)}`] : []),
    ...each.tools.map((tool) => `${each.isUpgrade ? "  " : ""}${toolId(each.server, tool.tool)}: ${reasonsOf(tool)}`),
  ]);
  const [first] = servers;
  const next = `\nTo see the differences: claudikins review ${shellWord(first!.server)}\n`;
  return { text: `${lines.join("\n")}\n`, note: restartText(servers) + next };
}

/** How servers get rid of definitions from before an accepted change. */
function restartText(servers: readonly ReviewedServer[]): string {
  const old = servers.filter(({ tools }) => tools.some(({ isReplaced }) => isReplaced));
  return old
    .map(
      ({ server }) =>
        `${server} still lists a definition from before a change that was accepted. If it still runs its earlier program: claudikins daemon restart ${shellWord(server)}\n`,
    )
    .join("");
}

function reasonsOf({ why, suspicions }: ReviewedTool): string {
  const warning = suspicions.map((each) => `. Warning: the new text ${each}`).join("");
  return `${why.join("; ")}${warning}`;
}

function upgradeText({ before, now, tools }: ReviewedServer): string {
  const changed = `${counted(tools.length, "tool")} changed`;
  if (before !== now) return `version ${before ?? "unknown"} → ${now ?? "unknown"}, ${changed}`;
  return `started in another way than before, ${changed}`;
}

function diffs(servers: readonly ReviewedServer[]): Pick<CommandAnswer, "text" | "note"> {
  if (servers.length === 0) return { note: "Nothing of this is held.\n" };
  const [first] = servers;
  const next = `To accept: claudikins review --accept ${shellWord(first!.server)}\n`;
  return { text: servers.map(diffText).join("\n"), note: restartText(servers) + next };
}

function diffText(server: ReviewedServer): string {
  const head = server.isUpgrade ? `${server.server}: ${upgradeText(server)}\n\n` : "";
  return head + server.tools.map(toolDiff).join("\n");
}

function toolDiff(tool: ReviewedTool): string {
  const id = toolId(tool.server, tool.tool);
  const from = tool.before === undefined ? "" : definitionText(tool.before);
  const diff = colouredDiff(unifiedDiff(id, from, definitionText(tool.now)));
  const note = tool.before === undefined ? "There is no accepted text to compare with; this is the new one.\n" : "";
  return `${id}: ${reasonsOf(tool)}\n${note}${diff}`;
}

/** The saved programs that the changes would break. Undefined if no program is saved. */
async function driftIf(servers: readonly ReviewedServer[], args: ReviewArgs, io: Io): Promise<Drift | undefined> {
  if (servers.length === 0) return undefined;
  const { driftOf, hasPrograms } = await import("../../programs/drift/drift.ts");
  await using app = await openApp(io, args);
  if (!hasPrograms(app)) return undefined;
  const { config, catalog, env, cwd } = app;
  const names = servers.map(({ server }) => server);
  return driftOf({ config, catalog, env, cwd }, { servers: names, signal: io.interrupted });
}

function driftJson(drift: Drift | undefined) {
  if (!drift) return {};
  const broken = drift.broken.map(({ name, door, reasons }) => ({
    name,
    ...(door === undefined ? {} : { door }),
    reasons,
  }));
  return { programs: { total: drift.total, broken } };
}

/** `2 of 31 saved programs would break:`, and the reasons. */
function brokenText(drift: Drift | undefined): string {
  if (!drift || drift.broken.length === 0) return "";
  const lines = drift.broken.flatMap((each) =>
    each.reasons.map((reason) => `  ${programText(each)}, ${reasonText(reason)}`),
  );
  return visibleText(`${[`${driftText(drift)} if you accept:`, ...lines].join("\n")}\n`);
}

/** Shows each server, and asks the person at the terminal about it. */
async function asked(
  servers: readonly ReviewedServer[],
  drift: Drift | undefined,
  args: ReviewArgs,
  surroundings: Surroundings,
  io: Io,
): Promise<CommandAnswer> {
  if (servers.length === 0) return diffs(servers);
  await io.stdout.write(brokenText(drift));
  const taken: ReviewedTool[] = [];
  // One question for each server: an upgrade may change forty tools. A single tool can be named.
  for (const server of servers) {
    await io.stdout.write(`${diffText(server)}\n`);
    const { tools } = server;
    const what = tools.length === 1 ? "this change" : `these ${tools.length} changes`;
    if (await confirm(io, `Accept ${what}?`)) taken.push(...tools);
  }
  await acceptTools(taken, surroundings);
  return { text: acceptedText(taken), note: await stillOld(taken, args, surroundings, io) };
}

async function accepted(
  servers: readonly ReviewedServer[],
  args: ReviewArgs,
  surroundings: Surroundings,
  io: Io,
): Promise<CommandAnswer> {
  const tools = servers.flatMap((each) => each.tools);
  await acceptTools(tools, surroundings);
  const note = await stillOld(tools, args, surroundings, io);
  return { json: documentOf(servers, () => true), text: acceptedText(tools), note };
}

/** Makes all processes list the servers that the daemon runs again, and says which of them still list what was replaced. Starts nothing. */
async function stillOld(
  tools: readonly ReviewedTool[],
  args: ReviewArgs,
  surroundings: Surroundings,
  io: Io,
): Promise<string> {
  if (tools.length === 0 || !usesDaemon({}, io.env)) return "";
  const { origin } = surroundings.config;
  const client = new DaemonClient(origin.kind === "demo" ? undefined : origin.file, io.env);
  const status = await statusOf(client.place.socket).catch(() => undefined);
  const servers = [...new Set(tools.map(({ server }) => server))];
  // A daemon of an earlier version cannot do this.
  for (const server of status ? servers : []) await client.postToRunning("/relist", { server }).catch(() => undefined);
  const running = new Set(status?.held.map(({ server }) => server));
  const only = servers.filter((server) => running.has(server));
  if (only.length === 0) return "";
  await using app = await openApp(io, args);
  await checkServers(app, { signal: io.interrupted, only });
  return restartText(heldServers(surroundings).filter(({ server }) => only.includes(server)));
}

function acceptedText(tools: readonly ReviewedTool[]): string {
  if (tools.length === 0) return "Nothing was accepted.\n";
  return `Accepted ${tools.map(({ server, tool }) => toolId(server, tool)).join(", ")}\n`;
}

async function made(surroundings: Surroundings): Promise<CommandAnswer> {
  const lockFile = await makeLockFile(surroundings);
  const document = { ...documentOf([]), lockFile: lockFile?.file ?? null };
  if (!lockFile) return { json: document, note: "The config has no servers whose definitions are locked.\n" };
  const text = `Wrote ${lockFile.file}. Commit it together with the config.\n`;
  return { json: document, text };
}

/** Fails if something is held, or if a server could not be listed. */
async function checked(args: ReviewArgs, surroundings: Surroundings, io: Io): Promise<CommandAnswer> {
  const unchecked: { server: string; problem: { code: string; message: string } }[] = [];
  {
    await using app = await openApp(io, args);
    for (const { server, problem } of await checkServers(app, { signal: io.interrupted })) {
      if (problem) unchecked.push({ server, problem });
    }
  }
  const held = heldServers(surroundings);
  const document = { ...documentOf(held), unchecked };
  const tools = held.flatMap((each) => each.tools);
  const notes = unchecked.map(({ server, problem }) => `Not checked: ${server} (${problem.message})\n`);
  const failure =
    tools.length > 0
      ? new ClaudikinsError("DEFINITION_CHANGED", `${counted(tools.length, "tool")} changed after they were accepted`, {
          hint: "To see how: claudikins review",
        })
      : unchecked.length > 0
        ? new ClaudikinsError("SERVER_UNAVAILABLE", `${counted(unchecked.length, "server")} could not be checked`)
        : undefined;
  const { text, note } = overview(held);
  if (!failure) return { json: document, text: note ?? "" };
  return { json: document, text: text ?? "", note: notes.join(""), failure, beside: { review: document } };
}
