/** Writes the result of `claudikins call`: a value for people, one JSON document for scripts, and files for binary data. */
import { wholeOf } from "../clients/decoding/large-json.ts";
import { objectsOf, type ToolResult, toolValue } from "../clients/result.ts";
import { ClaudikinsError } from "../errors.ts";
import type { Called } from "../execution/call.ts";
import { isObject, type JsonObject } from "../json-object.ts";
import { binaryOf, bytesOf } from "../media.ts";
import { grouped } from "../outcome-text.ts";
import type { Io } from "./io.ts";
import { valueText } from "./report.ts";
import { binariesOf, type WrittenFile, writeBinaries, writeText, writeValue, writtenText } from "./result-files.ts";

export interface ResultForm {
  /** The complete result as the server sent it. */
  raw: boolean;
  json: boolean;
  /** A path relative to the working directory. */
  output: string | undefined;
}

/** Returns the exit code. Throws TOOL_FAILED, except with `raw`, and FILE_NOT_WRITABLE. */
export async function writeResult({ server, tool, result }: Called, form: ResultForm, io: Io): Promise<number> {
  const { json, output } = form;
  if (form.raw) return writeRaw(result, output, io);
  const value = plainValue(result, `${server}.${tool}`);
  const binaries = binariesOf(result);
  const rest = binaries.length > 0 ? withoutBinaries(result) : value;
  const files =
    output === undefined
      ? []
      : binaries.length > 0
        ? writeBinaries(binaries, output, io.cwd)
        : [writeValue(value, output, io.cwd)];
  if (json) {
    const shown = output === undefined ? forTerminal(value, io) : withFiles(value, files);
    const more = files.length > 0 ? { files } : {};
    await io.stdout.write(`${JSON.stringify({ ok: true, server, tool, value: shown, ...more })}\n`);
    return 0;
  }
  if (output === undefined || binaries.length > 0) await io.stdout.write(valueText(rest));
  await io.stderr.write(files.map(writtenText).join(""));
  if (output === undefined && binaries.length > 0) {
    const what = binaries.map((binary) => `[${binary.type} ${binary.mimeType}, ${grouped(bytesOf(binary))} bytes]\n`);
    await io.stderr.write(`${what.join("")}To save ${binaries.length === 1 ? "it" : "them"}: --output <file>\n`);
  }
  return 0;
}

async function writeRaw(result: ToolResult, output: string | undefined, io: Io): Promise<number> {
  if (output !== undefined) {
    const file = writeText(`${JSON.stringify(result, null, 2)}\n`, "application/json", output, io.cwd);
    await io.stderr.write(writtenText(file));
  } else {
    const shown = { ...result, content: forTerminal(wholeOf(result["content"]), io) };
    await io.stdout.write(`${JSON.stringify(shown, null, io.stdout.isTerminal ? 2 : undefined)}\n`);
  }
  return result["isError"] === true ? new ClaudikinsError("TOOL_FAILED", "").exitCode : 0;
}

function plainValue(result: ToolResult, tool: string): unknown {
  const value = toolValue(result, tool);
  if ("text" in value) return value.text;
  if ("jsonOrText" in value) return parsed(value.jsonOrText);
  return JSON.parse("json" in value ? value.json : value.blocks);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The value without its binary blocks, or undefined if nothing else remains. */
function withoutBinaries(result: ToolResult): unknown {
  const content = objectsOf(result["content"]).filter((block) => !binaryOf(block));
  const rest = plainValue({ ...result, content }, "");
  return Array.isArray(rest) && rest.length === 0 ? undefined : rest;
}

/** On a terminal, base64 data is replaced by its size. */
function forTerminal(value: unknown, { stdout }: Io): unknown {
  if (!stdout.isTerminal || !Array.isArray(value)) return value;
  return value.map((block) => {
    const binary = binaryOf(block);
    return binary
      ? withData(block, { omitted: `${grouped(bytesOf(binary))} bytes: save with --output <file>` })
      : block;
  });
}

/** Replaces the data of binary blocks with the names of their files. */
function withFiles(value: unknown, files: readonly WrittenFile[]): unknown {
  if (!Array.isArray(value)) return value;
  let next = 0;
  return value.map((block) => (binaryOf(block) ? withData(block, { file: files[next++]?.file }) : block));
}

function withData(block: JsonObject, more: object): JsonObject {
  const { data: _data, ...rest } = block;
  const { resource } = rest;
  if (!isObject(resource)) return { ...rest, ...more };
  const { blob: _blob, ...about } = resource;
  return { ...rest, resource: { ...about, ...more } };
}
