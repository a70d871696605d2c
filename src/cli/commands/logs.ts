/** `claudikins logs`: what servers wrote to stderr, when they started and how they ended. */

import { counted, grouped } from "../../base/counted.ts";
import { ageText } from "../../base/duration.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import {
  about,
  either,
  list,
  named,
  nothing,
  number,
  oneOf,
  record,
  text,
  texts,
  yesOrNo,
} from "../../base/json-shape.ts";
import { didYouMean } from "../../base/near-names.ts";
import { discoverConfig } from "../../config/discover.ts";
import { type Config, loadConfig } from "../../config/load.ts";
import { logsFolder } from "../../config/locations.ts";
import { type LogLine, writtenLine } from "../../servers/logs/line.ts";
import { configOwner, logFile } from "../../servers/logs/place.ts";
import { findLogs, followFile, LogTail, logLines, readLog, removeLogs } from "../../servers/logs/read-logs.ts";
import { type CommandAnswer, command, flag, option, place } from "../command.ts";
import { configArgs } from "../flags/config-flags.ts";
import { countUpTo, pastTime } from "../flags/flags.ts";
import type { Io } from "../io.ts";
import { defaultLines } from "../limits.ts";
import { listAnswer } from "../output/nouns.ts";
import { cyan, dim, red } from "../terminal/terminal-output.ts";

/** The flags of commands that show a log. */
export const logArgs = {
  lines: option(`Number of lines to show, from the end (default ${defaultLines})`, {
    short: "n",
    ...countUpTo(1_000_000),
  }),
  follow: flag("Show new lines as they are written, until Ctrl-C", { short: "f" }),
} as const;

const owner = { server: text, config: about("The config file; null for the demo", either(text, nothing)) };

const lineShape = named(
  "LogLine",
  record({
    at: about("A date and time", text),
    process: number,
    kind: oneOf("start", "ready", "end", "failed", "stderr", "log", "error", "dropped"),
    text,
  }),
);

const logsShape = either(
  named("Log", about("The log of one server", record({ ...owner, path: text, lines: list(lineShape) }))),
  lineShape,
  named(
    "Logs",
    about(
      "Without a server",
      record({
        logs: list(
          record({
            ...owner,
            path: text,
            bytes: number,
            lastAt: about("A date and time", text),
            "isConfigured?": yesOrNo,
          }),
        ),
      }),
    ),
  ),
  named("Place", about("With --path", record({ path: text }))),
  named("Cleared", about("With --clear: servers whose logs were deleted", record({ cleared: texts }))),
);

export default command({
  description:
    "Show what a server wrote to stderr, when it was started and how it ended. Without a server, list the logs.",
  args: {
    server: place("Server whose log to show", { required: false, complete: "server" }),
    ...logArgs,
    since: option("Show only lines since then: 30s, 10m, 2h, 3d or a date such as 2026-11-23", pastTime),
    path: flag("Print the path of the log"),
    clear: flag("Delete the log; without a server, the logs of all servers in the config"),
    all: flag("Without a server: list all logs, including those of other configs and of servers that are in no config"),
    config: configArgs.config,
    json: flag("Print one JSON document and nothing else; with --follow, one per line"),
  },
  examples: ["claudikins logs", "claudikins logs github --follow", "claudikins logs github --since 10m --json"],
  json: logsShape,
  async run(args, io) {
    checkTogether(args);
    const { server, since = 0 } = args;
    const place = { folder: logsFolder(io.env), config: configOwner(discoverConfig(whereOf(args, io))) };
    if (server === undefined) return args.clear ? clear(place) : listed(place, args, io);
    const { path, whyEmpty } = await logOf(server, place, args, io);
    if (args.clear) return clear(place, server);
    if (args.path) return { json: { path }, text: `${path}\n` };
    const isWhole = args.lines === undefined && args.since !== undefined;
    const most = isWhole ? Number.POSITIVE_INFINITY : (args.lines ?? defaultLines);
    const chosen = (lines: LogLine[]) => lines.filter(({ at }) => at >= since).slice(-most);
    if (args.follow) {
      const asText = (lines: LogLine[]) => lines.map(args.json ? jsonLine : colouredLine).join("");
      return followLog(
        path,
        { first: (text) => asText(chosen(logLines(text))), next: (text) => asText(logLines(text)) },
        io,
      );
    }
    const lines = chosen(readLog(path));
    return {
      json: { server, config: place.config, path, lines: lines.map(shown) },
      text: lines.map(colouredLine).join(""),
      note: lines.length === 0 ? `${whyEmpty}\n` : "",
    };
  },
});

type Args = Partial<Record<"server" | "config", string | undefined>> &
  Partial<Record<"lines" | "since", number | undefined>> &
  Partial<Record<"follow" | "path" | "clear" | "all" | "json", boolean | undefined>>;

function checkTogether(args: Args): void {
  const given = (["lines", "follow", "since", "path", "clear", "all"] as const).filter(
    (name) => args[name] !== undefined,
  );
  const alone = given.find((name) => name === "path" || name === "clear");
  const other = given.find((name) => name !== alone);
  if (alone !== undefined && other !== undefined) {
    throw new ClaudikinsError("USAGE", `--${alone} cannot be used with --${other}`);
  }
  if (args.server !== undefined && args.all) throw new ClaudikinsError("USAGE", "Give a server or --all, not both");
  const ofOne = given.find((name) => name !== "clear" && name !== "all");
  if (args.server === undefined && ofOne !== undefined) {
    throw new ClaudikinsError("USAGE", `--${ofOne} needs a server`, { hint: "To list the logs: claudikins logs" });
  }
}

