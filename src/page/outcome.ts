/** Shows the outcome of an execution on the page: its value, logs, texts and images. */
import { indentedJson } from "../base/json-object.ts";
import {
  type Binary,
  type Block,
  binaryOf,
  bytesOf,
  displayedBlocks,
  shownValue,
  withoutBase64,
} from "../base/media.ts";
import { dryRunText } from "../programs/dry-run/report-text.ts";
import type { StoredRun } from "../programs/saved/requesting-program.ts";
import { RefusedRequest } from "./guard.ts";
import type { PageOutcome } from "./programs-contract.ts";

export type Outcome = NonNullable<StoredRun["outcome"]>;

/** Characters of a value, and of each shown text. */
const maxShownValueChars = 20_000;

/** Characters of a value as JSON that is searched for images. */
const maxSearchedChars = 10_000_000;

/** Lines of logs. The others are counted. */
const maxShownLogs = 500;

/** Characters of one line of logs. */
const maxShownLogChars = 5_000;

/** Texts and images that a program has shown. */
const maxShownBlocks = 50;

/** Images that browsers draw and that contain no scripts. */
const imageTypes = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);

export function shownOutcome(outcome: Outcome): PageOutcome {
  const { display, logs } = outcome;
  const { value, media } = valueIn(outcome);
  const blocks = display.flatMap(displayedBlocks).slice(0, maxShownBlocks);
  const binaries = binariesIn([...blocks, ...media]);
  const planned = outcome.dryRun && `${dryRunText(outcome.dryRun)}\n`;
  const text = outcome.ok ? (planned ?? value) : `${outcome.error.name}: ${outcome.error.message}`;
  const { line, column, hint } = outcome.ok ? {} : outcome.error;
  return {
    ok: outcome.ok,
    text: text.slice(0, maxShownValueChars),
    isCut: text.length > maxShownValueChars,
    hint,
    line,
    column,
    logs: logs
      .slice(0, maxShownLogs)
      .map((each) => ({ level: each.level, text: each.text.slice(0, maxShownLogChars) })),
    moreLogs: Math.max(0, logs.length - maxShownLogs),
    texts: blocks.filter((each) => !binaryOf(each)).map((each) => textOf(each).slice(0, maxShownValueChars)),
    media: binaries.map((each) => ({
      type: each.mimeType,
      bytes: bytesOf(each),
      isImage: imageTypes.has(each.mimeType),
    })),
  };
}

/** Throws RefusedRequest if there is no such image. */
export function imageIn(outcome: Outcome, place: number): Response {
  const blocks = outcome.display.flatMap(displayedBlocks).slice(0, maxShownBlocks);
  const found = binariesIn([...blocks, ...valueIn(outcome).media])[place];
  if (!found || !imageTypes.has(found.mimeType)) throw new RefusedRequest(404, "There is no such image");
  return new Response(Buffer.from(found.data, "base64"), { headers: { "content-type": found.mimeType } });
}

function binariesIn(blocks: readonly Block[]): Binary[] {
  return blocks.flatMap((each) => binaryOf(each) ?? []).slice(0, maxShownBlocks);
}

const textOf = ({ text, ...block }: Block) => (typeof text === "string" ? text : JSON.stringify(block));

/** The value as text, with the size in place of each image. Long values are not indented or searched, because that could take long. */
function valueIn(outcome: Outcome): { value: string; media: Block[] } {
  if (!outcome.ok) return { value: "", media: [] };
  const large = outcome.json;
  if (large !== undefined && large.length > maxSearchedChars)
    return { value: withoutBase64(beginning(large)), media: [] };
  const { value, media } = shownValue(outcome.value);
  // A text with several lines is shown as it is.
  if (typeof value === "string" && value.includes("\n")) return { value, media };
  const json = JSON.stringify(value) ?? "";
  return { value: json.length > maxShownValueChars ? json : indentedJson(json), media };
}

const beginning = (text: string) => text.slice(0, maxShownValueChars + 1);
