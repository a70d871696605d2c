/** The format of a recording: what one execution of a program was given, what it called, and what it returned. */
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject, parsedJson } from "../../base/json-object.ts";
import {
  about,
  anything,
  byName,
  exactly,
  list,
  number,
  oneOf,
  record,
  text,
  texts,
  type ValueOf,
  yesOrNo,
} from "../../base/json-shape.ts";
import { isNewer, writtenByNewer } from "../../base/newer.ts";
import { megabyte, megabytes } from "../../base/units.ts";
import { exceededLimit } from "../../policy/argument-size.ts";
import type { Seed } from "../../sandbox/replay/contract.ts";
import { checkArguments } from "../../tools/arguments/check-arguments.ts";

/** Characters of a recording as a file. */
export const maxRecordingChars = 10 * megabyte;

/** The values of a recording. Deeper ones could not be compared. */
const recordingLimits = { characters: 2 * maxRecordingChars, values: 2_000_000, levels: 500 };

/** Calls of a recording. */
export const maxCallsInRecording = 10_000;

const failure = record({ "code?": text, message: text, "hint?": text, "data?": text });

/** Without a result, content and an error, the program has ended before the call was answered. */
const call = record({
  server: about("The key of the server in the config; empty for the functions of tools", text),
  tool: about("The name of the tool, or resources.read and the like", text),
  arguments: byName(anything),
  "raw?": about("Whether the result is the whole result of MCP, as for tool.raw() and tool.pages()", exactly(true)),
  "result?": about("The value that the program got. A text is a string", anything),
  "content?": about("The content blocks that the program got, if the result was no value", list(anything)),
  "error?": failure,
  ms: about("When the answer came, in milliseconds since the start", number),
  "after?": about("Answers that had come when it was sent. Default: those of all calls before it", number),
  "answer?": about("Its place among the answers. Default: its place among the calls", number),
});

/** What a server says about a tool, so that a played server says the same. */
const tool = record({
  "title?": text,
  "description?": text,
  inputSchema: byName(anything),
  "outputSchema?": byName(anything),
  "annotations?": byName(anything),
});

const recordingShape = record({
  version: exactly(1),
  "program?": about("The name of the saved program", text),
  startsAt: about("What the clock of the program showed at its start, such as 2026-11-29T21:00:00.000Z", text),
  seed: about("32 hexadecimal digits from which all random values follow", text),
  "input?": byName(anything),
  servers: about(
    "The called servers: their names in code, and the called tools",
    byName(record({ "name?": text, tools: byName(tool) })),
  ),
  calls: about("In the order in which they were sent", list(call)),
  "output?": about("The value that the program returned", anything),
  "logs?": about("The texts that the program has logged, if it returned nothing: they are its answer then", texts),
  "failure?": failure,
  "expect?": about(
    "JSON Schemas for places whose exact value does not matter, such as output.items[*].id. {} takes anything",
    byName(byName(anything)),
  ),
  "labels?": about(
    "What the session of the execution had read when it ended",
    list(record({ label: oneOf("private", "untrusted"), source: text })),
  ),
  "isPrivateReplaced?": about("Whether placeholders stand for private data", yesOrNo),
});

export type Recording = ValueOf<typeof recordingShape>;
export type RecordedToolCall = Recording["calls"][number];
export type RecordedFailure = NonNullable<RecordedToolCall["error"]>;
export type RecordedTool = Recording["servers"][string]["tools"][string];

/** The text of its file. Throws NOT_RECORDED if it is too long. */
export function recordingText(recording: Recording): string {
  const limit = exceededLimit(recording, recordingLimits);
  const json = limit === undefined ? `${JSON.stringify(recording, null, 2)}\n` : "";
  if (limit === undefined && json.length <= maxRecordingChars) return json;
  throw new ClaudikinsError(
    "NOT_RECORDED",
    `The recording would have more than ${limit ?? megabytes(maxRecordingChars)}. Nothing was recorded`,
    { hint: "Record an execution with smaller results, such as one with a narrower input." },
  );
}

/** `what` names the recording in errors. Throws USAGE and VERSION_TOO_OLD. */
export async function readRecording(json: string, what: string): Promise<Recording> {
  const value = json.length > maxRecordingChars ? undefined : parsedJson(json);
  if (isNewer(value, 1)) throw writtenByNewer(what);
  const problems = isObject(value)
    ? await problemsOf(value)
    : [
        json.length > maxRecordingChars
          ? `it is larger than ${megabytes(maxRecordingChars)}`
          : "it is not a JSON object",
      ];
  if (problems.length === 0) return value as unknown as Recording;
  throw new ClaudikinsError("USAGE", `${what} is not a recording: ${problems.join("; ")}`, {
    hint: "claudikins writes recordings with programs keep, programs record and exec --record-file.",
  });
}

async function problemsOf(value: JsonObject): Promise<string[]> {
  const limit = exceededLimit(value, recordingLimits);
  if (limit !== undefined) return [`it has more than ${limit}`];
  const problems = await checkArguments(recordingShape, value);
  if (problems.length > 0) return problems;
  const { startsAt, seed, calls } = value as unknown as Recording;
  if (Number.isNaN(Date.parse(startsAt))) return ["startsAt is not a time"];
  if (!/^[0-9a-f]{32}$/.test(seed)) return ["seed is not 32 hexadecimal digits"];
  if (calls.length > maxCallsInRecording) return [`it has more than ${maxCallsInRecording} calls`];
  return calls.flatMap((each, at) => {
    const answers = answerKeys.filter((key) => each[key] !== undefined);
    return answers.length < 2 ? [] : [`calls[${at}] has more than one of ${answerKeys.join(", ")}`];
  });
}

const answerKeys = ["result", "content", "error"] as const;

export function seedText(seed: Seed): string {
  return seed.map((part) => part.toString(16).padStart(8, "0")).join("");
}

export function seedIn(text: string): Seed {
  const [a = 0, b = 0, c = 0, d = 0] = text.match(/.{8}/g)?.map((part) => Number.parseInt(part, 16)) ?? [];
  return [a, b, c, d];
}

/** `demo.list_orders`; the name alone for a function of `tools`. */
export function calledName({ server, tool }: Pick<RecordedToolCall, "server" | "tool">): string {
  return server === "" ? `tools.${tool}` : `${server}.${tool}`;
}
