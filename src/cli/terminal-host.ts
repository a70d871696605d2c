/** Shows forms and pages that servers ask for to the person at the terminal. */
import type { Responder } from "../clients/responder.ts";
import { ClaudikinsError } from "../errors.ts";
import { argumentsOf } from "../execution/call-arguments.ts";
import { isObject, type JsonObject } from "../json-object.ts";
import { visibleText } from "../visible-text.ts";
import type { TerminalAsker } from "./consent.ts";
import type { Io } from "./io.ts";
import { ask } from "./prompt.ts";

type Elicit = NonNullable<Responder["elicit"]>;
type Elicited = Awaited<ReturnType<Elicit>>;

/** Returns undefined without a terminal. */
export function terminalHost(asker: TerminalAsker | undefined, io: Io): Responder | undefined {
  if (!asker) return undefined;
  return {
    capabilities: { elicitation: { form: {}, url: {} } },
    elicit: (params, { signal }) =>
      asker.inTurn(signal, async () => {
        const interrupted = AbortSignal.any([signal, io.interrupted]);
        const at = asker.linesFor({ ...io, interrupted });
        try {
          const answer = await (params.mode === "url" ? answerPage(params, at) : answerForm(params, at));
          signal.throwIfAborted();
          return answer;
        } catch (error) {
          signal.throwIfAborted();
          if (error instanceof ClaudikinsError && error.code === "CANCELLED") return { action: "cancel" };
          throw error;
        }
      }),
  };
}

async function answerForm({ message, ...params }: Parameters<Elicit>[0], io: Io): Promise<Elicited> {
  const schema = visible("requestedSchema" in params ? params.requestedSchema : {}) as JsonObject;
  const fields = isObject(schema["properties"]) ? Object.keys(schema["properties"]).length : 0;
  await io.stderr.write(`${visibleText(message)}\n`);
  const question = fields === 0 ? "Do you agree?" : "Do you want to answer?";
  if (!(await isYes(`${question} (y: yes; n: no; Ctrl-D: no answer) `, io))) return { action: "decline" };
  if (fields === 0) return { action: "accept", content: {} };
  const { askArguments } = await import("./ask-arguments.ts");
  const { args } = argumentsOf(await askArguments({ inputSchema: schema }, [], io), schema);
  return { action: "accept", content: { ...args } as NonNullable<Elicited["content"]> };
}

/** `accept` means that the page was opened, whatever the person does there. */
async function answerPage(params: Parameters<Elicit>[0], io: Io): Promise<Elicited> {
  const url = new URL("url" in params ? params.url : "");
  await io.stderr.write(`${visibleText(params.message)}\n  ${url.href}\n`);
  if (!(await isYes("Open this page? (y: yes; n: no; Ctrl-D: no answer) ", io))) return { action: "decline" };
  const { hasBrowser, openBrowser } = await import("./browser.ts");
  const isOpen = hasBrowser(io.env) && (await openBrowser(url, io.env));
  if (!isOpen) await io.stderr.write("No browser could be opened. Open the address yourself.\n");
  return { action: "accept" };
}

async function isYes(question: string, io: Io): Promise<boolean> {
  for (let prompt = question; ; prompt = "y or n? ") {
    const answer = (await ask(io, prompt)).trim().toLowerCase();
    if (/^(?:y|yes)$/.test(answer)) return true;
    if (/^(?:n|no)$/.test(answer)) return false;
  }
}

/** Makes control characters in all strings visible. */
function visible(value: unknown): unknown {
  if (typeof value === "string") return visibleText(value);
  if (Array.isArray(value)) return value.map(visible);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, visible(each)]));
}
