/**
 * Makes the recording of an execution. The calls and their answers are those of the execution; secrets and private data in them are replaced.
 * What the program sends and returns then is found by a first replay, with the clock and the random values that every later replay has.
 */
import { isDeepStrictEqual } from "node:util";
import { ClaudikinsError } from "../../base/errors.ts";
import { parseExact } from "../../base/exact-json.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { megabyte } from "../../base/units.ts";
import { ownNameOf } from "../../config/tool-edits.ts";
import type { Read } from "../../policy/flow/session-reads.ts";
import { textOf } from "../../sandbox/binding-value.ts";
import type { Outcome } from "../../sandbox/contract.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { masked, type Redact, redactorOf } from "../../servers/values/secrets.ts";
import { findTool, type RegistryTool } from "../../tools/model.ts";
import type { Parts } from "../parts.ts";
import { codeWithInput } from "../saved/inputs.ts";
import { calledName, type RecordedToolCall, type Recording, seedText } from "./format.ts";
import { PrivateValues } from "./private-values.ts";
import { type AnswerableCall, type MadeCall, Replay } from "./replay.ts";
import { answerOf, recordedAnswer } from "./replayable.ts";
import type { Taken, TakenCall } from "./tape.ts";

/** Characters of results between two garbage collections: each result is copied several times. */
const charsPerCollection = megabyte;

export interface ToRecord {
  taken: Taken;
  code: string;
  /** Undefined for a program that is not saved. */
  input?: JsonObject | undefined;
  /** The name of the saved program. */
  program?: string | undefined;
  expect?: Record<string, JsonObject> | undefined;
  /** Whether the execution has succeeded. */
  isOk: boolean;
}

interface SourceCall extends AnswerableCall {
  args: unknown;
}

/** Throws NOT_RECORDED if a replay takes another way than the execution. */
export async function makeRecording(
  wanted: ToRecord,
  parts: Parts & { sandbox: Sandbox },
  signal?: AbortSignal,
): Promise<Recording> {
  const { taken, code, program, expect } = wanted;
  const { labels } = taken;
  const redactors: Redact[] = [...parts.config.servers.values()].map(redactorOf);
  const clean = <T>(value: T) => masked(value, (text) => redactors.reduce((known, each) => each(known), text));
  const hidden = new PrivateValues(code);
  const calls = sourceCalls(taken.calls, { clean, hidden, labels, parts });
  const input = wanted.input && clean(wanted.input);
  const servers = [...new Set(calls.map(({ server }) => server))].filter((server) => server !== "");
  const names = servers.map((name) => ({
    name,
    jsName: parts.catalog.names.find((each) => each.name === name)?.jsName,
  }));
  const replay = new Replay<SourceCall>({
    ...{ startsAt: taken.startsAt, seed: taken.seed, servers: names, calls },
    isSame: (known, args) => isDeepStrictEqual(known.args, args),
  });
  const outcome = await replay.run(input ? codeWithInput(code, input) : code, parts.sandbox, signal);
  requireSame(replay, outcome, wanted);
  return {
    version: 1,
    ...(program === undefined ? {} : { program }),
    startsAt: new Date(taken.startsAt).toISOString(),
    seed: seedText(taken.seed),
    ...(input ? { input } : {}),
    servers: Object.fromEntries(
      names.map(({ name, jsName }) => [
        name,
        { ...(jsName ? { name: jsName } : {}), tools: toolsOf(name, calls, parts) },
      ]),
    ),
    calls: recordedCalls(replay.made, clean),
    ...clean(endOf(outcome)),
    ...(expect && Object.keys(expect).length > 0 ? { expect } : {}),
    ...(labels.length > 0 ? { labels: [...labels] } : {}),
    ...(hidden.hasReplaced ? { isPrivateReplaced: true } : {}),
  };
}

interface Cleaning {
  clean: <T>(value: T) => T;
  hidden: PrivateValues;
  labels: readonly Read[];
  parts: Parts;
}

/** Takes the answers from the calls, so that they are not in memory twice. */
function sourceCalls(taken: TakenCall[], cleaning: Cleaning): SourceCall[] {
  let chars = 0;
  return taken.map((call, place) => {
    const made = sourceCall(call, place, cleaning);
    chars += call.answer && "value" in call.answer ? textOf(call.answer.value).length : 0;
    call.answer = undefined;
    if (chars > charsPerCollection) {
      chars = 0;
      Bun.gc(true);
    }
    return made;
  });
}

