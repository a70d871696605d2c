/** `claudikins upgrade`: replaces this executable with another version, or prints the command that does. */
import { counted } from "../../base/counted.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { about, either, list, nothing, number, oneOf, record, text, yesOrNo } from "../../base/json-shape.ts";
import { buildMark, formatOf } from "../../base/program-format.ts";
import { repository, version } from "../../base/version.ts";
import type { Peer } from "../../daemon/peers.ts";
import { managedText, ownInstallation } from "../../setup/upgrade/installation.ts";
import { askForNews } from "../../setup/upgrade/news.ts";
import { cleanUp, runningServes, upgrade } from "../../setup/upgrade/upgrade.ts";
import { isVersion } from "../../setup/upgrade/versions.ts";
import type { WaitingPrograms } from "../../store/executions.ts";
import { type CommandAnswer, command, flag, option } from "../command.ts";
import type { Io } from "../io.ts";
import { saying } from "../terminal/progress.ts";

export default command({
  description:
    "Replace this executable with the newest release, if it was installed by install.sh or from an archive. The new one is tried out first. If it " +
    "does not work, the old one stays. If npm, bun, pnpm or yarn have installed it, or if it was built in a checkout, print the command that upgrades it.",
  args: {
    check: flag("Only say whether there is a newer version"),
    to: option("Install this version, which may be older", { valueHint: "version", parse: wantedVersion }),
  },
  examples: ["claudikins upgrade", "claudikins upgrade --check", "claudikins upgrade --to 0.1.0"],
  json: record({
    from: about("The version of this executable", text),
    to: about("The newest version, or that of --to", text),
    available: about("Whether to is another version than from, and was asked for or is newer", yesOrNo),
    upgraded: yesOrNo,
    installed: about(
      "How this executable was installed",
      oneOf("script", "package", "project", "cache", "bundle", "checkout"),
    ),
    path: about("This executable", text),
    "command?": about("What to run, where claudikins cannot replace itself", text),
    "agents?": about(
      "Processes of agents that use the old version until they are restarted; null if unknown",
      either(number, nothing),
    ),
    "daemons?": about("Daemons of the old version that were asked to end", number),
    "waiting?": about("Programs that wait", number),
    "kept?": about(
      "The old executable, which is kept to continue programs; null if it is not needed",
      either(text, nothing),
    ),
    "notes?": list(text),
  }),
  async run(args, io) {
    const installation = ownInstallation();
    if (installation.kind === "script") await cleanUp(installation.path, io.env);
    const asking = askForNews(args.to, { env: io.env, signal: io.interrupted });
    const { order, command: how, ...news } = await saying(io.stderr, "Looking for releases", asking);
    const { to, available } = news;
    const about = { ...news, upgraded: false };
    if (!available) return upToDate(about, order);
    if (args.check) {
      const next = how ?? `claudikins upgrade${args.to === undefined ? "" : ` --to ${to}`}`;
      const found = order > 0 ? "There is a newer version" : "There is an older version";
      return {
        json: { ...about, command: how },
        text: `${found}: ${to} (this is ${version})\n`,
        note: `To install it: ${next}\n`,
      };
    }
    if (installation.kind !== "script") {
      const why = managedText(installation);
      return { json: { ...about, command: how }, text: `${why}\n`, note: `To get claudikins ${to}: ${how}\n` };
    }
    return replace(about, io);
  },
});

function wantedVersion(given: string, name: string): string {
  const wanted = given.replace(/^v/, "");
  if (isVersion(wanted)) return wanted;
  throw new ClaudikinsError("USAGE", `${name} takes a version such as ${version}`);
}

interface About {
  to: string;
  path: string;
}

function upToDate(about: About, order: number): CommandAnswer {
  const text =
    order === 0
      ? `claudikins ${version} is already installed.\n`
      : `This is claudikins ${version}, which is newer than the newest release, ${about.to}.\n`;
  const note = order === 0 ? undefined : `To go back to it: claudikins upgrade --to ${about.to}\n`;
  return { json: about, text, ...(note === undefined ? {} : { note }) };
}

async function replace(about: About, io: Io): Promise<CommandAnswer> {
  const { to, path } = about;
  const { env, interrupted: signal, stderr } = io;
  const agents = await runningServes(path, env, signal);
  const onStep = (step: string) => void (stderr.isTerminal && stderr.write(`${step}\n`));
  const { findPeers } = await import("../../daemon/peers.ts");
  const peers = await findPeers(env);
  const { kept } = await upgrade({ path, to, env, signal, onStep });
  const daemons = peers.length;
  const waiting = await handOver(peers, io);
  const own = waiting.filter((each) => each.engine !== null && formatOf(each.engine) === formatOf(buildMark));
  const count = own.reduce((sum, each) => sum + each.count, 0);
  const notes = [
    ...(agents
      ? [
          `${counted(agents, "agent")} still ${agents === 1 ? "uses" : "use"} ${version}: restart ${agents === 1 ? "it" : "them"} to use ${to}.`,
        ]
      : []),
    ...(agents === undefined ? [`Agents that run use ${version} until they are restarted.`] : []),
    ...(daemons > 0
      ? [
          `${counted(daemons, "daemon")} of ${version} ${daemons === 1 ? "ends" : "end"} when ${daemons === 1 ? "its" : "their"} calls are done.`,
        ]
      : []),
    ...(count > 0
      ? [
          `${counted(count, "program")} ${count === 1 ? "waits" : "wait"}, and ${count === 1 ? "is" : "are"} continued by ${kept === undefined ? to : version}${kept === undefined ? "" : ", which is kept for that"}.`,
        ]
      : []),
  ];
  return {
    json: { ...about, upgraded: true, agents: agents ?? null, daemons, waiting: count, kept: kept ?? null, notes },
    text: `Upgraded claudikins from ${version} to ${to}: ${path}\n`,
    note: [...notes, `What is new: ${repository}/releases/tag/v${to}`].map((line) => `${line}\n`).join(""),
  };
}

/**
 * Asks the daemons to end, and starts new ones for programs that wait, which it returns. The new executable is in its place already; a
 * daemon that has seen that is ending by itself.
 */
async function handOver(peers: readonly Peer[], { env }: Io): Promise<WaitingPrograms[]> {
  const [{ askToStop }, { usesDaemon }] = await Promise.all([
    import("../../daemon/peers.ts"),
    import("../flags/config-flags.ts"),
  ]);
  // One whose page is open leaves its place by itself, and keeps the page.
  const others = peers.filter(({ status }) => !status.page);
  await Promise.all(others.map(({ place }) => askToStop(place.socket, false)));
  const waiting = await waitingPrograms(env);
  if (usesDaemon({}, env)) {
    const { DaemonClient } = await import("../../daemon/client.ts");
    const configs = new Set(waiting.filter(({ isWanted }) => isWanted).map(({ config }) => config));
    for (const config of configs) {
      // The next command does the same, if a daemon cannot be started now.
      try {
        await new DaemonClient(config ?? undefined, env).post("/adopt", { executions: [] });
      } catch {}
    }
  }
  return waiting;
}

async function waitingPrograms(env: Io["env"]): Promise<WaitingPrograms[]> {
  const { openStore } = await import("../../store/open.ts");
  await using store = openStore(env);
  return await store.executions.waiting();
}
