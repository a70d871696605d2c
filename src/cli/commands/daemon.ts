/** `claudikins daemon`: which daemons run and what they hold, how they end, and what they wrote. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { counted } from "../../base/counted.ts";
import { ageText } from "../../base/duration.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { readIfThere } from "../../base/files.ts";
import {
  about,
  byName,
  either,
  list,
  nothing,
  number,
  record,
  text,
  texts,
  time,
  yesOrNo,
} from "../../base/json-shape.ts";
import { shellWord } from "../../base/shell-word.ts";
import { aboutMegabytes } from "../../base/units.ts";
import { discoverConfig } from "../../config/discover.ts";
import { realOf } from "../../config/locations.ts";
import type { Holder } from "../../daemon/daemon-note.ts";
import { askToStop, endSilent, findDaemons, hasEnded, type Peer, type SilentDaemon } from "../../daemon/peers.ts";
import { placeOf } from "../../daemon/place.ts";
import type { Status } from "../../daemon/protocol.ts";
import { command, flag, place } from "../command.ts";
import { daemonOf } from "../daemon/with-daemon.ts";
import { configArgs, usesDaemon } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { defaultLines } from "../limits.ts";
import { listAnswer } from "../output/nouns.ts";
import { errorText } from "../output/report.ts";
import { saying } from "../terminal/progress.ts";
import { followLog, logArgs } from "./logs.ts";

export const status = command({
  description: "List the running daemons and their servers. Each config whose tools were called recently has a daemon.",
  args: {
    config: { ...configArgs.config, description: "Show only the daemon of this config file" },
  },
  examples: ["claudikins daemon status", "claudikins daemon status --json"],
  json: record({
    daemons: list(
      record({
        pid: number,
        version: text,
        config: about("Its config file; null for the demo", either(text, nothing)),
        startedAt: time,
        calls: record({ running: number, done: number }),
        servers: about("State of each server, by name", byName(text)),
        problems: about(
          "Why servers cannot be called now, by name, with a digest of the entry",
          byName(record({ problem: text, entry: text })),
        ),
        held: about(
          "Server processes that it started",
          list(record({ server: text, pid: either(number, nothing), since: time, users: number, private: yesOrNo })),
        ),
        page: about("Whether the page of `claudikins ui` is open: the daemon does not end meanwhile", yesOrNo),
        "memoryBytes?": about("The memory of its process, without the processes of servers", number),
      }),
    ),
    silent: about(
      "Daemons that run and do not answer",
      list(record({ "pid?": number, "config?": either(text, nothing), log: text })),
    ),
  }),
  async run(args, io) {
    const found = await saying(io.stderr, "Contacting the daemons", findDaemons(io.env));
    const { peers, silent } = args.config === undefined ? found : ofConfig(found, args.config, io);
    const daemons = peers.map(({ status }) => status);
    const json = { daemons, silent: silent.map(({ holder, place }) => ({ ...holder, log: place.log })) };
    const note = silent.map((each) => errorText(silentError(each), io.stderr)).join("\n");
    return listAnswer(
      io,
      { json, rows: daemons, none: note || "No daemon is running. A daemon starts when a tool is called.\n", note },
      [
        ["process", ({ pid }) => String(pid)],
        ["version", ({ version }) => version],
        ["since", ({ startedAt }) => ageText(Date.now() - startedAt)],
        ["memory", ({ memoryBytes }) => (memoryBytes === undefined ? "-" : aboutMegabytes(memoryBytes))],
        ["calls", ({ calls, page }) => `${calls.done} done, ${calls.running} running${page ? ", page open" : ""}`],
        [{ text: "servers" }, serversText],
        [{ path: "config" }, ({ config }) => config ?? "the demo"],
      ],
    );
  },
});

function silentError({ holder, place }: SilentDaemon): ClaudikinsError {
  const of = holder ? `of ${holder.config ?? "the demo"} (process ${holder.pid})` : `that listens at ${place.socket}`;
  return new ClaudikinsError(
    "SERVER_UNAVAILABLE",
    `The daemon ${of} runs, but does not answer: it was paused, or hangs`,
    {
      hint: holder
        ? `Let a paused process continue: kill -CONT ${holder.pid}. To end it by force: claudikins daemon stop --now${configFlag(holder)}`
        : `Read its last log lines: ${place.log}`,
    },
  );
}

function configFlag({ config }: Holder): string {
  return config === null ? " --all" : ` --config ${shellWord(config)}`;
}

/** The processes of a program's server, and the state of any other server. */
function serversText({ servers, held }: Pick<Status, "servers" | "held">): string {
  const processes = held.map((each) => `${each.server} (process ${each.pid}${each.private ? ", private" : ""})`);
  const names = new Set(held.map(({ server }) => server));
  const others = Object.entries(servers)
    .filter(([name, state]) => !names.has(name) && state !== "not started")
    .map(([name, state]) => `${name}: ${state}`);
  return [...processes, ...others].join(", ") || "none started";
}

