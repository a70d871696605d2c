/** Says in words what a change of the config means that the audit log has recorded. */
import { isObject, stringsIn } from "../base/json-object.ts";
import type { AuditLine } from "../store/audit/event.ts";

type Change = NonNullable<AuditLine["changes"]>[number];

/** Sentences of one audit entry on the page. A press on the entry shows all changes. */
const maxSentences = 4;

/** Sentences about the changes, such as `stripe.refund always asks`. Values that the log has shortened have only their place. */
export function changeWords(changes: readonly Change[]): string {
  const all = [...new Set(changes.flatMap(sentencesOf))];
  const more = all.length - maxSentences;
  return [...all.slice(0, maxSentences), ...(more > 0 ? [`${more} more`] : [])].join("; ");
}

function sentencesOf(change: Change): string[] {
  const { server, key } = placeOf(change.at);
  if (server !== undefined && key === undefined) return [entrySentence(server, change)];
  const [before, after] = [jsonIn(change.before), jsonIn(change.after)];
  const sentences = key === undefined || before === unread || after === unread ? [] : about(key, server, before, after);
  return sentences.length > 0 ? sentences : [`${change.at} changed`];
}

/** The parts of a text such as `mcpServers["my server"].deny` or `policy.deny`. */
function placeOf(at: string): { server?: string; key?: string } {
  const [, plain, quoted, key] = /^mcpServers(?:\.([\w$]+)|\[("(?:[^"\\]|\\.)*")\])(?:\.(\w+))?$/.exec(at) ?? [];
  const server = plain ?? (quoted === undefined ? undefined : (JSON.parse(quoted) as string));
  if (server !== undefined) return { server, ...(key === undefined ? {} : { key }) };
  const [, common] = /^policy\.(\w+)$/.exec(at) ?? [];
  return common === undefined ? {} : { key: common };
}

/** Stands for a value that was shortened. */
const unread = Symbol("shortened");

function jsonIn(json: string | undefined): unknown {
  if (json === undefined) return undefined;
  try {
    return JSON.parse(json);
  } catch {
    return unread;
  }
}

function entrySentence(server: string, { before, after }: Change): string {
  const what = before === undefined ? "was added" : after === undefined ? "was removed" : "has another entry";
  return `the server ${server} ${what}`;
}

const modes: Record<string, string> = {
  always: "always asks",
  destructive: "asks if destructive",
  never: "never asks",
};

function about(key: string, server: string | undefined, before: unknown, after: unknown): string[] {
  const named = (pattern: string) =>
    server === undefined || pattern.startsWith(`${server}.`) ? pattern : `${server}.${pattern}`;
  const listed = (added: string, removed: string) => {
    const [old, now] = [stringsIn(before), stringsIn(after)];
    return [
      ...now.filter((each) => !old.includes(each)).map((each) => `${named(each)} ${added}`),
      ...old.filter((each) => !now.includes(each)).map((each) => `${named(each)} ${removed}`),
    ];
  };
  const changed = (said: (value: unknown) => string | undefined, unsaid: string) => {
    const [old, now] = [byPattern(before), byPattern(after)];
    return [...new Set([...Object.keys(now), ...Object.keys(old)])]
      .filter((pattern) => !Bun.deepEquals(old[pattern], now[pattern]))
      .map((pattern) => `${named(pattern)} ${now[pattern] === undefined ? unsaid : (said(now[pattern]) ?? "changed")}`);
  };
  switch (key) {
    case "deny":
      return listed("is denied", "is no longer denied");
    case "allow":
      return listed("is in the list of the only allowed tools", "is no longer in the list of the only allowed tools");
    case "confirm":
      return changed((mode) => modes[String(mode)], "has no rule of its own about asking");
    case "labels":
      return changed(
        (labels) => `has the labels ${stringsIn(labels).join(", ") || "none"}`,
        "has no labels by the config",
      );
    case "disabled":
      return server === undefined ? [] : [`the server ${server} is ${after === true ? "disabled" : "enabled"}`];
    default:
      return [];
  }
}

/** A value for all tools, or one for each pattern. */
function byPattern(value: unknown): Record<string, unknown> {
  if (value === undefined) return {};
  return isObject(value) ? value : { "*": value };
}
