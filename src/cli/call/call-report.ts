/** Writes the result of `claudikins call`: a value for people, one JSON document for scripts, and files for binary data. */

import { grouped } from "../../base/counted.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject, parsedJson } from "../../base/json-object.ts";
import { wholeOf } from "../../base/large-json.ts";
import { type Binary, binaryOf, bytesOf } from "../../base/media.ts";
import type { ShellCallResult } from "../../programs/shell-call.ts";
import { objectsOf, type ToolResult, toolValue } from "../../servers/result.ts";
import type { CommandAnswer } from "../command.ts";
import type { Io } from "../io.ts";
import { valueText } from "../output/report.ts";
import {
  binariesOf,
  type WrittenFile,
  writeBinaries,
  writeText,
  writeValue,
  writtenText,
} from "../output/result-files.ts";

export interface ResultForm {
  /** The complete result as the server sent it. */
  raw: boolean;
  json: boolean;
  /** A path relative to the working directory. */
  output: string | undefined;
}

/** Throws TOOL_FAILED, except with `raw`, and FILE_NOT_WRITABLE. */
export function resultAnswer({ server, tool, result }: ShellCallResult, form: ResultForm, io: Io): CommandAnswer {
  const { output } = form;
  if (form.raw) return rawAnswer(result, output, io);
  const value = plainValue(result, `${server}.${tool}`);
  const binaries = binariesOf(result);
  const files = output === undefined ? [] : outputFiles(value, binaries, output, io.cwd);
  if (form.json) {
    const shown = output === undefined ? forTerminal(value, io) : withFiles(value, files);
    return { json: { ok: true, server, tool, value: shown, ...(files.length > 0 ? { files } : {}) } };
  }
  const rest = binaries.length > 0 ? withoutBinaries(result) : value;
  const text = output === undefined || binaries.length > 0 ? valueText(rest) : "";
  if (output !== undefined || binaries.length === 0) return { text, note: files.map(writtenText).join("") };
  const what = binaries.map((binary) => `[${binary.type} ${binary.mimeType}, ${grouped(bytesOf(binary))} bytes]\n`);
  return { text, note: `${what.join("")}To save ${binaries.length === 1 ? "it" : "them"}: --output <file>\n` };
}

function outputFiles(value: unknown, binaries: Binary[], output: string, cwd: string): WrittenFile[] {
  return binaries.length > 0 ? writeBinaries(binaries, output, cwd) : [writeValue(value, output, cwd)];
}

function rawAnswer(result: ToolResult, output: string | undefined, io: Io): CommandAnswer {
  const exitCode = result["isError"] === true ? new ClaudikinsError("TOOL_FAILED", "").exitCode : 0;
  if (output !== undefined) {
    const file = writeText(`${JSON.stringify(result, null, 2)}\n`, "application/json", output, io.cwd);
    return { note: writtenText(file), exitCode };
  }
  const shown = { ...result, content: forTerminal(wholeOf(result["content"]), io) };
  return { text: `${JSON.stringify(shown, null, io.stdout.isTerminal ? 2 : undefined)}\n`, exitCode };
}

function plainValue(result: ToolResult, tool: string): unknown {
  const value = toolValue(result, tool);
  if ("text" in value) return value.text;
  if ("jsonOrText" in value) {
    const parsed = parsedJson(value.jsonOrText);
    return parsed === undefined ? value.jsonOrText : parsed;
  }
  return JSON.parse("json" in value ? value.json : value.blocks);
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
    if (!binary) return block;
    return withData(block, { omitted: `${grouped(bytesOf(binary))} bytes: save with --output <file>` });
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