export const stop = command({
  description: "Stop the daemon of this config and its servers, once running calls have finished.",
  args: {
    all: flag("Stop the daemons of all configs"),
    now: flag("Cancel running calls instead of waiting for them, and end a daemon that does not answer by force"),
    config: configArgs.config,
  },
  examples: ["claudikins daemon stop", "claudikins daemon stop --all --now"],
  json: record({ stopped: list(record({ pid: number, config: either(text, nothing) })) }),
  async run(args, io) {
    if (args.all && args.config !== undefined) throw new ClaudikinsError("USAGE", "Use --config or --all, not both");
    const found = await saying(io.stderr, "Contacting the daemons", findDaemons(io.env));
    // A daemon whose config was removed ends by itself, perhaps just before this command.
    const isGone = args.config !== undefined && !existsSync(resolve(io.cwd, args.config));
    const { peers, silent } = args.all ? found : ofConfig(found, args.config, io, isGone);
    const ended = (peer: Peer) => endOf(peer, { now: args.now === true, isQuiet: args.json === true }, io);
    const killed = async (each: SilentDaemon) => {
      const ended = args.now ? await endSilent(each, io.interrupted) : undefined;
      if (!ended) throw silentError(each);
      return ended;
    };
    const stopped = await Promise.all([...peers.map(ended), ...silent.map(killed)]);
    const lines = stopped.map(({ pid, config }) => `Stopped daemon ${pid} of ${config ?? "the demo"}\n`);
    const none = isGone
      ? `No daemon of ${args.config} was running, and there is no such file`
      : "No daemon was running";
    return { json: { stopped }, text: lines.join("") || `${none}\n` };
  },
});

/** Resolves when the process is gone, or when the user does not want to wait any longer. */
async function endOf({ place, status }: Peer, { now, isQuiet }: { now: boolean; isQuiet: boolean }, io: Io) {
  const { pid, config } = status;
  const calls = await askToStop(place.socket, now);
  if (calls && !now && !isQuiet) {
    await io.stderr.write(`Waiting for ${counted(calls, "call")} to finish (--now cancels them)\n`);
  }
  await hasEnded(pid, io.interrupted);
  return { pid, config };
}

export const logs = command({
  description: "Show the log of this config's daemon: when it started and stopped, and which servers it started.",
  args: {
    ...logArgs,
    path: flag("Print the path of the log"),
    config: configArgs.config,
    json: flag("Print one JSON document and nothing else; with --follow, one per line"),
  },
  examples: ["claudikins daemon logs", "claudikins daemon logs --follow"],
  json: either(
    record({ path: text, lines: texts }),
    about("With --path", record({ path: text })),
    about("With --follow: one line of the log", text),
  ),
  async run(args, io) {
    const most = args.lines ?? defaultLines;
    const origin = discoverConfig({ flag: args.config, cwd: io.cwd, env: io.env });
    const path = placeOf(origin.kind === "demo" ? undefined : origin.file, io.env).log;
    if (args.path) return { json: { path }, text: `${path}\n` };
    const linesOf = (text: string) => text.split("\n").filter(Boolean);
    if (args.follow) {
      const shown = (lines: string[]) => lines.map((line) => `${args.json ? JSON.stringify(line) : line}\n`).join("");
      const first = (text: string) => shown(linesOf(text).slice(-most));
      return followLog(path, { first, next: (text) => shown(linesOf(text)) }, io);
    }
    const lines = linesOf(readIfThere(path) ?? "").slice(-most);
    const note = lines.length === 0 ? "The log is empty: the daemon starts when a tool is called.\n" : "";
    return { json: { path, lines }, text: lines.map((line) => `${line}\n`).join(""), note };
  },
});

interface FoundDaemons {
  peers: Peer[];
  silent: SilentDaemon[];
}

/**
 * The daemons of one config, which may outlive its file. Callers with different values of its variables have different daemons. Throws
 * CONFIG_NOT_FOUND, unless `mayBeGone`.
 */
function ofConfig(
  { peers, silent }: FoundDaemons,
  flag: string | undefined,
  { cwd, env }: Io,
  mayBeGone = false,
): FoundDaemons {
  const named = flag === undefined ? undefined : resolve(cwd, flag);
  const configs = [...peers.map(({ status }) => status.config), ...silent.map(({ holder }) => holder?.config)];
  const isServed = named !== undefined && (mayBeGone || configs.includes(named));
  const origin = isServed ? ({ kind: "project", file: named } as const) : discoverConfig({ flag, cwd, env });
  const file = origin.kind === "demo" ? null : realOf(origin.file);
  const isOfFile = (config: string | null) => (config === null ? null : realOf(config)) === file;
  return {
    peers: peers.filter(({ status }) => isOfFile(status.config)),
    silent: silent.filter(({ holder }) => holder !== undefined && isOfFile(holder.config)),
  };
}

export const restart = command({
  description:
    "Restart a server in the daemon of this config: end its processes, and start it again. A call that runs fails. A server that does not run is started, and so is the daemon.",
  args: {
    server: place("Server to restart", { required: true, complete: "server" }),
    ...configArgs,
  },
  examples: ["claudikins daemon restart demo"],
  json: record({ server: text, ended: about("Processes that were ended", number), tools: number }),
  async run(args, io) {
    if (!usesDaemon({}, io.env)) {
      throw new ClaudikinsError("USAGE", "There can be no daemon here, so no server stays running", {
        hint: "Check that CLAUDIKINS_DAEMON is not off, and that HOME is set.",
      });
    }
    const { server } = args;
    const { client, caller } = await daemonOf(args, io);
    const asked = client.post("/restart", { server, ...caller }, io.interrupted);
    const { ended, tools } = (await saying(io.stderr, `Restarting ${server}`, asked)) as {
      ended: number;
      tools: number;
    };
    const words = ended === 0 ? "Started" : "Restarted";
    return { json: { server, ended, tools }, text: `${words} ${server}: ${counted(tools, "tool")}\n` };
  },
});
