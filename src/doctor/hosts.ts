/** Doctor check of the agents: whether they have claudikins, and whether their files changed since `init`. */
import { readFileSync } from "node:fs";
import { type FoundFile, findServers } from "../agents/find-servers.ts";
import { type Change, Journal } from "../agents/journal.ts";
import { claudikinsName } from "../agents/supported/claudikins-entry.ts";
import { hosts } from "../agents/supported/hosts.ts";
import type { Host } from "../agents/supported/model.ts";
import { hashOf } from "../settings/file-text.ts";
import { type Check, counted, type Finding, findingsOf, type Scene } from "./finding.ts";
import { entryFindings } from "./host-entry.ts";

const { ok, warning, failure } = findingsOf("hosts");

interface Looked {
  host: Host;
  /** Whether the agent has settings files. */
  isHere: boolean;
  isWired: boolean;
  findings: Finding[];
}

export const hostsCheck: Check = {
  area: "hosts",
  async run(scene) {
    const looked = await Promise.all(hosts.map((host) => look(host, scene)));
    const findings = looked.flatMap((each) => each.findings);
    return [...findings, ...noneWired(looked), ...journalFindings(scene)];
  },
};

async function look(host: Host, scene: Scene): Promise<Looked> {
  const { files, problems } = await findServers([host], { ...scene, project: true });
  const unreadable = problems.map(({ file, error }) => ({
    ...failure(`host.${host.name}.file`, error),
    message: `${host.title}: ${error.message.split("\n")[0]}`,
    repair: `Fix ${file} by hand.`,
  }));
  const wired = files.filter(({ own }) => own.length > 0);
  const entries = await Promise.all(wired.flatMap((file) => entryFindings(file, scene)));
  return {
    host,
    isHere: files.length > 0,
    isWired: wired.length > 0,
    findings: [...unreadable, ...entries, ...ownServers(host, files, wired.length > 0)],
  };
}

/** Reports servers that `init` would import. */
function ownServers(host: Host, files: FoundFile[], isWired: boolean): Finding[] {
  const having = files.filter((file) => serversOf(file).length > 0);
  const names = [...new Set(having.flatMap(serversOf))];
  if (names.length === 0) {
    const isAbsent = files.length > 0 && !isWired;
    return isAbsent ? [ok(`host.${host.name}`, `${host.title} has neither claudikins nor other MCP servers`)] : [];
  }
  const project = having.some(({ file }) => file.scope === "project") ? " --project" : "";
  const init = `claudikins init --host ${host.name} --apply${project}`;
  const servers = `${counted(names.length, "server")}`;
  return isWired
    ? [
        warning(
          `host.${host.name}.servers`,
          `${host.title} loads ${servers} in addition to claudikins: ${names.join(", ")}`,
          init,
        ),
      ]
    : [
        warning(
          `host.${host.name}`,
          `${host.title} does not use claudikins, but has ${servers} of its own: ${names.join(", ")}`,
          init,
        ),
      ];
}

function serversOf({ servers }: FoundFile): string[] {
  return servers.filter(({ entry }) => entry["disabled"] !== true).map(({ name }) => name);
}

/** Warns if no agent has claudikins, unless another finding says so already. */
function noneWired(looked: Looked[]): Finding[] {
  if (looked.some(({ isWired, findings }) => isWired || findings.some(({ state }) => state !== "ok"))) return [];
  const first = looked.find(({ isHere }) => isHere);
  const text = first
    ? "No agent on this machine uses claudikins"
    : "No agent with MCP settings was found on this machine";
  return [warning("hosts.none", text, `claudikins init --host ${first?.host.name ?? "claude-code"} --apply`)];
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
    const [{ host = claudikinsName, file = "" } = {}] = left;
    const text = `claudikins init recorded a change that is not in the file, because init was interrupted or the change was undone by hand: ${file}`;
    return [warning("hosts.journal", text, `claudikins restore --host ${host}`)];
  }
  const files = counted(new Set(changes.map(({ path }) => path)).size, "file");
  return [
    ok("hosts.journal", `The originals of ${files} that init changed are kept: claudikins restore brings them back`),
  ];
}

function hashAt(path: string): string | undefined {
  try {
    return hashOf(readFileSync(path));
  } catch {
    return undefined;
  }
}
