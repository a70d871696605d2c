/** The outcome of `exec`: its shape as JSON, and its text. The value goes to stdout, everything else to stderr, binary data to files. */
import { messageOf } from "../../base/errors.ts";
import { about, anything, byName, exactly, list, named, number, oneOf, record, text } from "../../base/json-shape.ts";
import {
  type Binary,
  type Block,
  binaryOf,
  displayedBlocks,
  shownValue,
  sizeText,
  type Words,
  withoutBase64,
} from "../../base/media.ts";
import type { Outcome } from "../../sandbox/contract.ts";
import type { OutputFolders } from "../../sandbox/host/outputs.ts";
import type { CommandAnswer } from "../command.ts";
import type { Io } from "../io.ts";
import { errorText, logEntryText, outcomeError, receiptLine, valueText } from "./report.ts";
import { keepBinaries, type WrittenFile, writeBinaries, writeValue, writtenText } from "./result-files.ts";

const common = {
  logs: list(named("LogEntry", record({ level: oneOf("debug", "log", "info", "warn", "error"), text }))),
  display: about("Content blocks for agents", list(anything)),
  receipt: named(
    "Receipt",
    record({
      id: text,
      durationMs: number,
      calls: number,
      failures: number,
      "notMade?": about("With --dry-run: calls that were not made", number),
      tools: about(
        "By tool id",
        byName(
          record({
            calls: number,
            failures: number,
            durationMs: number,
            resultChars: number,
            "hiddenFailure?": about(
              "Message of the first failure, if every call failed and the output does not show it",
              text,
            ),
          }),
        ),
      ),
      charsIn: about("Characters of the tools' results", number),
      charsOut: about("Characters of the value, the logs and what is displayed", number),
      "registry?": about("The first query to the registry", text),
    }),
  ),
  "dryRun?": about(
    "With --dry-run: the calls that were not made, in order, and the number of further ones",
    named(
      "DryRun",
      record({
        calls: list(
          record({
            server: text,
            tool: text,
            "arguments?": about("Left out if all arguments together are too long", byName(anything)),
            argumentChars: number,
            "line?": about("Line of the code, counting from 1", number),
            "approval?": about("Why a person would be asked for an approval", text),
          }),
        ),
        more: number,
      }),
    ),
  ),
};

/** Values that JSON cannot represent are omitted. */
export const filesShape = about("With --output", list(record({ file: text, mimeType: text, bytes: number })));

export const doneShape = record({ ok: exactly(true), "value?": anything, ...common, "files?": filesShape });

const failedShape = named(
  "Failed",
  record({
    ok: exactly(false),
    reason: oneOf("threw", "check", "timeout", "cpu", "memory", "stack", "cancelled", "crashed"),
    error: record({
      name: text,
      message: text,
      "code?": text,
      "hint?": text,
      stack: text,
      "line?": number,
      "column?": number,
      "source?": text,
    }),
    ...common,
  }),
);

/** What commands print that run a program. */
export const outcomeShapes = {
  json: doneShape,
  jsonFailure: { "outcome?": failedShape, "files?": filesShape },
} as const;

export const outputText =
  "Write the result to this file: the image, sound or file that the code returns or displays, else the value";

export interface OutcomeForm {
  json: boolean;
  /** A path relative to the working directory. */
  output: string | undefined;
  folders: OutputFolders;
  /** The file of the program, as the user named it. */
  file?: string | undefined;
}

