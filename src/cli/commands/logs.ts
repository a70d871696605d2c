/** `claudikins logs`: what servers wrote to stderr, when they started and how they ended. */

import { discoverConfig } from "../../config/discover.ts";
import { type Config, loadConfig } from "../../config/load.ts";
import { logsFolder } from "../../config/locations.ts";
import { ClaudikinsError } from "../../errors.ts";
import { follow, LogEnd } from "../../logs/follow.ts";
import { type LogLine, writtenLine } from "../../logs/line.ts";
import { configOwner, logFile } from "../../logs/place.ts";
import { type FoundLog, findLogs, readLog, removeLogs } from "../../logs/read-logs.ts";
import { didYouMean } from "../../near-names.ts";
import { cyan, dim, hasColours, paint, red } from "../colours.ts";
import { command, commonArgs } from "../command.ts";
import { defaultLines, logFlags } from "../flags.ts";
import type { Io } from "../io.ts";
import { about, either, list, named, nothing, number, oneOf, record, text, texts, yesOrNo } from "../shapes.ts";
import { table } from "../table.ts";
import { ageText } from "../time-text.ts";

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
    server: { type: "positional", required: false, description: "Server whose log to show", complete: "server" },
    ...logFlags,
    since: { type: "string", valueHint: "time", description: "Show only lines newer than this: 30s, 10m, 2h or 3d" },
    path: { type: "boolean", description: "Print the path of the log" },
    clear: { type: "boolean", description: "Delete the log; without a server, the logs of all servers in the config" },
    all: {
      type: "boolean",
      description:
        "Without a server: list all logs, including those of other configs and of servers that are in no config",
    },
    ...commonArgs,
    json: { type: "boolean", description: "Print one JSON document and nothing else; with --follow, one per line" },
  },
  examples: ["claudikins logs", "claudikins logs github --follow", "claudikins logs github --since 10m --json"],
  json: logsShape,
  async run(args, io) {
    checkTogether(args);
    const since = args.since === undefined ? undefined : Date.now() - parseAge(args.since);
    const logs = new Logs(args.config, io);
    if (args.server === undefined) return args.clear ? logs.clear(args) : logs.list(args);
    const log = await logs.find(args.server);
    if (args.clear) return logs.clear(args, log);
    if (args.path) return print(io, args.json ? `${JSON.stringify({ path: log.path })}\n` : `${log.path}\n`);
    const chosen = (lines: LogLine[]) => {
      const young = lines.filter(({ at }) => at >= (since ?? 0));
      return args.lines === undefined && since !== undefined ? young : young.slice(-(args.lines ?? defaultLines));
    };
    if (args.follow) return followLog(log.path, chosen, args.json === true, io);
    const lines = chosen(readLog(log.path));
    if (args.json) {
      const { server, config, path } = log;
      return print(io, `${JSON.stringify({ server, config, path, lines: lines.map(shown) })}\n`);
    }
    if (lines.length === 0) await io.stderr.write(`${await logs.whyEmpty(log, args.since)}\n`);
    return print(io, lineTexts(lines, io));
  },
});

type Args = Partial<Record<"server" | "since" | "config", string | undefined>> &
  Partial<Record<"lines", number | undefined>> &
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

/** Throws USAGE. */
function parseAge(text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit];
  if (unitMs !== undefined) return Number(count) * unitMs;
  throw new ClaudikinsError("USAGE", `--since takes a time like 30s, 10m, 2h or 3d; got "${text}"`);
}

interface Chosen extends Pick<FoundLog, "server" | "config" | "path"> {
  isThere: boolean;
}

/** The logs of one config, including removed servers and unreadable configs. */
class Logs {
  readonly #io: Io;
  readonly #flag: string | undefined;
  readonly #folder: string;
  readonly #owner: string | null;

  /** Throws CONFIG_NOT_FOUND. */
  constructor(flag: string | undefined, io: Io) {
    this.#io = io;
    this.#flag = flag;
    this.#folder = logsFolder(io.env);
    this.#owner = configOwner(discoverConfig({ flag, cwd: io.cwd, env: io.env }));
  }

  #found(ofAll = false): FoundLog[] {
    return findLogs(this.#folder).filter(({ config }) => ofAll || config === this.#owner);
  }

