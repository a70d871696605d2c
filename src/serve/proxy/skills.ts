/** Skills of servers in direct mode. Many agents check a list as a whole, so entries that the extension does not allow are left out. */
import { SkillSchema } from "@modelcontextprotocol/core/ext/skills";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { percentDecoded } from "../../base/percent-decoded.ts";
import type { Usable } from "./definitions.ts";

const suffix = "/SKILL.md";

/** Undefined if the entry breaks a rule of the extension (io.modelcontextprotocol/skills, "Skill Entries") or of Agent Skills. */
export const usableSkill: Usable = (skill) => {
  const { success, data } = SkillSchema.safeParse(skill);
  if (!success) return undefined;
  const { uri, frontmatter, resources } = data;
  const { name, description, compatibility, metadata } = frontmatter as typeof frontmatter & JsonObject;
  const address = plain(uri);
  const folder = address?.slice(0, -suffix.length) ?? "";
  const last = folder.split("/").at(-1) ?? "";
  const isNamed = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) && percentDecoded(last) === name;
  const isDescribed = isBetween(description, 1_024) && (compatibility === undefined || isBetween(compatibility, 500));
  const hasTexts = metadata === undefined || (isObject(metadata) && Object.values(metadata).every(isText));
  if (!address?.endsWith(suffix) || !isNamed || !isDescribed || !hasTexts) return undefined;
  if (resources === "dynamic") return skill;
  const files = resources.map((each) => plain(each.uri));
  const isComplete =
    files.includes(address) && new Set(files.map((file = "") => percentDecoded(file))).size === files.length;
  return isComplete && files.every((file) => isIn(folder, file)) ? skill : undefined;
};

/** The addresses of the skill's files, as far as the entry names them. */
export function skillAddresses({ uri, resources }: JsonObject): string[] {
  return [...new Set([String(uri), ...(Array.isArray(resources) ? resources.map((each) => String(each.uri)) : [])])];
}

/** The entry with other addresses. */
export function withAddresses(skill: JsonObject, shown: (uri: string) => string): JsonObject {
  const { uri, resources } = skill;
  const files = Array.isArray(resources) ? resources.map((each) => ({ ...each, uri: shown(each.uri) })) : resources;
  return { ...skill, uri: shown(String(uri)), resources: files };
}

/** The usual spelling of a URI. Undefined if it is invalid, or has a query or a fragment. */
function plain(uri: string): string | undefined {
  const href = URL.parse(uri)?.href;
  return href && /[?#]/.test(href) ? undefined : href;
}

function isIn(folder: string, file: string | undefined): boolean {
  if (!file?.startsWith(`${folder}/`)) return false;
  const names = file
    .slice(folder.length + 1)
    .split("/")
    .map(percentDecoded);
  return names.every((name) => name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name));
}

const isText = (value: unknown) => typeof value === "string";

function isBetween(value: unknown, maxChars: number): boolean {
  return typeof value === "string" && value !== "" && [...value].length <= maxChars;
}
