/** Turns an outcome into content blocks for the agent's model: bounded text, and what the code displayed. */
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import { charsOfBlocks } from "../../base/context-characters.ts";
import { isServerDown, messageOf } from "../../base/errors.ts";
import { maxContextChars } from "../../base/limits.ts";
import { displayedBlocks, shownValue, withoutBase64 } from "../../base/media.ts";
import { failureMessage, failureText, keptOut, receiptText } from "../../programs/outcome-text.ts";
import type { Mounts, Outcome, Receipt } from "../../sandbox/contract.ts";
import { Outputs } from "../../sandbox/host/outputs.ts";
import { abridgedJson } from "./abridged-json.ts";
import { jsonText } from "./json-text.ts";

/** Share of the shown characters of a too long text that are its beginning. The rest is its end. */
const textHeadShare = 0.7;

/** Share of an answer that the logs get if the value needs the rest. */
const logShare = 0.3;

/** A longer value only goes into a file, which needs no line breaks. */
const maxIndentedChars = 2_000_000;

export interface OutputOptions {
  /** Characters of one text that are shown. A longer text is written to a file of the workspace. */
  maxChars: number;
  /** The folder of the workspace, see `Mounts`. */
  workspace: Mounts["workspace"];
  bases?: Mounts["bases"] | undefined;
}

/**
 * Makes content blocks, and never structuredContent, which would hide them from the model. Images, audio and files in the value
 * become blocks of their own, as if they had been displayed. The receipt counts the characters of tool results that were left out.
 */
export function outcomeContent(outcome: Outcome, options: OutputOptions): CallToolResult {
  return makeContent(outcome, options, outcome.dryRun ? notKept : spill);
}

/** Like `outcomeContent`, but undefined if a file would have to be written. */
export function contentWithoutFiles(outcome: Outcome, options: OutputOptions): CallToolResult | undefined {
  let isWhole = true;
  const content = makeContent(outcome, options, () => {
    isWhole = false;
    return "";
  });
  return isWhole ? content : undefined;
}

function makeContent(outcome: Outcome, options: OutputOptions, keep: typeof spill): CallToolResult {
  const { value, media } = outcome.ok ? shownValue(outcome.value) : { value: undefined, media: [] };
  const result = withoutBase64(outcome.ok ? valueText(value, outcome) : failedText(outcome));
  const logs = outcome.logs.length > 0 ? `Logs:\n${outcome.logs.map(({ text }) => text).join("\n")}` : "";
  const whole = [result, logs].filter(Boolean).join("\n\n");
  const { maxChars } = options;
  const parts =
    whole.length <= maxChars
      ? [whole]
      : [...shortened(value, result, logs, maxChars), keep(whole, outcome.receipt.id, options)];
  const blocks = [...outcome.display.flatMap(displayedBlocks), ...media] as ContentBlock[];
  const displayed = fittingBlocks(blocks, outcome.receipt.id, options, keep);
  const shown = parts.join("\n\n");
  const charsOut = charsOfBlocks([{ type: "text", text: shown }, ...displayed]);
  // A part that was cut from the answer counts as returned.
  const receipt = { ...outcome.receipt, charsOut: Math.max(charsOut, outcome.receipt.charsOut) };
  return withReceipt(textResult(`${shown}\n\n${receiptText(receipt)}`, !outcome.ok, displayed), receipt, charsOut);
}

/** Displayed texts have a limit of their own, for all of them together. A file has the whole texts. */
function fittingBlocks(blocks: ContentBlock[], id: string, options: OutputOptions, keep: typeof spill): ContentBlock[] {
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const whole = texts.join("\n\n");
  if (whole.length <= options.maxChars) return blocks;
  let left = options.maxChars;
  const fitting = blocks.flatMap((block): ContentBlock[] => {
    if (block.type !== "text") return [block];
    if (left === 0) return [];
    const text = cut(block.text, left);
    left = Math.max(0, left - block.text.length);
    return [{ ...block, text }];
  });
  const advice = "Display less, or read parts of it with";
  return [...fitting, { type: "text", text: keep(whole, `${id}-displayed`, options, advice) }];
}

function valueText(value: unknown, { logs, display, receipt }: Outcome): string {
  if (value === undefined) return logs.length + display.length > 0 ? "" : "(no value: return or log something)";
  if (typeof value === "string") return value;
  // A huge value only goes into a file, which needs no line breaks.
  return receipt.charsOut > maxIndentedChars ? JSON.stringify(value) : jsonText(value);
}

