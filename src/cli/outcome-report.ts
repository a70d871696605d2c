/** Writes the outcome of `exec`: the value to stdout, everything else to stderr, and binary data to files. */
import { messageOf } from "../errors.ts";
import {
  type Binary,
  type Block,
  binaryOf,
  displayedBlocks,
  shownValue,
  sizeText,
  type Words,
  withoutBase64,
} from "../media.ts";
import type { Outcome } from "../sandbox/contract.ts";
import type { Io } from "./io.ts";
import { errorJson, errorText, logText, outcomeError, receiptLine, valueText } from "./report.ts";
import { keepBinaries, type WrittenFile, writeBinaries, writeValue, writtenText } from "./result-files.ts";

export interface OutcomeForm {
  json: boolean;
  /** A path relative to the working directory. */
  output: string | undefined;
  workspace: string;
  colours: boolean;
}

/** Throws FILE_NOT_WRITABLE. */
export async function writeOutcome(outcome: Outcome, form: OutcomeForm, io: Io): Promise<void> {
  if (form.json && form.output === undefined) return writeJson(outcome, [], [], io);
  const displayed = outcome.display.flatMap(displayedBlocks);
  const shown = displayed.filter((block) => !binaryOf(block));
  const binaries = binariesIn([...displayed, ...(outcome.ok ? shownValue(outcome.value).media : [])]);
  const inFiles = form.output === undefined ? [] : outputFiles(outcome, binaries, form.output, io.cwd);
  if (form.json) return writeJson(outcome, inFiles, shown, io);
  const { colours } = form;
  const kept: Kept =
    form.output === undefined
      ? keptBinaries(binaries, form.workspace, outcome.receipt.id)
      : { files: inFiles, notes: inFiles.map(writtenText).join("") };
  await io.stderr.write(outcome.logs.map((entry) => logText(entry, colours)).join(""));
  await io.stderr.write(shown.map(blockText).join("") + kept.notes);
  if (!outcome.ok) await io.stderr.write(withoutBase64(errorText(outcomeError(outcome), colours)));
  else if (form.output === undefined || binaries.length > 0) {
    await io.stdout.write(textOf(outcome.value, kept.files));
  }
  await io.stderr.write(receiptLine(outcome.receipt, colours));
}

/** Returns the value as text, and notes about the files written for its binary data. */
export function keptValue(value: unknown, workspace: string, id: string): { shown: string; notes: string } {
  const { files, notes } = keptBinaries(binariesIn(shownValue(value).media), workspace, id);
  return { shown: textOf(value, files), notes };
}

interface Kept {
  files: WrittenFile[];
  notes: string;
}

/** Writes binaries to the workspace. If that fails, the notes give their sizes and the error. */
function keptBinaries(binaries: Binary[], workspace: string, id: string): Kept {
  try {
    const files = keepBinaries(binaries, workspace, id);
    return { files, notes: files.map(writtenText).join("") };
  } catch (error) {
    const sizes = binaries.map((binary) => `${sizeText(binary)}\n`).join("");
    return { files: [], notes: `${sizes}${messageOf(error)}. To choose another place: --output <file>\n` };
  }
}

/** Writes the binaries, or else the value. A failed outcome without binaries writes nothing. */
function outputFiles(outcome: Outcome, binaries: Binary[], output: string, cwd: string): WrittenFile[] {
  if (binaries.length > 0) return writeBinaries(binaries, output, cwd);
  return outcome.ok ? [writeValue(outcome.value, output, cwd)] : [];
}

/** Writes the complete outcome as JSON, without the data that was written to files. */
async function writeJson(outcome: Outcome, files: WrittenFile[], shown: Block[], io: Io): Promise<void> {
  const more = files.length > 0 ? { files } : {};
  if (!outcome.ok) {
    await io.stderr.write(errorJson(outcomeError(outcome), { outcome, ...more }));
    return;
  }
  const { value, logs, display, receipt } = outcome;
  const hasMedia =
    files.length > 0 && binariesIn([...display.flatMap(displayedBlocks), ...shownValue(value).media]).length > 0;
  const document = hasMedia
    ? { ok: true, value: shownValue(value, namedBy(ownFiles(value, files))).value, logs, display: shown, receipt }
    : outcome;
  await io.stdout.write(`${JSON.stringify({ ...document, ...more })}\n`);
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
