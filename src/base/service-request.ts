/** Requests to the services of a cloud, and to what gives their tokens. Redirects are not followed, and answers are bounded. */
import { readFile } from "node:fs/promises";
import { boundedText } from "./bounded-body.ts";
import { messageOf } from "./errors.ts";
import { isObject, parsedJson } from "./json-object.ts";
import { kilobyte } from "./units.ts";
import { oneLine } from "./visible-text.ts";

/** Time for an answer. */
const answerMs = 10_000;

/** Time for the metadata service of a machine, which answers at once where it exists. */
const metadataMs = 2_000;

/** Size of an answer. */
const maxAnswerBytes = 256 * kilobyte;

/** Characters of a service's own reason. */
const maxReasonChars = 300;

/** Why a service cannot be used. */
export class ServiceFailure extends Error {
  override readonly name = "ServiceFailure";
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

interface Asked extends RequestInit {
  /** What a person can do if the request fails. */
  hint: string;
}

/** The JSON object that is answered. Throws ServiceFailure, with the reason that the service gives. */
export async function answerOf(at: string | URL, { hint, ...init }: Asked): Promise<Record<string, unknown>> {
  const url = new URL(at);
  const { status, text } = await sent(url, init, answerMs);
  const answer = parsedJson(text);
  if (status === 200 && isObject(answer)) return answer;
  throw new ServiceFailure(`${url.host} answered ${status}${reasonIn(answer)}`, hint);
}

/** An answer of a metadata service as text. Undefined if there is none, or if it refuses. */
export async function metadataOf(at: string | URL, init: RequestInit): Promise<string | undefined> {
  const { status, text } = await sent(new URL(at), init, metadataMs).catch(() => ({ status: 0, text: "" }));
  return status === 200 ? text : undefined;
}

async function sent(url: URL, init: RequestInit, ms: number): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.timeout(ms);
  try {
    const response = await fetch(url, { ...init, redirect: "manual", signal });
    const tooLarge = () => new Error(`its answer is larger than ${maxAnswerBytes} bytes`);
    return { status: response.status, text: await boundedText(response, maxAnswerBytes, tooLarge) };
  } catch (error) {
    const why = signal.aborted ? `no answer within ${ms / 1_000} s` : messageOf(error);
    throw new ServiceFailure(
      `${url.host} cannot be reached: ${why}`,
      "Check the address, and the network of this machine.",
    );
  }
}

/** The services have the reason in different places. It may repeat what was sent, but never a credential. */
function reasonIn(answer: unknown): string {
  if (!isObject(answer)) return "";
  const { error, errors, message, Message, error_description: description } = answer;
  const nested = isObject(error) ? error["message"] : error;
  const found = [description, message, Message, nested, Array.isArray(errors) ? errors[0] : undefined];
  const reason = found.find((each): each is string => typeof each === "string" && each !== "");
  return reason === undefined ? "" : `: ${oneLine(reason, maxReasonChars)}`;
}

/** A text of an answer. Throws ServiceFailure if it is missing. */
export function textOf(answer: Record<string, unknown>, key: string, hint: string): string {
  const value = answer[key];
  if (typeof value === "string" && value !== "") return value;
  throw new ServiceFailure(`the answer has no ${key}`, hint);
}

/** The content of a file that a variable of the environment names. Throws ServiceFailure. */
export async function fileOf(path: string, variable: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new ServiceFailure(
      `the file of ${variable} cannot be read: ${messageOf(error)}`,
      `Set ${variable} to a file that exists.`,
    );
  }
}

/** The body of a form. */
export function form(fields: Record<string, string>): Pick<RequestInit, "method" | "headers" | "body"> {
  return {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: new URLSearchParams(fields).toString(),
  };
}

/** The body of a JSON request. */
export function json(value: unknown, headers: Record<string, string> = {}) {
  return { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(value) };
}