function failedText({ error, reason }: Extract<Outcome, { ok: false }>): string {
  // The place would say to a model that its code is wrong.
  const text = isServerDown(error.code) ? failureMessage(error) : failureText(error);
  const head = `Failed (${reason}): ${text}`;
  return error.hint ? `${head}\nHint: ${error.hint}` : head;
}

/** Shows data as JSON, if it is not too long. */
export function fittingJson(value: unknown, { maxChars }: OutputOptions): string | undefined {
  const whole = withoutBase64(jsonText(value));
  return whole.length <= maxChars ? whole : undefined;
}

/** Shows data as JSON. Too long data is abridged, and a file has the whole. */
export function boundedJson(value: unknown, id: string, options: OutputOptions): string {
  const whole = withoutBase64(jsonText(value));
  const { maxChars } = options;
  if (whole.length <= maxChars) return whole;
  const advice = "Ask for less, or read parts of it in execute_code with";
  const shown = withoutBase64(abridgedJson(value, maxChars) ?? cut(whole, maxChars), true);
  return `${shown}\n\n${spill(whole, id, options, advice)}`;
}

/** Fits result and logs into the limit. Data is abridged; text keeps head and tail. */
function shortened(value: unknown, result: string, logs: string, maxChars: number): string[] {
  const logChars = Math.max(Math.floor(maxChars * logShare), maxChars - result.length);
  const shownLogs = cut(logs, logChars);
  const left = maxChars - Math.min(logs.length, logChars);
  const isData = typeof value === "object" && result.length > left;
  const shownResult = (isData ? abridgedJson(value, left) : undefined) ?? cut(result, left);
  return [shownResult, shownLogs].filter(Boolean);
}

function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = text.slice(0, Math.floor(maxChars * textHeadShare));
  const tail = text.slice(text.length - (maxChars - head.length));
  return `${head}\n… ${text.length - maxChars} of ${text.length} characters are not shown …\n${tail}`;
}

/** Writes a long text to a file that programs can read. If the workspace has no room for it, the answer says so. */
function spill(
  text: string,
  id: string,
  { workspace, bases }: OutputOptions,
  advice = "Return less, or read parts of it with",
): string {
  try {
    const outputs = new Outputs(bases ? { workspace, bases } : { workspace });
    const path = outputs.write(`${id}.txt`, Buffer.from(text));
    return `The full text is in ${path}. ${advice}: (await fs.readFile("${path}", "utf8")).slice(from, to)`;
  } catch (error) {
    return `The full text could not be saved (${messageOf(error)}): return less.`;
  }
}

/** A dry run writes no file. */
function notKept(): string {
  return "A dry run keeps no file with the full text: return less.";
}

/** A tool result of one text, and blocks after it. */
export function textResult(text: string, isError = false, blocks: ContentBlock[] = []): CallToolResult {
  return { content: [{ type: "text", text }, ...blocks], ...(isError ? { isError } : {}) };
}

/** The key of the figures of a call in `_meta`. */
export const receiptKey = "claudikins/receipt";

/** The figures of a receipt. `charsOut` counts what goes to the agent. */
function withReceipt(result: CallToolResult, receipt: Receipt, charsOut: number): CallToolResult {
  const { id, calls, failures, durationMs, charsIn, registry } = receipt;
  const charsReturned = Math.min(receipt.charsOut, takenAtMost(receipt), charsIn);
  const figures = { id, calls, failures, durationMs, charsIn, charsOut, charsReturned, charsKept: keptOut(receipt) };
  return withMeta(result, registry === undefined ? figures : { ...figures, registry });
}

/** Characters of the results that a host would have shown at most, if the model had made the calls. */
function takenAtMost({ tools }: Receipt): number {
  return Object.values(tools).reduce((sum, use) => sum + Math.min(use.resultChars, use.calls * maxContextChars), 0);
}

/** The figures of a call without a receipt. */
export function withFigures(result: CallToolResult, startedAt: number): CallToolResult {
  if (result._meta?.[receiptKey] !== undefined) return result;
  const durationMs = Math.round((performance.now() - startedAt) * 10) / 10;
  return withMeta(result, { durationMs, charsOut: charsOfBlocks(result.content) });
}

function withMeta(result: CallToolResult, figures: object): CallToolResult {
  return { ...result, _meta: { ...result._meta, [receiptKey]: figures } };
}
