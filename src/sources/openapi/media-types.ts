/** Chooses the media type of a body or a result, and says what its content is. */
import type { Body, ResponseKind } from "./api.ts";

/** `application/json; charset=utf-8` → `application/json`. */
export function essenceOf(mediaType: string): string {
  return (mediaType.split(";")[0] ?? "").trim().toLowerCase();
}

/** Undefined for `*` and its like, which can be anything. */
export function bodyKindOf(mediaType: string): Body["kind"] | undefined {
  const essence = essenceOf(mediaType);
  if (essence.includes("*")) return essence.startsWith("text/") ? "text" : undefined;
  if (/^(?:application|text)\/json$|\+json$/.test(essence)) return "json";
  if (essence === "application/x-www-form-urlencoded") return "form";
  if (essence.startsWith("multipart/")) return "multipart";
  if (/^(?:application|text)\/xml$|\+xml$/.test(essence)) return "xml";
  if (essence.startsWith("text/") || textTypes.test(essence)) return "text";
  return "binary";
}

/** Texts that are not called texts. */
const textTypes =
  /^application\/(?:text|(?:x-)?ndjson|(?:x-)?jsonl|x-jsonlines|json-seq|yaml|x-yaml|graphql|javascript|x-sh|toml|sql|scim\+text)$|\+yaml$|\+text$/;

const order: readonly (Body["kind"] | undefined)[] = ["json", "form", "multipart", "text", "xml", undefined, "binary"];

/** The media type that a tool sends: JSON if it can, and else what says most about its fields. */
export function chosenMediaType(mediaTypes: readonly string[]): string | undefined {
  const rank = (each: string) => order.indexOf(bodyKindOf(each)) * 10 + jsonRank(essenceOf(each));
  return mediaTypes.toSorted((one, other) => rank(one) - rank(other))[0];
}

/** A merge patch looks like the resource itself. */
function jsonRank(essence: string): number {
  if (essence === "application/json") return 0;
  return essence.endsWith("merge-patch+json") ? 1 : essence.endsWith("+json") ? 2 : 3;
}

export function responseKindOf(mediaTypes: readonly string[]): ResponseKind["kind"] {
  if (mediaTypes.length === 0) return "none";
  const kinds = mediaTypes.map(bodyKindOf);
  if (kinds.includes("json") || kinds.includes(undefined)) return "json";
  return kinds.some((kind) => kind === "text" || kind === "xml" || kind === "form") ? "text" : "binary";
}
