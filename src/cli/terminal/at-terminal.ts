/** Lets policies and servers ask the user at the terminal: whether a tool may be called, for a form, and for a page to be opened. */

import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { visibleText } from "../../base/visible-text.ts";
import { type Answer, decidedElsewhere } from "../../policy/approval-queue.ts";
import type { Asker } from "../../policy/questions.ts";
import { argumentsOf } from "../../programs/argument-words.ts";
import type { Responder } from "../../servers/connection/responder.ts";
import type { Io } from "../io.ts";
import type { Activity } from "./progress.ts";
import { askUntil, canAsk } from "./prompt.ts";

type Elicit = NonNullable<Responder["elicit"]>;
type Elicited = Awaited<ReturnType<Elicit>>;

const yes: Answer = { state: "approved", scope: "once" };
const no: Answer = { state: "denied" };

const answers: ReadonlyMap<string, Answer> = new Map<string, Answer>([
  ["y", yes],
  ["yes", yes],
  ["s", { state: "approved", scope: "session" }],
  ["n", no],
  ["no", no],
]);

const callIt = "Call it? (y: yes, this once; s: yes, for this tool until the code ends; n: no) ";

/** The user at the terminal, if there is one. The line of the activity is hidden while they are asked. */
export function personAtTerminal(activity: () => Activity, io: Io): PersonAtTerminal | undefined {
  return canAsk(io) ? new PersonAtTerminal(activity, io) : undefined;
}

class PersonAtTerminal implements Asker, Responder {
  readonly capabilities = { elicitation: { form: {}, url: {} } };
  readonly #activity: () => Activity;
  readonly #io: Io;
  readonly #semaphore = new Semaphore(1);

  constructor(activity: () => Activity, io: Io) {
    this.#activity = activity;
    this.#io = io;
  }

  async ask(text: string, _question: unknown, signal: AbortSignal): Promise<Answer | undefined> {
    return this.#inTurn(signal, async (io) => {
      await io.stderr.write(`${text}\n`);
      try {
        return await askUntil(io, callIt, (word) => answers.get(word), "y, s or n? ");
      } finally {
        if (signal.reason === decidedElsewhere) await io.stderr.write(`${decidedElsewhere.message}.\n`);
      }
    });
  }

  async elicit(params: Parameters<Elicit>[0], { signal }: Parameters<Elicit>[1]): Promise<Elicited> {
    const answer = await this.#inTurn(signal, (io) =>
      params.mode === "url" ? answerPage(params, io) : answerForm(params, io),
    );
    return answer ?? { action: "cancel" };
  }

  /**
   * Asks one question at a time, and ignores input from before it appeared. Returns undefined at the end of the input. Rejects when
   * the signal is aborted.
   */
  async #inTurn<T>(signal: AbortSignal, question: (io: Io) => Promise<T>): Promise<T | undefined> {
    const turn = this.#semaphore.acquire(signal);
    if (turn && !(await turn)) throw signal.reason;
    const resume = this.#activity().pause();
    try {
      await this.#io.stdin.dropTyped();
      const answer = await question({ ...this.#io, interrupted: AbortSignal.any([signal, this.#io.interrupted]) });
      signal.throwIfAborted();
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ClaudikinsError && error.code === "CANCELLED") return undefined;
      throw error;
    } finally {
      resume();
      this.#semaphore.release();
    }
  }
}

async function answerForm({ message, ...params }: Parameters<Elicit>[0], io: Io): Promise<Elicited> {
  const schema = visible("requestedSchema" in params ? params.requestedSchema : {}) as JsonObject;
  const fields = isObject(schema["properties"]) ? Object.keys(schema["properties"]).length : 0;
  await io.stderr.write(`${visibleText(message)}\n`);
  if (!(await agrees(fields === 0 ? "Do you agree?" : "Do you want to answer?", io))) return { action: "decline" };
  if (fields === 0) return { action: "accept", content: {} };
  const { askArguments } = await import("../call/ask-arguments.ts");
  const { args } = argumentsOf(await askArguments({ inputSchema: schema }, [], io), schema);
  return { action: "accept", content: { ...args } as NonNullable<Elicited["content"]> };
}

/** `accept` means that the page was opened, whatever the user does there. */
async function answerPage(params: Parameters<Elicit>[0], io: Io): Promise<Elicited> {
  const url = new URL("url" in params ? params.url : "");
  await io.stderr.write(`${visibleText(params.message)}\n  ${url.href}\n`);
  if (!(await agrees("Open this page?", io))) return { action: "decline" };
  const { hasBrowser, openBrowser } = await import("./browser.ts");
  const isOpen = hasBrowser(io.env) && (await openBrowser(url, io.env));
  if (!isOpen) await io.stderr.write("No browser could be opened. Open the address yourself.\n");
  return { action: "accept" };
}

const yesOrNo: ReadonlyMap<string, boolean> = new Map([
  ["y", true],
  ["yes", true],
  ["n", false],
  ["no", false],
]);

function agrees(question: string, io: Io): Promise<boolean> {
  return askUntil(io, `${question} (y: yes; n: no; Ctrl-D: no answer) `, (word) => yesOrNo.get(word), "y or n? ");
}

/** Makes control characters in all strings visible. */
function visible(value: unknown): unknown {
  if (typeof value === "string") return visibleText(value);
  if (Array.isArray(value)) return value.map(visible);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, visible(each)]));
}
