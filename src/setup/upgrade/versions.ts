/** Versions of claudikins, as releases and registries name them. */

const form = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[0-9A-Za-z.-]{1,40})?$/;

/** Whether the text is a version and nothing else. It may come from any server, and becomes part of addresses and commands. */
export function isVersion(text: unknown): text is string {
  return typeof text === "string" && form.test(text);
}

/** Negative if the first version is older than the second. */
export function compareVersions(one: string, other: string): number {
  return Bun.semver.order(one, other);
}
