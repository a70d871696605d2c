/** Runs a task given in words: chooses one tool, fills in its arguments, and calls it. Keeps no state between tasks. */

import { setTimeout as wait } from "node:timers/promises";
import { ClaudikinsError } from "../base/errors.ts";
import type { JsonObject } from "../base/json-object.ts";
import { oneLine } from "../base/visible-text.ts";
import { callOnce, isRepeatable, type OnceOptions } from "../programs/call.ts";
import type { Parts } from "../programs/parts.ts";
import { parsedValue } from "../sandbox/binding-value.ts";
import { ConnectionLost } from "../servers/failures/server-failure.ts";
import { type RegistryTool, toolId } from "../tools/model.ts";
import { prepareSearch, rankedTools } from "../tools/search/search.ts";
import { AskedModel, refuseCancelled, unusable } from "./asked-model.ts";
import { askedAgain, choicesOf, noneName } from "./choice-prompt.ts";
import { fillIn } from "./fill-in.ts";
import { choiceIn, objectIn, saidIn } from "./json-answer.ts";
import type { Model, TaskFailed, TaskOptions, TaskOutcome, TaskReceipt } from "./model.ts";
import { categories, mixedTools, type Options, ranksOf, type ServerTool, servers, tools } from "./options.ts";

/** Characters of a task. Longer ones would cost their tokens again at every level. */
const maxTaskChars = 20_000;

/** Maximum number of unavailable servers that a failure names. */
const maxMissedServers = 5;

/** Never throws. A failure, including a cancelled task, is an outcome with `error.type`, a code of `errors.ts`, and the steps so far. */
export async function runTask(options: TaskOptions, model: Model, parts: Parts): Promise<TaskOutcome> {
  const { askForMissing, dryRun, trace, caller, signal = new AbortController().signal } = options;
  const asked = new AskedModel(model, signal);
  const startedAt = performance.now();
  let tool: string | undefined;
  let callMs: number | undefined;
  try {
    const task = checkedTask(options.task);
    const problems = await parts.catalog.listMissing(signal);
    refuseCancelled(signal);
    const { found, isAny, near } = await walk(task, parts, asked, tell);
    if (!found) throw noTool(isAny, near, problems);
    tool = toolId(found.server.name, found.tool.name);
    const filled = await fillIn(found, { task, askForMissing, signal }, asked);
    if ("needs" in filled) {
      const hint = "Repeat the task with these values in it.";
      return {
        ...failed(new ClaudikinsError("INVALID_ARGUMENTS", filled.why, { hint })),
        needs_input: filled.needs,
      };
    }
    const planned = { success: true, tool_used: tool, arguments: filled.args } as const;
    if (dryRun) {
      parts.pool.refuseDenied(found.server.name, found.tool.name);
      return { ...planned, dry_run: true, receipt: receipt() };
    }
    refuseCancelled(signal);
    tell(`calling ${tool}`);
    const calledAt = performance.now();
    const result = await makeCall(found, filled.args, { parts, signal, trace, caller, tell }).finally(() => {
      callMs = Math.round(performance.now() - calledAt);
    });
    return { ...planned, result, receipt: receipt() };
  } catch (error) {
    if (error instanceof ClaudikinsError) return failed(error);
    throw error;
  }

  function failed({ code, message, hint }: ClaudikinsError): TaskFailed {
    return {
      success: false,
      ...(tool === undefined ? {} : { tool_used: tool }),
      error: { type: code, message, ...(hint === undefined ? {} : { suggestion: hint }) },
      receipt: receipt(),
    };
  }

  /** Reports a line. Names in it may contain control characters. */
  function tell(line: string): void {
    options.onProgress?.(oneLine(line, 200));
  }

  function receipt(): TaskReceipt {
    const totalMs = Math.round(performance.now() - startedAt);
    return { ...asked.receipt, ...(callMs === undefined ? {} : { callMs }), totalMs };
  }
}

function checkedTask(task: string): string {
  const text = task.trim();
  if (text === "") throw new ClaudikinsError("USAGE", "The task is empty", { hint: "Say in one sentence what to do." });
  if (text.length <= maxTaskChars) return text;
  throw new ClaudikinsError("USAGE", `The task has ${text.length} characters; the limit is ${maxTaskChars}`);
}

function noTool(isAny: boolean, near: string[], problems: ReadonlyMap<string, string>): ClaudikinsError {
  const nearest = near.length > 0 ? `Nearest: ${near.join(", ")}.` : undefined;
  const missed = [...problems].slice(0, maxMissedServers).map(([name, why]) => `Not asked: ${name} (${why}).`);
  if (problems.size > maxMissedServers)
    missed.push(`${problems.size - maxMissedServers} more servers were not asked either.`);
  const hint = [nearest, ...missed].filter((each) => each !== undefined).join(" ");
  return new ClaudikinsError("TOOL_NOT_FOUND", isAny ? "No tool fits the task" : "No tools are known", {
    hint: hint || undefined,
  });
}

/** Maximum number of starts and calls together. There are fewer if each takes the full time limit. */
const maxCallTries = 3;

/** The same maximum if each takes the full time limit. */
const maxCallTimeouts = 2;

/** Wait before the second try. It doubles for the third. */
const firstRetryMs = 300;

/** A server that asks for a longer wait is reported instead. */
const maxRetryMs = 5_000;

/**
 * Returns the value of the result. Starts the server first, to tell a failed start from a failed call. Throws what `callOnce`
 * throws on the last try.
 */
