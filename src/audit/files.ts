/** The files of the audit log: numbered, each with whole lines of JSON, and the head, which names the last line. */
import { join } from "node:path";
import { namesIn, readIfThere } from "../files.ts";
import { isObject, parsedJson } from "../json-object.ts";
import type { AuditLine } from "./event.ts";

export const headName = "head.json";
export const lockName = ".lock";

/** The last line that was written. Lines that are missing at the end of the log do not agree with it. */
interface Head {
  entry: number;
  sha256: string;
}

/** The hash before the first line. */
export const noLine = "0".repeat(64);

export function fileName(number: number): string {
  return `${String(number).padStart(6, "0")}.jsonl`;
}

/** The names of the files, in the order in which they were written. Throws FILE_NOT_FOUND if the folder cannot be read. */
export function fileNames(folder: string): string[] {
  return namesIn(folder).filter((name) => /^\d{6,}\.jsonl$/.test(name));
}

/** Undefined if there is none, or it cannot be understood. */
export function readHead(folder: string): Head | undefined {
  const head = parsedJson(readIfThere(join(folder, headName)) ?? "");
  if (!isObject(head)) return undefined;
  const { entry, sha256: digest } = head;
  return typeof entry === "number" && typeof digest === "string" ? { entry, sha256: digest } : undefined;
}

/** One line of a file as it was read. */
export interface ReadLine {
  file: string;
  text: string;
  /** Undefined if the text is not a line of this log. */
  line: AuditLine | undefined;
  /** Whether a line break follows. */
  isWhole: boolean;
}

/** All lines, oldest first. Throws FILE_NOT_FOUND if a file cannot be read. */
export function* readLines(folder: string): Generator<ReadLine> {
  for (const file of fileNames(folder)) {
    const texts = (readIfThere(join(folder, file)) ?? "").split("\n");
    const torn = texts.pop() ?? "";
    for (const text of texts) yield { file, text, line: lineOf(text), isWhole: true };
    if (torn !== "") yield { file, text: torn, line: lineOf(torn), isWhole: false };
  }
}

/** Undefined if the text is not a line of the log. */
export function lineOf(text: string): AuditLine | undefined {
  const value = parsedJson(text);
  if (!isObject(value)) return undefined;
  const { entry, previous, at, decision, by } = value;
  const isLine =
    typeof entry === "number" &&
    typeof previous === "string" &&
    typeof at === "number" &&
    typeof decision === "string" &&
    isObject(by);
  return isLine ? (value as unknown as AuditLine) : undefined;
}
