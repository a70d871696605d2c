/** Writes the files of `--output`: the images, sounds and files in a result, or else its value. */
import { accessSync, constants, type Stats, statSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { grouped } from "../../base/counted.ts";
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import { type Binary, binaryOf } from "../../base/media.ts";
import type { OutputFolders } from "../../sandbox/host/outputs.ts";
import { objectsOf, type ToolResult } from "../../servers/result.ts";
import { valueText } from "./report.ts";

export interface WrittenFile {
  file: string;
  mimeType: string;
  bytes: number;
}

export function binariesOf({ content }: ToolResult): Binary[] {
  return objectsOf(content).flatMap((block) => binaryOf(block) ?? []);
}

/** Returns the absolute path of a writable file. Call it before the tool is called. Throws FILE_NOT_WRITABLE. */
export function outputPlace(file: string, cwd: string): string {
  const path = resolve(cwd, file);
  const found = statsOf(path);
  if (/[\\/]$/.test(file) || found?.isDirectory()) {
    throw notWritable(file, "it is a folder", `Name a file in it: --output ${join(file, "result")}`);
  }
  const folder = dirname(path);
  if (!statsOf(folder)?.isDirectory()) {
    throw notWritable(file, "its folder does not exist", `Create it first: mkdir -p ${dirname(file)}`);
  }
  try {
    accessSync(found ? path : folder, constants.W_OK);
  } catch (error) {
    throw notWritable(file, messageOf(error), "Choose a file that you can write to.");
  }
  return path;
}

/** Returns undefined if the path does not exist or cannot be reached. */
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
    // Write in place, because the path may be a link or a device.
    writeFileSync(path, bytes);
  } catch (error) {
    throw notWritable(
      file,
      messageOf(error),
      "The tool was already called: check what it did before you call it again.",
    );
  }
}

function notWritable(file: string, why: string, hint: string): ClaudikinsError {
  return new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot write ${file}: ${why}`, { hint });
}

/** Writes one binary to `file`. Several get numbered names with the extension of their type. Throws FILE_NOT_WRITABLE. */
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

/** The name of one of several files. */
export function numbered(file: string, number: number, { mimeType }: Binary): string {
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

/** Most types have their second half as extension: `image/png`, `application/pdf`. */
function endingOf(mimeType: string): string | undefined {
  const type = mimeType.toLowerCase().split(";", 1)[0]!.trim();
  const half = /^[a-z]+\/([a-z0-9]{1,8})$/.exec(type)?.[1];
  return endings.get(type) ?? (half === undefined ? undefined : `.${half}`);
}

/** Writes text unchanged and data as JSON. Throws FILE_NOT_WRITABLE. */
export function writeValue(value: unknown, file: string, cwd: string): WrittenFile {
  if (typeof value === "string") return writeText(value, "text/plain", file, cwd);
  return writeText(valueText(value), "application/json", file, cwd);
}

export function writtenText({ file, mimeType, bytes }: WrittenFile): string {
  return `Wrote ${file} (${mimeType}, ${grouped(bytes)} bytes)\n`;
}

/**
 * Writes the binaries of an execution to the workspace, named by its id, as far as it has room. The paths are absolute. Throws an error
 * without paths.
 */
export async function keepBinaries(
  binaries: readonly Binary[],
  folders: OutputFolders,
  id: string,
): Promise<WrittenFile[]> {
  if (binaries.length === 0) return [];
  const { Outputs } = await import("../../sandbox/host/outputs.ts");
  const outputs = new Outputs(folders);
  return binaries.map((binary, place) => {
    const name = numbered(id, place + 1, binary);
    const bytes = Buffer.from(binary.data, "base64");
    outputs.write(name, bytes);
    return { file: join(folders.workspace, "outputs", name), mimeType: binary.mimeType, bytes: bytes.length };
  });
}
