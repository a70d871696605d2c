/** Explains to a model which servers and tools cannot be used now, why, and what its user must do. */
import { dirname, sep } from "node:path";
import { counted } from "../../base/counted.ts";
import { shellWord } from "../../base/shell-word.ts";
import { oneLine } from "../../base/visible-text.ts";
import type { Fault } from "../../servers/failures/fault.ts";
import type { CatalogParts } from "../catalog/tool-catalog.ts";
import { maxHintedNames, maxShownNameChars } from "../limits.ts";
import { type RegistryServer, toolId } from "../model.ts";

/** Causes why servers are down that are explained. */
const maxDownCauses = 10;

/** Servers that are named for one of them. */
const maxDownServers = 20;

export interface DownServer extends Fault {
  server: string;
}

/** The servers that are known to be down, in the order of the config. Starts nothing. */
export function downServers({ pool, catalog }: CatalogParts): DownServer[] {
  return catalog.openServers().flatMap((server) => {
    const fault = pool.fault(server);
    return fault ? [{ server, ...fault }] : [];
  });
}

/** Says which servers are down, why, and what the user must do. Servers with a common cause are explained together. */
export function downText(down: readonly DownServer[]): string {
  const causes = causesOf(down.filter(({ lasting }) => lasting));
  const passing = causesOf(down.filter(({ lasting, isPast }) => !lasting && !isPast));
  const past = causesOf(down.filter(({ isPast }) => isPast));
  return [
    ...lastingLines(causes),
    ...passing.slice(0, maxDownCauses).map((each) => `Down: ${tryAgain(each)}`),
    ...past.slice(0, maxDownCauses).map((each) => `Down last time: ${tryAgain(each)}`),
  ].join("\n");
}

function lastingLines(causes: readonly Cause[]): string[] {
  const [first, second] = causes;
  if (!first) return [];
  if (!second) return [`Down: ${subject(first)} ${noRetry} ${first.remedy}`];
  const lines = causes.slice(0, maxDownCauses).map((each) => `- ${subject(each)} ${each.remedy}`);
  if (causes.length > maxDownCauses) lines.push(`- ${causes.length - maxDownCauses} more: run claudikins doctor`);
  return [`Down: ${namesText(causes.flatMap(({ servers }) => servers))}. ${noRetry}`, ...lines];
}

const noRetry = "Retrying will not help. Tell the user:";

const tryAgain = (cause: Cause) => `${subject(cause)} A call tries again. If it fails, tell the user: ${cause.remedy}`;

/** Why some servers are down. */
interface Cause {
  servers: string[];
  why: string;
  remedy: string;
}

function causesOf(down: readonly DownServer[]): Cause[] {
  const files = down.filter(({ missing }) => missing !== undefined);
  const folder = commonFolder(files.map(({ missing }) => missing!));
  const isTogether = files.length > 1 && folder !== undefined;
  const common: Cause = {
    servers: files.map(({ server }) => server),
    why: `their files do not exist, all of them under ${folder}`,
    remedy: "Install them there, or correct their paths in the config.",
  };
  const apart = isTogether ? down.filter(({ missing }) => missing === undefined) : down;
  const alike = Map.groupBy(apart, ({ why, remedy }) => `${why}\n${remedy}`);
  const causes = [...alike.values()].map(([first, ...more]): Cause => {
    const { server, why, remedy } = first!;
    return { servers: [server, ...more.map((each) => each.server)], why, remedy };
  });
  return isTogether ? [common, ...causes] : causes;
}

/** `git needs TOKEN.`, `git, time: their files do not exist.` */
function subject({ servers, why }: Cause): string {
  return `${namesText(servers)}${servers.length > 1 ? ":" : ""} ${why}${/[.!?]"?$/.test(why) ? "" : "."}`;
}

function namesText(servers: readonly string[]): string {
  const more = servers.length > maxDownServers ? ` and ${servers.length - maxDownServers} more` : "";
  return `${servers.slice(0, maxDownServers).join(", ")}${more}`;
}

/** The folder that all paths are in. Undefined if it is a root, which says nothing. */
function commonFolder(paths: readonly string[]): string | undefined {
  const [first = [], ...others] = paths.map((path) => dirname(path).split(sep));
  const end = first.findIndex((part, at) => others.some((other) => other[at] !== part));
  const common = end === -1 ? first : first.slice(0, end);
  return common.length > 1 ? common.join(sep) : undefined;
}

/** One line for each server that has held tools. It says what the user can do. */
export function heldLines(servers: readonly RegistryServer[]): string[] {
  return servers.flatMap(({ name, held }) => {
    if (!held) return [];
    const ids = held.tools.map((tool) => oneLine(toolId(name, tool.name), maxShownNameChars));
    const more = ids.length > maxHintedNames ? ` and ${ids.length - maxHintedNames} more` : "";
    const shown = ids.slice(0, maxHintedNames).join(", ");
    return [
      `Held: ${counted(ids.length, "tool")} whose definitions changed after they were accepted (${shown}${more}). The user can see how: claudikins review ${shellWord(name)}`,
    ];
  });
}
