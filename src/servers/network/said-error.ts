/** Reads answers over HTTP that are not one message of JSON-RPC: errors as plain objects or in events of their own, and several messages in a list. */
import { isObject, parsedJson } from "../../base/json-object.ts";
import { oneLine } from "../../base/visible-text.ts";

/** Characters of an error that a server says in a form of its own. A longer one is cut. */
const maxSaidErrorChars = 2_000;

/** An error as a server says it. */
export interface SaidError {
  code: number | undefined;
  message: string;
  /** Facts for programs, such as the revisions that the server knows. */
  data?: unknown;
  /** The request that it answers, if it says so. */
  id: unknown;
}

/** The error in a value. Undefined for other values, such as results. */
export function errorIn(value: unknown): SaidError | undefined {
  if (!isObject(value) || "method" in value || "result" in value) return undefined;
  const { error, id } = value;
  return error === undefined || error === null ? undefined : said(error, id);
}

/** Whether a value is a result in a form that the SDK refuses and `receive` reads as it is meant. */
export function isLoose(value: unknown): boolean {
  return isObject(value) && isObject(value["result"]) && (value["error"] === null || value["result"]["_meta"] === null);
}

function said(error: unknown, id?: unknown): SaidError {
  const { code, message, detail, data, error: inner } = Object(error) as Record<string, unknown>;
  const words = [error, message, detail, inner].find((each) => typeof each === "string" && each.trim() !== "");
  return {
    code: Number.isSafeInteger(code) ? Number(code) : undefined,
    message: oneLine(typeof words === "string" ? words : JSON.stringify(error), maxSaidErrorChars),
    data,
    id,
  };
}

/** The code of the SDK's servers for an unknown session. They use it for other failures too. */
const unknownSession = -32_001;

/** Whether an error may mean that the server does not know the session. Only another request can tell. */
export function mayMeanNoSession({ code, message }: SaidError): boolean {
  return code === unknownSession || /\bsession/i.test(message);
}

/** The answer of JSON-RPC that says the same. */
export function answerOf({ code = -32_603, message, data }: SaidError, id: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } });
}

const isList = (json: string) => /^\s*\[/.test(json);

/** The elements of a list as they are written, so that numbers keep their digits. The text itself if it is no list. */
export function messagesIn(json: string): string[] {
  if (!isList(json)) return [json];
  const found: string[] = [];
  let [depth, start] = [0, 0];
  for (const { 0: token, index } of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},]/g)) {
    if (token === "[" || token === "{") depth += 1;
    else if (token === "]" || token === "}") depth -= 1;
    const isStart = depth === 1 && token === "[" && start === 0;
    const isEnd = (depth === 1 && token === ",") || (depth === 0 && token === "]");
    if (isEnd && json.slice(start, index).trim() !== "") found.push(json.slice(start, index).trim());
    if (isStart || isEnd) start = index + 1;
  }
  return found;
}

/** What an event says, if that is not one message of JSON-RPC. */
export type OddEvent = { messages: string[] } | { error: SaidError };

/** Undefined for usual events, which are not parsed. `data` returns the text of an event. */
export function oddEvent(event: Buffer, data: (event: Buffer) => Buffer): OddEvent | undefined {
  const plain = event.toString("latin1");
  const isOfErrors = /^event:[ \t]*error[ \t]*\r?$/m.test(plain);
  const isUsual = plain.includes('"jsonrpc"') && !plain.includes('"error"') && !/^data:\s*\[/m.test(plain);
  if (isUsual && !isOfErrors) return undefined;
  const text = data(event).toString();
  if (text === "") return undefined;
  if (isList(text)) return { messages: messagesIn(text) };
  const value = parsedJson(text);
  const error = errorIn(value) ?? (isOfErrors ? said(value ?? text) : undefined);
  return error && { error };
}