function sourceCall(
  { server, tool: written, args, answer, ms }: TakenCall,
  place: number,
  cleaning: Cleaning,
): SourceCall {
  const { clean, hidden, parts } = cleaning;
  const known = parts.catalog.find(server);
  const found = known && findTool(known, written);
  const tool = found?.name ?? written;
  const order = answer ? ms + place / 100_000 : Number.POSITIVE_INFINITY;
  const source = { server, tool, args: parseExact(args), order, ms: Math.round(ms) };
  if (!answer) return { ...source, answer };
  const recorded = clean(recordedAnswer(answer));
  const isHidden = isPrivate(server, found, cleaning);
  return { ...source, answer: answerOf(isHidden ? withoutPrivate(recorded, hidden) : recorded) };
}

/** A saved program returns what its session has read, and a model what it was given. Without a tool, it is what the server has beside its tools. */
function isPrivate(
  server: string,
  tool: RegistryTool | undefined,
  { labels, parts: { config, pool } }: Cleaning,
): boolean {
  const entry = config.servers.get(server);
  if (!entry) return false;
  if (entry.isSavedPrograms || entry.isModel) return labels.some(({ label }) => label === "private");
  const own = tool && (ownNameOf(entry.edits, tool) ?? tool.name);
  return pool.labelsOf(server, own).has("private");
}

type Answer = Pick<RecordedToolCall, "result" | "content" | "error">;

function withoutPrivate({ result, content, error }: Answer, hidden: PrivateValues): Answer {
  if (error) {
    const { message, data } = error;
    const replaced = (text: string) => String(hidden.replaced(text));
    return { error: { ...error, message: replaced(message), ...(data === undefined ? {} : { data: replaced(data) }) } };
  }
  return content ? { content: hidden.replaced(content) as unknown[] } : { result: hidden.replaced(result) };
}

/** Throws NOT_RECORDED. */
function requireSame(replay: Replay<SourceCall>, outcome: Outcome, { isOk }: ToRecord): void {
  const other = replay.made.find(({ known }) => !known);
  const [left] = replay.left;
  const problem = other
    ? `it calls ${calledName(other)} once more`
    : isOk && !outcome.ok
      ? `it fails: ${outcome.error.message}`
      : left?.answer
        ? `it does not call ${calledName(left)}`
        : !isOk && outcome.ok
          ? "it does not fail"
          : undefined;
  if (problem === undefined) return;
  throw new ClaudikinsError("NOT_RECORDED", `The execution cannot be recorded: in a replay, ${problem}`, {
    hint: "A program can be replayed if it depends on nothing but its input, its calls and the time. A replay has no files in the workspace, and placeholders for private data.",
  });
}

function recordedCalls(made: readonly MadeCall<SourceCall>[], clean: Cleaning["clean"]): RecordedToolCall[] {
  return made.map(({ server, tool, args, raw, known, after, answered, ms }, place): RecordedToolCall => {
    return {
      // In the results, they are replaced already.
      ...{ server, tool, ...clean({ arguments: args }) },
      ...(raw ? { raw: true as const } : {}),
      ...(known?.answer && answered !== undefined ? recordedAnswer(known.answer) : {}),
      ms,
      ...(after === place ? {} : { after }),
      ...(answered === undefined || answered === place + 1 ? {} : { answer: answered }),
    };
  });
}

function endOf(outcome: Outcome): Pick<Recording, "output" | "logs" | "failure"> {
  if (outcome.ok) return outcome.value === undefined ? loggedBy(outcome) : { output: outcome.value };
  const { message, code } = outcome.error;
  return { failure: { ...(code === undefined ? {} : { code }), message } };
}

function loggedBy({ logs }: Pick<Outcome, "logs">): Pick<Recording, "logs"> {
  return logs.length === 0 ? {} : { logs: logs.map(({ text }) => text) };
}

function toolsOf(
  server: string,
  calls: readonly SourceCall[],
  { catalog }: Parts,
): Recording["servers"][string]["tools"] {
  const listed = catalog.find(server);
  const names = new Set(calls.filter((call) => call.server === server).map(({ tool }) => tool));
  const tools = [...names].sort().flatMap((name) => {
    const tool = listed && findTool(listed, name);
    if (!tool) return [];
    const { title, description, inputSchema, outputSchema, annotations } = tool;
    return [
      [
        name,
        {
          ...(title === undefined ? {} : { title }),
          ...(description ? { description } : {}),
          inputSchema,
          ...(isObject(outputSchema) ? { outputSchema } : {}),
          ...(isObject(annotations) ? { annotations } : {}),
        },
      ],
    ];
  });
  return Object.fromEntries(tools);
}
