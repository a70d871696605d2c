/**
 * Doors: named views of a config. Behind a door there are only its servers and its tools; everything else does not exist there. Servers
 * are shared with the other doors, but the workspace, the registry and the records of a door are its own.
 */
import { ClaudikinsError } from "../base/errors.ts";
import { didYouMean } from "../base/near-names.ts";
import type { defaultLimits, modes } from "./defaults.ts";
import type { Environment } from "./environment.ts";
import { matches } from "./pattern.ts";
import {
  commonPatterns,
  confirmLines,
  type LabelLine,
  labelLines,
  type PolicyKeys,
  pathText,
  type ServerPolicy,
  splitToolId,
} from "./policy.ts";
import type { Quotas } from "./quotas.ts";
import { editsIn, mergedEdits, type ServerEdits, sharedName, type WrittenEdit, withEdits } from "./tool-edits.ts";
import type { DoorTools } from "./tools-schema.ts";

/** A door as it is written in the config. */
export interface DoorEntry {
  servers?: string[] | undefined;
  private?: string[] | undefined;
  tools?: DoorTools | undefined;
  mode?: (typeof modes)[number] | undefined;
  workspace?: string | undefined;
  instructions?: string | undefined;
  limits?: { [Name in keyof typeof defaultLimits]?: number | undefined } | undefined;
  quotas?: Quotas | undefined;
}

/** The tools of a server behind the door, as patterns of the server's own names. */
export interface ToolView {
  /** Undefined: all of them. */
  allow: string[] | undefined;
  deny: string[];
}

/** Whether a tool exists in this view of its server. */
export function isInView(view: ToolView | undefined, tool: string): boolean {
  if (!view) return true;
  const isNamed = (patterns: string[]) => patterns.some((pattern) => matches(pattern, tool));
  return (view.allow === undefined || isNamed(view.allow)) && !isNamed(view.deny);
}

interface Viewed {
  name: string;
  policy?: ServerPolicy | undefined;
  edits?: ServerEdits | undefined;
  needs: string[];
}

/** The servers behind the door, in the order of the config. `all` are all servers, whether they are enabled or not. */
export function serversBehind<Server extends Viewed>(
  door: string,
  { servers: chosen, private: own = [], tools = {} }: DoorEntry,
  servers: ReadonlyMap<string, Server>,
  { all, env }: { all: readonly string[]; env: Environment },
): Map<string, Server & { view?: ToolView | undefined; door?: string }> {
  // Allowed tools choose the servers too, unless the door names these.
  const isNamed = (name: string) => tools.allow?.some((each) => commonPatterns(name, each, all).length > 0) ?? true;
  const behind = [...servers].filter(([name]) => chosen?.includes(name) ?? isNamed(name));
  return new Map(
    behind.map(([name, server]) => {
      const at = (key: string) => ({
        line: pathText(["doors", door, "tools", key]),
        of: (pattern: string) => commonPatterns(name, pattern, all),
      });
      const lines = confirmLines(tools.confirm, at("confirm"));
      const view = viewOf(name, tools, all);
      const edits = doorEdits(door, tools, name, all);
      const edited =
        edits.length === 0
          ? server
          : { ...server, ...withEdits(server, mergedEdits(server.edits?.written ?? [], edits), env) };
      const apart = own.includes(name) ? { door } : {};
      const labels = labelLines(tools.labels, at("labels"));
      const policy = withDoorRules(server.policy, lines, labels);
      return [name, { ...edited, ...(view && { view }), ...apart, policy }];
    }),
  );
}

function viewOf(server: string, { allow, deny = [] }: PolicyKeys, all: readonly string[]): ToolView | undefined {
  if (allow === undefined && deny.length === 0) return undefined;
  const ofServer = (patterns: readonly string[]) => patterns.flatMap((each) => commonPatterns(server, each, all));
  return { allow: allow && ofServer(allow), deny: ofServer(deny) };
}

function doorEdits(door: string, { entries }: DoorTools, server: string, servers: readonly string[]): WrittenEdit[] {
  return editsIn(entries, server, { path: ["doors", door, "tools"], servers });
}

function withDoorRules(
  policy: ServerPolicy | undefined,
  lines: ServerPolicy["confirm"],
  labels: readonly LabelLine[],
): ServerPolicy | undefined {
  if (lines.length + labels.length === 0) return policy;
  const before = policy ?? { allow: [], deny: [], confirm: [], own: undefined };
  return { ...before, doorConfirm: lines, addedLabels: [...(before.addedLabels ?? []), ...labels] };
}

/** The entry of a door. Throws DOOR_NOT_FOUND, and CONFIG_INVALID if it names a server that the config does not have. */
export function doorCalled(
  name: string,
  doors: Readonly<Record<string, DoorEntry>> | undefined,
  { file, servers }: { file: string; servers: ReadonlyMap<string, Pick<Viewed, "edits">> },
): DoorEntry {
  const names = Object.keys(doors ?? {});
  const entry = doors && Object.hasOwn(doors, name) ? doors[name] : undefined;
  if (!entry) throw noSuchDoor(name, names, file);
  const problems = problemsOf(name, entry, servers);
  if (problems.length > 0) throw new ClaudikinsError("CONFIG_INVALID", `${file}: ${problems.join("; ")}`);
  return entry;
}

export function noSuchDoor(name: string, names: readonly string[], file: string): ClaudikinsError {
  const known = names.length === 0 ? "To make one: claudikins doors add" : `Its doors: ${names.join(", ")}`;
  return new ClaudikinsError("DOOR_NOT_FOUND", `${file} has no door "${name}"`, {
    hint: didYouMean(name, names) ?? known,
  });
}

/** The problems that the schema cannot find: a door may name servers of the project's config and of the user's own. */
function problemsOf(
  name: string,
  { servers = [], private: own = [], tools = {} }: DoorEntry,
  known: ReadonlyMap<string, Pick<Viewed, "edits">>,
): string[] {
  const all = [...known.keys()];
  const unknown = (server: string, path: (string | number)[]) => {
    if (known.has(server)) return [];
    const near = didYouMean(server, all);
    return [`${pathText(path)}: no server is called "${server}"${near === undefined ? "" : `. ${near}`}`];
  };
  return [
    ...servers.flatMap((server, at) => unknown(server, ["doors", name, "servers", at])),
    ...own.flatMap((server, at) => unknown(server, ["doors", name, "private", at])),
    ...Object.keys(tools.entries ?? {}).flatMap((id) =>
      unknown(splitToolId(id, all).server, ["doors", name, "tools", id]),
    ),
    ...[...known].flatMap(([server, { edits }]) => {
      const ofDoor = doorEdits(name, tools, server, all);
      const shared = ofDoor.length > 0 && sharedName(mergedEdits(edits?.written ?? [], ofDoor));
      return shared ? [`${shared.edit.place}.name: ${shared.problem}, "${shared.edit.entry.name}"`] : [];
    }),
  ];
}
