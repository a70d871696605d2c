/** Recognises data that a newer version of claudikins has written. An older version must neither use nor replace it. */
import { ClaudikinsError } from "./errors.ts";
import { isObject } from "./json-object.ts";
import { version } from "./version.ts";

/** Whether a document has the form of a later version than this one knows. */
export function isNewer(document: unknown, known: number): boolean {
  const form = isObject(document) ? document["version"] : undefined;
  return typeof form === "number" && form > known;
}

/** Whether `version` is older than `than`. Only the numbers count. */
export function isOlder(version: string, than: string): boolean {
  const numbers = (text: string) => /^\d+\.\d+\.\d+/.exec(text)?.[0] ?? "0.0.0";
  return Bun.semver.order(numbers(version), numbers(than)) < 0;
}

/** `what` is a noun with its article, such as "the registry". */
export function writtenByNewer(what: string): ClaudikinsError {
  return new ClaudikinsError(
    "VERSION_TOO_OLD",
    `claudikins ${version} is too old for ${what}, which a newer version has written`,
    { hint: "Nothing was changed. To upgrade: claudikins upgrade" },
  );
}