async function makeCall(
  wanted: ServerTool,
  args: JsonObject,
  {
    parts,
    signal,
    tell,
    ...made
  }: OnceOptions & {
    parts: Parts;
    signal: AbortSignal;
    tell: (line: string) => void;
  },
): Promise<unknown> {
  const server = wanted.server.name;
  const tool = wanted.tool.name;
  for (let attempt = 1; ; attempt++) {
    let isStarted = false;
    try {
      // A denied tool must not start its server.
      parts.pool.refuseDenied(server, tool);
      if (parts.pool.state(server).state !== "ready") await parts.catalog.tools(server, { signal });
      isStarted = true;
      return parsedValue(await callOnce({ server, tool, args }, parts, signal, { tell, ...made }));
    } catch (error) {
      const waitMs = firstRetryMs * 2 ** (attempt - 1);
      const tries = signal.aborted ? 1 : triesAfter(error, isStarted, wanted.tool);
      const restMs = attempt < tries ? restOf(parts, server, waitMs) : undefined;
      if (restMs === undefined) throw error;
      tell(`${server} does not answer: attempt ${attempt + 1} of ${tries}`);
      // The wait rejects only when the signal is aborted.
      await wait(restMs, undefined, { signal }).catch(() => {});
      refuseCancelled(signal);
    }
  }
}

/** Number of tries after an error. It is one if the tool may have run and its annotations say neither read-only nor idempotent. */
function triesAfter(error: unknown, isStarted: boolean, tool: RegistryTool): number {
  if (!(error instanceof ClaudikinsError)) return 1;
  const tries =
    error.code === "SERVER_UNAVAILABLE" ? maxCallTries : error.code === "CALL_TIMEOUT" ? maxCallTimeouts : 1;
  const isUnsent = !isStarted || (error instanceof ConnectionLost && !error.sent);
  return isUnsent || isRepeatable(tool) ? tries : 1;
}

/** How long to wait. Undefined if the server stays unavailable for too long or permanently. */
function restOf({ pool }: Parts, server: string, waitMs: number): number | undefined {
  const state = pool.state(server);
  if (state.state !== "broken") return waitMs;
  if (state.retryAt === undefined || state.lasting) return undefined;
  const restMs = Math.max(waitMs, state.retryAt - Date.now());
  return restMs <= maxRetryMs ? restMs : undefined;
}

/** Maximum number of tools from other places that are offered when no option of a level fits, or named when nothing fits. */
const maxElsewhere = 10;

/** Tools that a failure names. */
const maxNearTools = 3;

interface Walked {
  /** Undefined if the model says that nothing fits. */
  found: ServerTool | undefined;
  /** Whether there are tools at all. */
  isAny: boolean;
  /** Ids of the tools that search ranks highest for the task. */
  near: string[];
}

/**
 * Never offers denied servers and tools. If no option of a level fits, offers the best tools that were not offered yet, once.
 * Throws MODEL_ANSWER_INVALID, and what the model throws.
 */
export async function walk(
  task: string,
  parts: Parts,
  model: AskedModel,
  tell: (line: string) => void,
): Promise<Walked> {
  const all = parts.catalog.visibleServers.filter((server) => server.tools.length > 0);
  await prepareSearch(parts.catalog);
  const best = rankedTools(task, parts.catalog);
  const ranks = ranksOf(best);
  return {
    found: all.length > 0 ? await toTool() : undefined,
    isAny: all.length > 0,
    near: best.slice(0, maxNearTools).map(({ server, name }) => toolId(server, name)),
  };

  async function toTool(): Promise<ServerTool | undefined> {
    const category = await choose(categories(all, ranks));
    if (!category) return elsewhere(() => false);
    const offered = servers(category, ranks);
    const server = await choose(offered);
    if (!server) {
      const seen = new Set(offered.offered.map(({ value }) => value.name));
      return elsewhere((each) => seen.has(each.server.name));
    }
    const its = tools(server, ranks);
    const tool = await choose(its);
    if (tool) return tool;
    const seen = new Set(its.offered.map(({ value }) => value.tool));
    return elsewhere((each) => seen.has(each.tool));
  }

  /** Offers the best tools that the model has not seen yet. Even a single one is offered as a question. */
  async function elsewhere(isSeen: (each: ServerTool) => boolean): Promise<ServerTool | undefined> {
    const found = best.flatMap(({ server: serverName, name }) => {
      const server = all.find((each) => each.name === serverName);
      const tool = server?.tools.find((each) => each.name === name);
      return server && tool && !isSeen({ server, tool }) ? [{ server, tool }] : [];
    });
    return found.length === 0 ? undefined : ask(mixedTools(found.slice(0, maxElsewhere)));
  }

  async function choose<T>(options: Options<T>): Promise<T | undefined> {
    const [only, ...others] = options.offered;
    if (!only || others.length > 0) return ask(options);
    const { level, all: count } = options;
    return model.step({ level, options: count }, async (step) => {
      step.choice = only.name;
      step.skipped = true;
      return only.value;
    });
  }

  /** The chosen option; undefined for "none of these". */
  async function ask<T>(options: Options<T>): Promise<T | undefined> {
    const { level, all: count, offered } = options;
    const choices = choicesOf(task, options);
    const names = [...choices.names, noneName];
    return model.step({ level, options: count }, async (step) => {
      if (offered.length < count) step.offered = offered.length;
      const answer = await model.ask(choices.request);
      const first = choiceIn(answer, names);
      const choice = first ?? choiceIn(await model.ask(askedAgain(choices, said(answer))), names);
      if (choice === undefined) throw unusable(model, `chose a ${level} that does not exist`);
      const option = choices.optionOf(choice);
      step.choice = option?.name ?? noneName;
      tell(`${level}: ${choice}`);
      return option?.value;
    });
  }
}

/** The answer's text, to quote in the correction. */
function said(answer: string): string {
  const object = objectIn(answer);
  return object ? saidIn(object) : answer.trim();
}