  /** Undefined where it is not as it should be: that is for other commands to say. */
  async #config(): Promise<Config | undefined> {
    return loadConfig({ flag: this.#flag, cwd: this.#io.cwd, env: this.#io.env }).catch(() => undefined);
  }

  /** Throws SERVER_NOT_FOUND. */
  async find(server: string): Promise<Chosen> {
    const owner = { server, config: this.#owner };
    const chosen = { ...owner, path: logFile(this.#folder, owner) };
    const names = this.#found().map((log) => log.server);
    if (names.includes(server)) return { ...chosen, isThere: true };
    const configured = [...((await this.#config())?.servers.keys() ?? [])];
    if (configured.includes(server)) return { ...chosen, isThere: false };
    const known = [...new Set([...names, ...configured])];
    throw new ClaudikinsError("SERVER_NOT_FOUND", `No server is called "${server}", and no log has that name`, {
      hint: didYouMean(server, known) ?? (known.length > 0 ? `Known servers: ${known.join(", ")}` : undefined),
    });
  }

  async whyEmpty({ server, isThere }: Chosen, since: string | undefined): Promise<string> {
    if (isThere)
      return since === undefined ? `The log of ${server} is empty.` : `Nothing was logged in the last ${since}.`;
    return (await this.#config())?.logs === false
      ? 'Logging is off: the config has "logs": false.'
      : `${server} has no log yet: the log is created when the server starts.`;
  }

  async list({ all, json }: Args): Promise<number> {
    const configured = (await this.#config())?.servers;
    const every = this.#found(all);
    // A server that could not be added, or was removed, has left its log behind.
    const found = every.filter(({ server }) => all || !configured || configured.has(server));
    const logs = found.map(({ lastAt, ...log }) => ({
      ...log,
      lastAt: new Date(lastAt).toISOString(),
      isConfigured: log.config === this.#owner ? configured?.has(log.server) : undefined,
    }));
    if (json) return print(this.#io, `${JSON.stringify({ logs })}\n`);
    const others = every.length - found.length;
    if (others > 0 && !json) {
      const what = others === 1 ? "1 more log" : `${others} more logs`;
      await this.#io.stderr.write(`note: ${what} of servers that are not in the config: claudikins logs --all\n`);
    }
    if (found.length === 0) {
      if (others > 0) return 0;
      await this.#io.stderr.write("There are no logs yet: a log is created when a server starts.\n");
      return 0;
    }
    const head = ["server", "last line", "size", ...(all ? ["config"] : [])];
    const rows = logs.map(({ server, config, isConfigured }, index) => {
      const { lastAt, bytes } = found[index]!;
      const name = isConfigured === false ? `${server} (not in the config)` : server;
      const cells = [name, ageText(Date.now() - lastAt), `${Math.ceil(bytes / 1_000).toLocaleString("en")} kB`];
      return [...cells, ...(all ? [config ?? "the demo"] : [])];
    });
    return print(this.#io, table(head, rows, this.#io.stdout.columns));
  }

  /** Throws FILE_NOT_WRITABLE. */
  async clear({ json }: Args, only?: Chosen): Promise<number> {
    const found = this.#found().filter(({ server }) => only === undefined || server === only.server);
    await removeLogs(
      this.#folder,
      found.map(({ path }) => path),
    );
    const cleared = found.map(({ server }) => server);
    if (json) return print(this.#io, `${JSON.stringify({ cleared })}\n`);
    await this.#io.stderr.write(
      cleared.length > 0 ? `Deleted the logs of: ${cleared.join(", ")}\n` : "There were no logs to delete.\n",
    );
    return 0;
  }
}

async function followLog(
  path: string,
  chosen: (lines: LogLine[]) => LogLine[],
  json: boolean,
  io: Io,
): Promise<number> {
  const end = new LogEnd(path);
  const show = (lines: LogLine[]) =>
    io.stdout.write(json ? lines.map((line) => `${JSON.stringify(shown(line))}\n`).join("") : lineTexts(lines, io));
  await show(chosen(end.first()));
  for await (const lines of follow(end, io.interrupted)) {
    await show(lines);
    if (io.stdout.isClosed) return 0;
  }
  return 0;
}

const shown = ({ at, ...line }: LogLine) => ({ at: new Date(at).toISOString(), ...line });

function lineTexts(lines: LogLine[], io: Io): string {
  const colours = hasColours(io.stdout, io);
  return lines.map((line) => (colours ? coloured(line) : writtenLine(line))).join("");
}

const colourOf: Partial<Record<LogLine["kind"], string>> = {
  start: cyan,
  ready: cyan,
  end: cyan,
  failed: red,
  error: red,
  dropped: red,
};

function coloured(line: LogLine): string {
  const [, when = "", rest = ""] = /^(\S+ \d+ )(.*)$/s.exec(writtenLine(line)) ?? [];
  const colour = colourOf[line.kind];
  return `${paint(when, dim, true)}${colour === undefined ? rest : `${paint(rest.trimEnd(), colour, true)}\n`}`;
}

async function print(io: Io, text: string): Promise<number> {
  await io.stdout.write(text);
  return 0;
}
