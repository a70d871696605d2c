/** The texts and hints of a tool: its title, its description, and the effects of a call. Texts of documents are made plain. */
import type { Tool } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../base/json-object.ts";
import { oneLine } from "../../base/visible-text.ts";
import { type NamedOperation, wordsIn } from "./names.ts";

/** Characters of a tool's description. */
const maxDescriptionChars = 800;

/** The same in an API with many operations. */
const minDescriptionChars = 200;

/** A description gets this share of the characters of the schemas. */
const descriptionShare = 0.125;

/** Characters of a tool's title. */
const maxTitleChars = 100;

export function titleOf({ summary }: JsonObject): { title?: string } {
  return typeof summary === "string" && summary.trim() !== ""
    ? { title: shortText(summary.trim(), maxTitleChars) }
    : {};
}

/** Begins with what it does, and ends with the request, which people know from the documentation of the API. */
export function descriptionOf(
  { summary, description }: JsonObject,
  { method, path, isDeprecated }: NamedOperation,
  note: string | undefined,
  chars: number,
): string {
  const limit = Math.max(minDescriptionChars, Math.min(maxDescriptionChars, Math.floor(chars * descriptionShare)));
  const texts = [summary, description].flatMap((each) =>
    typeof each === "string" && each.trim() !== "" ? [plainText(each, limit)] : [],
  );
  const [first = "", second = ""] = texts;
  const about = second.toLowerCase().startsWith(first.toLowerCase().replace(/\.$/, ""))
    ? second
    : [sentence(first), second].filter(Boolean).join(" ");
  return [
    isDeprecated ? "Deprecated." : "",
    sentence(shortText(about, limit)),
    note ?? "",
    `(${method} ${shortText(path, minDescriptionChars)})`,
  ]
    .filter(Boolean)
    .join(" ");
}

const sentence = (text: string) => (text === "" || /[.!?…:)]$/.test(text) ? text : `${text}.`);

export function annotationsOf(name: string, { method, path }: NamedOperation): NonNullable<Tool["annotations"]> {
  const readOnlyHint = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"].includes(method);
  if (readOnlyHint) return { readOnlyHint, openWorldHint: true };
  const words = [...name.split("_"), ...wordsIn(path.split("/").at(-1) ?? "")];
  const destructiveHint = method === "DELETE" || words.some((word) => destructive.has(word));
  return {
    readOnlyHint,
    destructiveHint,
    idempotentHint: method === "PUT" || method === "DELETE",
    openWorldHint: true,
  };
}

const destructive = new Set(
  "delete remove destroy purge wipe erase revoke terminate uninstall drop truncate reset kick ban".split(" "),
);

/** Markup is removed from this many times as many characters as are kept. */
const readTimes = 4;

/** A text on one line. Longer ones are cut. */
export function shortText(text: string, maxChars: number): string {
  return text.length <= maxChars && /^[!-~](?:[ -~]*[!-~])?$/.test(text) ? text : oneLine(text, maxChars);
}

/** Without tags and emphasis, and with the texts of links in place of the links. */
export function plainText(text: string, maxChars: number): string {
  const read = text.slice(0, maxChars * readTimes);
  if (!/[<[*]/.test(read)) return shortText(read, maxChars);
  const plain = read
    .replace(/<\/?[a-z][^<>]{0,200}>/gi, " ")
    .replace(/\[([^\][]{1,200})\]\([^()\s]{1,500}\)/g, "$1")
    .replaceAll("**", "");
  return shortText(plain, maxChars);
}