function whereOf({ config: flag }: Args, { cwd, env }: Io) {
  return { flag, cwd, env };
}

/** Returns undefined for a config that is invalid or not trusted. Other commands report that. */
function configOf(args: Args, io: Io): Promise<Config | undefined> {
  return loadConfig(whereOf(args, io)).catch(() => undefined);
}

/** The logs of one config, including the logs of removed servers. */
interface LogsOfConfig {
  folder: string;
  config: string | null;
}

const logsOf = ({ folder, config }: LogsOfConfig) => findLogs(folder).filter((log) => log.config === config);

/** Returns the path of a server's log, and why it may have no lines. Throws SERVER_NOT_FOUND. */
async function logOf(
  server: string,
  place: LogsOfConfig,
  args: Args,
  io: Io,
): Promise<{ path: string; whyEmpty: string }> {
  const path = logFile(place.folder, { server, config: place.config });
  const names = logsOf(place).map((log) => log.server);
  if (names.includes(server)) {
    return { path, whyEmpty: args.since ? "Nothing was logged since then." : `The log of ${server} is empty.` };
  }
  const config = await configOf(args, io);
  if (config?.servers.has(server)) {
    const notYet = `${server} has no log yet: the log is created when the server starts.`;
    return { path, whyEmpty: config.logs ? notYet : 'Logging is off: the config has "logs": false.' };
  }
  const known = [...new Set([...names, ...(config?.servers.keys() ?? [])])];
  throw new ClaudikinsError("SERVER_NOT_FOUND", `No server is called "${server}", and no log has that name`, {
    hint: didYouMean(server, known) ?? (known.length > 0 ? `Known servers: ${known.join(", ")}` : undefined),
  });
}

async function listed(place: LogsOfConfig, args: Args, io: Io): Promise<CommandAnswer> {
  const configured = (await configOf(args, io))?.servers;
  const every = args.all ? findLogs(place.folder) : logsOf(place);
  // A server that could not be added, or was removed, has left its log behind.
  const found = every.filter(({ server }) => args.all || !configured || configured.has(server));
  const logs = found.map((log) => ({
    ...log,
    isConfigured: log.config === place.config ? configured?.has(log.server) : undefined,
  }));
  const json = { logs: logs.map(({ lastAt, ...log }) => ({ ...log, lastAt: new Date(lastAt).toISOString() })) };
  const others = every.length - found.length;
  const note =
    others > 0
      ? `note: ${counted(others, "more log")} of servers that are not in the config: claudikins logs --all\n`
      : "";
  return listAnswer(
    io,
    { json, rows: logs, none: note || "There are no logs yet: a log is created when a server starts.\n", note },
    [
      ["server", ({ server, isConfigured }) => (isConfigured === false ? `${server} (not in the config)` : server)],
      ["last line", ({ lastAt }) => ageText(Date.now() - lastAt)],
      [{ number: "size" }, ({ bytes }) => `${grouped(Math.ceil(bytes / 1_000))} kB`],
      args.all ? [{ path: "config" }, ({ config }) => config ?? "the demo"] : undefined,
    ],
  );
}

/** Throws FILE_NOT_WRITABLE. */
async function clear(place: LogsOfConfig, server?: string): Promise<CommandAnswer> {
  const found = logsOf(place).filter((log) => server === undefined || log.server === server);
  const paths = found.map(({ path }) => path);
  await removeLogs(place.folder, paths);
  const cleared = found.map((log) => log.server);
  const note = cleared.length > 0 ? `Deleted the logs of: ${cleared.join(", ")}\n` : "There were no logs to delete.\n";
  return { json: { cleared }, note };
}

/** Shows a log, and what is added to it until Ctrl-C. The functions return the text to show of what was read. */
export async function followLog(
  path: string,
  { first, next }: Record<"first" | "next", (text: string) => string>,
  { stdout, interrupted }: Io,
): Promise<CommandAnswer> {
  const end = new LogTail(path);
  await stdout.write(first(end.next()));
  for await (const text of followFile(end, interrupted)) {
    await stdout.write(next(text));
    if (stdout.isClosed) break;
  }
  return {};
}

const shown = ({ at, ...line }: LogLine) => ({ at: new Date(at).toISOString(), ...line });

const jsonLine = (line: LogLine) => `${JSON.stringify(shown(line))}\n`;

const colourOf: Partial<Record<LogLine["kind"], (text: string) => string>> = {
  start: cyan,
  ready: cyan,
  end: cyan,
  failed: red,
  error: red,
  dropped: red,
};

function colouredLine(line: LogLine): string {
  const [, when = "", rest = ""] = /^(\S+ \d+ )(.*)$/s.exec(writtenLine(line)) ?? [];
  const colour = colourOf[line.kind];
  return dim(when) + (colour ? `${colour(rest.slice(0, -1))}\n` : rest);
}
