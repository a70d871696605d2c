/** `claudikins uninstall`: gives agents their own settings back, ends the daemons, and removes what claudikins keeps for the user. */
import { existsSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { counted, grouped } from "../../base/counted.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { about, list, number, record, text, yesOrNo } from "../../base/json-shape.ts";
import { shellWord } from "../../base/shell-word.ts";
import { kilobyte, megabyte } from "../../base/units.ts";
import { credentialsFile, secretsFile, storeFile, userConfigFile, userDataFolder } from "../../config/locations.ts";
import { isWithin, rememberedFolders } from "../../config/trust/written-folders.ts";
import { askToStop, findDaemons, hasEnded } from "../../daemon/peers.ts";
import { placeOf } from "../../daemon/place.ts";
import { restore } from "../../setup/agents/restore.ts";
import { allAgentFiles, removeSkills } from "../../setup/agents/skill-files.ts";
import { removeInstalled } from "../../setup/upgrade/lasting.ts";
import { openStore } from "../../store/open.ts";
import { command, flag } from "../command.ts";
import type { Io } from "../io.ts";
import { requireConsent } from "../terminal/prompt.ts";
import { restoreFailure } from "./restore.ts";

interface Removable {
  path: string;
  bytes: number;
  what: string;
}

export default command({
  description:
    "Remove claudikins: give your agents their original settings back, stop the daemons, and remove its folders. Each folder is named with its size before you are asked. The last line says how to remove the program itself. Projects keep their claudikins.json and .claudikins.",
  args: {
    yes: flag("Do it without asking", { short: "y" }),
    "keep-config": flag("Keep your own claudikins.json"),
    "dry-run": flag("Show what would be removed, and do nothing"),
  },
  examples: ["claudikins uninstall", "claudikins uninstall --dry-run", "claudikins uninstall --keep-config --yes"],
  json: record({
    agents: about("The agents' files that are restored", list(record({ host: text, file: text }))),
    skills: about("The files of the skill that are removed", list(text)),
    daemons: about("The daemons that are stopped", number),
    waiting: about("Programs that wait and are lost", number),
    folders: list(record({ path: text, bytes: number, what: text })),
    kept: about("Folders of projects, which stay", list(text)),
    done: yesOrNo,
  }),
  async run(args, io) {
    const { env } = io;
    const surroundings = { env, platform: process.platform, cwd: io.cwd };
    const undo = (dryRun: boolean) =>
      restore({ agents: [], force: false, serversOnly: false, dryRun, signal: io.interrupted, surroundings });
    const planned = await undo(true);
    // The originals of these files are in the data folder.
    const failure = restoreFailure(planned);
    if (failure) throw failure;
    const { peers, silent } = await findDaemons(env);
    const [hanging] = silent;
    if (hanging) {
      throw new ClaudikinsError("SERVER_UNAVAILABLE", "A daemon runs and does not answer, so nothing was removed", {
        hint: "To end it by force: claudikins daemon stop --all --now",
      });
    }
    const skillFiles = allAgentFiles(surroundings).filter(({ scope }) => scope === "user");
    const skills = removeSkills(skillFiles, { force: false, dryRun: true }).filter(
      ({ result }) => result === "removed",
    );
    const folders = foldersOf(env, args["keep-config"] === true);
    const kept = rememberedFolders(env).filter((path) => existsSync(path) && !isWithin(path, userDataFolder(env)));
    const waiting = await waitingPrograms(env);
    const plan = {
      agents: planned.filter(({ result }) => result !== "as it was").map(({ host, file }) => ({ host, file })),
      skills: skills.map(({ path }) => path),
      daemons: peers.length,
      waiting,
      folders,
      kept,
    };
    const shown = planText(plan, env);
    if (args["dry-run"]) return { json: { ...plan, done: false }, text: shown };
    await requireConsent(io, args.yes, {
      question: "Remove all of this? It cannot be restored.",
      shown,
      needed: "claudikins is removed only with your consent",
      hint: "Run the command at a terminal, or add --yes. To see what it does: --dry-run",
      refused: "Nothing was removed",
    });
    const restored = restoreFailure(await undo(false));
    if (restored) throw restored;
    removeSkills(skillFiles, { force: false, dryRun: false });
    await Promise.all(peers.map((peer) => end(peer, io)));
    const executable = removeInstalled(env) ?? (Bun.isStandaloneExecutable ? process.execPath : undefined);
    for (const { path } of folders) rmSync(path, { recursive: true, force: true });
    const last =
      executable && existsSync(executable) ? `To remove the program itself: ${programRemoval(executable)}\n` : "";
    return { json: { ...plan, done: true }, text: args.yes ? `${shown}Removed.\n` : "Removed.\n", note: last };
  },
});

async function end({ place, status }: Awaited<ReturnType<typeof findDaemons>>["peers"][number], io: Io): Promise<void> {
  await askToStop(place.socket, true);
  await hasEnded(status.pid, io.interrupted);
}

function foldersOf(env: Io["env"], keepsConfig: boolean): Removable[] {
  const config = dirname(userConfigFile(env));
  const all: Omit<Removable, "bytes">[] = [
    {
      path: userDataFolder(env),
      what: "registry, workspaces, saved programs, records, the audit log, sign-ins, tokens and kept executables",
    },
    ...(keepsConfig ? [] : [{ path: config, what: "your own claudikins.json" }]),
    { path: dirname(placeOf(undefined, env).lock), what: "the daemons' sockets and logs" },
  ];
  return all.flatMap((each) => (existsSync(each.path) ? [{ ...each, bytes: sizeOf(each.path) }] : []));
}

/** In bytes, without what links lead to. */
function sizeOf(path: string): number {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found?.size ?? 0;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

function sizeText(bytes: number): string {
  const [unit, name] = bytes < megabyte ? [kilobyte, "kB"] : [megabyte, "MB"];
  return `${grouped(Math.ceil(bytes / unit))} ${name}`;
}

async function waitingPrograms(env: Io["env"]): Promise<number> {
  if (!existsSync(storeFile(env))) return 0;
  await using store = openStore(env);
  return (await store.executions.waiting()).reduce((sum, { count }) => sum + count, 0);
}

interface Plan {
  agents: { host: string; file: string }[];
  skills: string[];
  daemons: number;
  waiting: number;
  folders: Removable[];
  kept: string[];
}

function planText({ agents, skills, daemons, waiting, folders, kept }: Plan, env: Io["env"]): string {
  const lines = [
    ...agents.map(({ host, file }) => `Restore ${host}: ${file}`),
    ...skills.map((path) => `Remove the skill: ${path}`),
    ...(daemons === 0 ? [] : [`Stop ${counted(daemons, "daemon")}, and cancel running calls`]),
    ...(waiting === 0 ? [] : [`Lose ${counted(waiting, "waiting program")}, see claudikins executions`]),
    ...folders.map(({ path, bytes, what }) => `Remove ${path} (${sizeText(bytes)}): ${what}`),
    ...(existsSync(credentialsFile(env))
      ? ["Sign-ins are not revoked. To do that before: claudikins auth logout --all"]
      : []),
    ...(existsSync(secretsFile(env))
      ? ["Secrets in the keychain stay. To remove them before: claudikins secrets"]
      : []),
    ...kept.map((path) => `Keep ${path}, which belongs to a project`),
  ];
  return lines.length === 0 ? "There is nothing to remove.\n" : `${lines.join("\n")}\n`;
}

function programRemoval(executable: string): string {
  return /[\\/]node_modules[\\/]/.test(executable)
    ? "npm uninstall --global claudikins"
    : `rm ${shellWord(executable)}`;
}
