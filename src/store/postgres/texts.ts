/**
 * Messages and answers of calls, which are flat objects with at most one text that may be large. That text is stored apart, so that the main
 * thread neither makes JSON of it nor reads it.
 */
import { largeJsonChars } from "../../base/limits.ts";

export interface StoredText {
  /** JSON of everything else. */
  json: string;
  /** The property with the large text, and the text. Null without one. */
  name: string | null;
  text: string | null;
}

export function textOf(message: object): StoredText {
  const [name, text] =
    Object.entries(message).find(([, value]) => typeof value === "string" && value.length > largeJsonChars) ?? [];
  if (name === undefined) return { json: JSON.stringify(message), name: null, text: null };
  return { json: JSON.stringify({ ...message, [name]: undefined }), name, text: text as string };
}

export function messageOf({ json, name, text }: StoredText): object {
  const message = JSON.parse(json) as object;
  return name === null ? message : { ...message, [name]: text };
}