/** Writes files and what people read before the value. Returns the rest. Throws FILE_NOT_WRITABLE. */
export async function outcomeAnswer(outcome: Outcome, form: OutcomeForm, io: Io): Promise<CommandAnswer> {
  const failure = outcome.ok ? undefined : outcomeError(outcome, form.file);
  if (form.json && form.output === undefined) return { failure, beside: { outcome }, json: outcome };
  const displayed = outcome.display.flatMap(displayedBlocks);
  const shown = displayed.filter((block) => !binaryOf(block));
  const binaries = binariesIn([...displayed, ...(outcome.ok ? shownValue(outcome.value).media : [])]);
  const files = form.output === undefined ? [] : outputFiles(outcome, binaries, form.output, io.cwd);
  if (form.json) {
    const more = files.length > 0 ? { files } : {};
    const document = outcome.ok && binaries.length > 0 && files.length > 0 ? withFiles(outcome, files, shown) : outcome;
    return { failure, beside: { outcome, ...more }, json: { ...document, ...more } };
  }
  const kept: KeptBinaries =
    form.output !== undefined
      ? { files }
      : outcome.dryRun
        ? { files: [], notes: sizesText(binaries) }
        : await keptBinaries(binaries, form.folders, outcome.receipt.id);
  const { notes = files.map(writtenText).join("") } = kept;
  await io.stderr.write(outcome.logs.map(logEntryText).join(""));
  await io.stderr.write(shown.map(blockText).join("") + notes);
  const note = `${await plannedText(outcome)}${receiptLine(outcome.receipt)}`;
  if (failure) return { failure, note: withoutBase64(errorText(failure, io.stderr)) + note };
  const isInFile = form.output !== undefined && binaries.length === 0;
  return { text: isInFile || !outcome.ok ? "" : textOf(outcome.value, kept.files), note };
}

/** Returns the value as text, and notes about the files written for its binary data. */
export async function keptValue(
  value: unknown,
  folders: OutputFolders,
  id: string,
): Promise<{ shown: string; notes: string }> {
  const { files, notes = "" } = await keptBinaries(binariesIn(shownValue(value).media), folders, id);
  return { shown: textOf(value, files), notes };
}

interface KeptBinaries {
  files: WrittenFile[];
  notes?: string;
}

/** Writes binaries to the workspace. If that fails, the notes give their sizes and the error. */
async function keptBinaries(binaries: Binary[], folders: OutputFolders, id: string): Promise<KeptBinaries> {
  try {
    const files = await keepBinaries(binaries, folders, id);
    return { files, notes: files.map(writtenText).join("") };
  } catch (error) {
    return {
      files: [],
      notes: `${sizesText(binaries)}${messageOf(error)}. To choose another place: --output <file>\n`,
    };
  }
}

function sizesText(binaries: readonly Binary[]): string {
  return binaries.map((binary) => `${sizeText(binary)}\n`).join("");
}

/** What a dry run would have called. */
async function plannedText({ dryRun }: Outcome): Promise<string> {
  if (!dryRun) return "";
  const { dryRunText } = await import("../../programs/dry-run/report-text.ts");
  return `${dryRunText(dryRun)}\n`;
}

/** Writes the binaries, or else the value. A failed outcome without binaries writes nothing. */
function outputFiles(outcome: Outcome, binaries: Binary[], output: string, cwd: string): WrittenFile[] {
  if (binaries.length > 0) return writeBinaries(binaries, output, cwd);
  return outcome.ok ? [writeValue(outcome.value, output, cwd)] : [];
}

/** The outcome without the data that was written to files. */
function withFiles({ value, logs, receipt }: Outcome & { ok: true }, files: WrittenFile[], display: Block[]): object {
  return { ok: true, value: shownValue(value, namedBy(ownFiles(value, files))).value, logs, display, receipt };
}

function textOf(value: unknown, files: readonly WrittenFile[]): string {
  return withoutBase64(valueText(shownValue(value, namedBy(ownFiles(value, files))).value));
}

/** The files of the value, which follow the files of displayed values. */
function ownFiles(value: unknown, files: readonly WrittenFile[]): readonly WrittenFile[] {
  const { length } = shownValue(value).media;
  return length === 0 ? [] : files.slice(-length);
}

/** Describes each binary by its size and its file. */
function namedBy(files: readonly WrittenFile[]): Words {
  return (binary, place) => {
    const file = files[place]?.file;
    return file === undefined ? sizeText(binary) : `${sizeText(binary).slice(0, -1)}: ${file}]`;
  };
}

function binariesIn(blocks: readonly Block[]): Binary[] {
  return blocks.flatMap((block) => binaryOf(block) ?? []);
}

function blockText(block: Block): string {
  return `${typeof block["text"] === "string" ? block["text"] : JSON.stringify(block)}\n`;
}
