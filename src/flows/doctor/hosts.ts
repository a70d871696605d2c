/** doctor: the hosts of this machine, whether claudikins is in them, and what it is that they start. */
import { existsSync, readFileSync } from "node:fs";
import { delimiter, isAbsolute } from "node:path";
import { selfCommand } from "../../config/self.ts";
import { parseFile } from "../../hosts/edit/editor.ts";
import { hashOf } from "../../hosts/file-text.ts";
import { hosts } from "../../hosts/hosts.ts";
import { type Host, isRaw, type Raw, textsIn, valueAt } from "../../hosts/model.ts";
import { ownName } from "../../hosts/own.ts";
import { version } from "../../version.ts";
import { type FoundFile, findServers } from "../hosts/find.ts";
import { type Change, Journal } from "../hosts/journal.ts";
import { ownProgram } from "./executable.ts";
import { type Check, counted, type Finding, findingsOf, type Scene } from "./finding.ts";
import { isProgram, programsOnPath, realOf, versionOf } from "./programs.ts";

const { ok, warning, problem, failure } = findingsOf("hosts");

export const hostsCheck: Check = {
  area: "hosts",
  async run(scene) {
    const found = await Promise.all(hosts.map((host) => hostFindings(host, scene)));
    const all = found.flat();
    const none = all.some(({ id }) => id.startsWith("host."))
      ? []
      : [
          warning(
            "hosts.none",
            "No agent with settings for MCP servers was found on this machine",
            "claudikins init --host claude-code --apply",
          ),
        ];
    return [...all, ...none, ...journalFindings(scene)];
  },
};

async function hostFindings(host: Host, scene: Scene): Promise<Finding[]> {
  const { files, problems } = await findServers([host], { ...scene, project: true });
  const unreadable = problems.map(({ file, error }) => ({
    ...failure(`host.${host.name}.file`, error),
    message: `${host.title}: ${error.message.split("\n")[0]}`,
    repair: `Correct ${file} by hand.`,
  }));
  if (files.length === 0) return unreadable;
  const wired = files.filter(({ own }) => own.length > 0);
  const entries = await Promise.all(wired.flatMap((file) => ownEntries(file, scene)));
  return [
    ...unreadable,
    ...(wired.length === 0 ? [absent(host, files)] : entries),
    ...serversBeside(host, files, wired),
  ];
}

function absent(host: Host, files: FoundFile[]): Finding {
  const id = `host.${host.name}`;
  const init = `claudikins init --host ${host.name} --apply`;
  const names = serversOf(files);
  if (names.length === 0)
    return ok(id, `${host.title} has no MCP servers, and claudikins is not in it`, { repair: init });
  const only = files.every(({ file, servers }) => file.scope === "project" || servers.length === 0);
  const text = `${host.title} does not have claudikins, but ${counted(names.length, "server")} of its own: ${names.join(", ")}`;
  return warning(id, text, only ? `${init} --project` : init);
}

function serversBeside(host: Host, files: FoundFile[], wired: FoundFile[]): Finding[] {
  const names = serversOf(files);
  if (wired.length === 0 || names.length === 0) return [];
  const inProject = files.some(({ file, servers }) => file.scope === "project" && servers.length > 0);
  const text = `${host.title} loads ${counted(names.length, "server")} beside claudikins: ${names.join(", ")}`;
  return [
    warning(
      `host.${host.name}.servers`,
      text,
      `claudikins init --host ${host.name} --apply${inProject ? " --project" : ""}`,
    ),
  ];
}

function serversOf(files: FoundFile[]): string[] {
  const all = files.flatMap(({ servers }) => servers).filter(({ entry }) => entry["disabled"] !== true);
  return [...new Set(all.map(({ name }) => name))];
}

function ownEntries(found: FoundFile, scene: Scene): Promise<Finding>[] {
  const document = parseFile(found.content.text, found.file);
  return found.own.map(({ section, name }) => {
    const raw = valueAt(document, [...section, name]);
    return entryFinding(found, isRaw(raw) ? raw : {}, scene);
  });
}

async function entryFinding({ host, file }: FoundFile, raw: Raw, scene: Scene): Promise<Finding> {
  const id = `host.${host.name}`;
  const words = wordsOf(raw);
  const [program = ""] = words;
  const shown = `${host.title} (${file.path})`;
  if (raw["disabled"] === true || raw["enabled"] === false) {
    return warning(id, `${shown} has claudikins, but switched off`, `Switch it on in ${file.path}.`);
  }
  const paths = pathsIn(words, scene);
  const gone = paths.find((path) => !existsSync(path));
  const repair = `Let it start ${selfCommand("serve").join(" ")} in ${file.path}.`;
  if (gone !== undefined) return problem(id, `${shown} starts what is not there: ${gone}`, "FILE_NOT_FOUND", repair);
  if (paths.length === 0) {
    return problem(id, `${shown} starts ${program}, which is not on the PATH`, "FILE_NOT_FOUND", repair);
  }
  const config = words[words.indexOf("--config") + 1];
  if (words.includes("--config") && config !== undefined && isAbsolute(config) && !existsSync(config)) {
    return problem(id, `${shown} names a config file that is not there: ${config}`, "CONFIG_NOT_FOUND", repair);
  }
  if (paths.some((path) => realOf(path) === realOf(ownProgram))) return ok(id, `${shown} starts this claudikins`);
  const [path = ""] = paths;
  const other = isProgram(path) ? await versionOf(path, scene.env, scene.signal) : undefined;
  if (other === version) return ok(id, `${shown} starts claudikins ${version}: ${path}`);
  return warning(id, `${shown} starts another claudikins, ${other ?? "of no known version"}: ${path}`, repair);
}

/** `command` is a text, a list with the arguments in it, or an object. */
function wordsOf({ command, args }: Raw): string[] {
  if (isRaw(command)) return [String(command["path"]), ...textsIn(command["args"])];
  return Array.isArray(command) ? textsIn(command) : [String(command), ...textsIn(args)];
}

/** What is started: a program by its path or by its name, or what a runner's first argument names. */
function pathsIn(words: string[], { env }: Scene): string[] {
  const [program = "", first = ""] = words;
  const started = isAbsolute(program) ? [program] : programsOnPath(program, env).slice(0, 1);
  const isSource = isAbsolute(first) && !first.includes(delimiter);
  return [...(isSource ? [first] : []), ...started];
}

function journalFindings({ env }: Scene): Finding[] {
  let changes: Change[];
  try {
    changes = new Journal(env).changes;
  } catch (thrown) {
    return [failure("hosts.journal", thrown)];
  }
  if (changes.length === 0) return [];
  const left = changes.filter(({ path, before }) => hashAt(path) === before);
  if (left.length > 0) {
    const [{ host = ownName, file = "" } = {}] = left;
    const text = `claudikins init has noted a change that is not there: it was ended, or somebody undid it by hand: ${file}`;
    return [warning("hosts.journal", text, `claudikins restore --host ${host}`)];
  }
  const files = counted(new Set(changes.map(({ path }) => path)).size, "file");
  return [
    ok("hosts.journal", `${files} of hosts as they were before init are kept: claudikins restore puts them back`),
  ];
}

function hashAt(path: string): string | undefined {
  try {
    return hashOf(readFileSync(path));
  } catch {
    return undefined;
  }
}
