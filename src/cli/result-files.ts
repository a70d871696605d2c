/** What `call --output` writes: the images, sounds and other files that are in a tool's result, or else its value. */
import { accessSync, constants, type Stats, statSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { isObject, objectsOf, type ToolResult } from "../clients/result.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";

/** A part of a result that is no text. */
export interface Binary {
  type: "image" | "audio" | "resource";
  mimeType: string;
  /** In base64. */
  data: string;
}

export interface WrittenFile {
  file: string;
  mimeType: string;
  bytes: number;
}

/** Undefined where the block is text, or a link. */
export function binaryOf(block: unknown): Binary | undefined {
  if (!isObject(block)) return undefined;
  const { type, data, mimeType, resource } = block;
  if (typeof data === "string" && (type === "image" || type === "audio"))
    return { type, data, mimeType: mimeOf(mimeType) };
  if (!isObject(resource) || typeof resource["blob"] !== "string") return undefined;
  return { type: "resource", data: resource["blob"], mimeType: mimeOf(resource["mimeType"]) };
}

export function binariesOf({ content }: ToolResult): Binary[] {
  return objectsOf(content).flatMap((block) => binaryOf(block) ?? []);
}

export function bytesOf({ data }: Binary): number {
  return Buffer.byteLength(data, "base64");
}

/** What is no type is not shown: it may be anything. */
function mimeOf(mimeType: unknown): string {
  const isType = typeof mimeType === "string" && /^[\w.+-]+\/[\w.+-]+(?:; ?[ \w.="-]*)?$/.test(mimeType);
  return isType ? mimeType : "application/octet-stream";
}

/** The place of a file that can be written there. To be asked before the tool is called. Throws FILE_NOT_WRITABLE. */
export function outputPlace(file: string, cwd: string): string {
  const path = resolve(cwd, file);
  const found = statsOf(path);
  if (/[\\/]$/.test(file) || found?.isDirectory()) {
    throw notWritable(file, "it is a folder", `Name a file in it: --output ${join(file, "result")}`);
  }
  const folder = dirname(path);
  if (!statsOf(folder)?.isDirectory()) {
    throw notWritable(file, "its folder is not there", `Make it first: mkdir -p ${dirname(file)}`);
  }
  try {
    accessSync(found ? path : folder, constants.W_OK);
  } catch (error) {
    throw notWritable(file, messageOf(error), "Name one that you may write.");
  }
  return path;
}

/** Undefined where there is nothing, or no way there. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function write(bytes: Uint8Array, file: string, cwd: string): void {
  const path = outputPlace(file, cwd);
  try {
    // In its place: it may be a link, or no file at all.
    writeFileSync(path, bytes);
  } catch (error) {
    throw notWritable(file, messageOf(error), "The tool has been called: see what that did before you call it again.");
  }
}

function notWritable(file: string, why: string, hint: string): ClaudikinsError {
  return new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot write ${file}: ${why}`, { hint });
}

/** One is written as it is called; of several each gets a number, and the ending of its type. Throws FILE_NOT_WRITABLE. */
export function writeBinaries(binaries: readonly Binary[], file: string, cwd: string): WrittenFile[] {
  return binaries.map((binary, place) => {
    const name = binaries.length === 1 ? file : numbered(file, place + 1, binary);
    const bytes = Buffer.from(binary.data, "base64");
    write(bytes, name, cwd);
    return { file: name, mimeType: binary.mimeType, bytes: bytes.length };
  });
}

export function writeText(text: string, mimeType: string, file: string, cwd: string): WrittenFile {
  const bytes = Buffer.from(text);
  write(bytes, file, cwd);
  return { file, mimeType, bytes: bytes.length };
}

function numbered(file: string, number: number, { mimeType }: Binary): string {
  const given = extname(file);
  return join(dirname(file), `${basename(file, given)}-${number}${endingOf(mimeType) ?? given}`);
}

const endings: ReadonlyMap<string, string> = new Map([
  ["image/jpeg", ".jpg"],
  ["image/svg+xml", ".svg"],
  ["image/x-icon", ".ico"],
  ["image/vnd.microsoft.icon", ".ico"],
  ["audio/mpeg", ".mp3"],
  ["audio/mp4", ".m4a"],
  ["audio/x-wav", ".wav"],
  ["text/plain", ".txt"],
  ["text/markdown", ".md"],
  ["text/javascript", ".js"],
  ["application/octet-stream", ".bin"],
  ["application/gzip", ".gz"],
  ["application/x-gzip", ".gz"],
  ["application/x-tar", ".tar"],
  ["application/msword", ".doc"],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".docx"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx"],
  ["application/vnd.openxmlformats-officedocument.presentationml.presentation", ".pptx"],
]);

/** Of most types the ending is their second half: `image/png`, `application/pdf`. */
function endingOf(mimeType: string): string | undefined {
  const type = mimeType.toLowerCase().split(";", 1)[0]!.trim();
  const half = /^[a-z]+\/([a-z0-9]{1,8})$/.exec(type)?.[1];
  return endings.get(type) ?? (half === undefined ? undefined : `.${half}`);
}
