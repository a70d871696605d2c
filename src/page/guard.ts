/**
 * Checks the requests to the page: they must come from the page itself, in the browser of this process's user, and their bodies must have
 * the expected shape.
 */
import { z } from "zod";
import { parsedJson } from "../base/json-object.ts";
import { tooHeavy } from "../base/json-weight.ts";
import { type ConnectionEnd, problemOfPeer } from "../base/peer-owner.ts";
import { confirmModes, labels } from "../config/policy.ts";
import { toolStates } from "../policy/decision.ts";
import { programStates, webhookForms } from "../programs/events/triggers.ts";
import { isId } from "../programs/trace/id.ts";
import { approvalScopes, maxReasonChars } from "../store/approval.ts";
import { maxPageBodyBytes } from "./limits.ts";

/** A header that the page's script sends. Forms and images cannot send it, and other pages would need our permission. */
const ownHeader = "claudikins-ui";

/** The refusal of a request, with its status. */
export class RefusedRequest extends Error {
  readonly status: number;
  readonly hint: string | undefined;

  constructor(status: number, message: string, hint?: string) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

/** Throws if the request names another host: a name can be made to resolve to this machine (DNS rebinding). */
export function checkHost({ headers }: Request, host: string): void {
  if (headers.get("host") !== host) throw new RefusedRequest(403, `This page is only at http://${host}`);
}

/** Throws for requests by other pages. Browsers send the origin of a request. `own` is our origin. */
function checkOrigin({ headers }: Request, own: string, isChange: boolean): void {
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  if ((site !== null && site !== "same-origin") || (origin === null ? isChange : origin !== own)) throw foreign();
}

/** Throws for requests by other pages, and for requests of forms if `isChange`. `own` is our origin. */
export function checkSender(request: Request, own: string, isChange: boolean): void {
  checkOrigin(request, own, isChange);
  if (isChange && !request.headers.has(ownHeader)) throw foreign();
}

function foreign(): RefusedRequest {
  return new RefusedRequest(403, "Other pages may not send requests to this page");
}

/** Throws unless a program of this user has opened the connection. */
export async function checkPeer(peer: ConnectionEnd | null, own: ConnectionEnd): Promise<void> {
  const problem = await problemOfPeer(peer, own);
  if (problem) throw new RefusedRequest(403, problem.message, problem.hint);
}

const name = z.string().min(1).max(10_000);

export const sessionBody = z.strictObject({ token: z.string().max(200) });

/** `reason` belongs to a denial, and `mark` to `always`: the mark of the rule that was shown. */
export const decisionBody = z.union([
  z.strictObject({ decision: z.enum(approvalScopes) }),
  z.strictObject({ decision: z.literal("always"), mark: z.string().max(100) }),
  z.strictObject({
    decision: z.enum(["deny", "deny all"]),
    reason: z.string().trim().min(1).max(maxReasonChars).optional(),
  }),
]);
export type DecisionBody = z.infer<typeof decisionBody>;

/** Tools of one change. Each is written into the config, which is read again for it. */
const maxChangedTools = 500;

/** Own names of tools, and the state that all of them get. */
export const statesBody = z.strictObject({
  tools: z
    .array(z.strictObject({ server: name, tool: name }))
    .min(1)
    .max(maxChangedTools),
  state: z.enum(toolStates),
});
export type StatesBody = z.infer<typeof statesBody>;

export const undoBody = z.strictObject({ undo: z.string().max(100) });

/** With `isNew`, a rule is added, and its tool must exist. Without it, an existing rule is changed. */
export const ruleBody = z.union([
  z.strictObject({ server: name, tool: name, isNew: z.boolean(), access: z.enum(["allowed", "denied"]) }),
  z.strictObject({ server: name, tool: name, isNew: z.boolean(), confirm: z.enum([...confirmModes, "default"]) }),
]);
export type RuleBody = z.infer<typeof ruleBody>;

const names = z.array(name).max(1_000);
const longText = z.string().min(1).max(100_000);

export const doorBody = z.strictObject({
  name,
  servers: names,
  allow: names,
  deny: names,
  ask: names,
  instructions: longText.optional(),
});
export type DoorBody = z.infer<typeof doorBody>;

/** Null removes the labels from the config. */
export const labelBody = z.strictObject({ server: name, tool: name, labels: z.array(z.enum(labels)).nullable() });
export type LabelBody = z.infer<typeof labelBody>;

export const editBody = z.strictObject({
  server: name,
  tool: name,
  name: name.optional(),
  description: longText.optional(),
  reset: z.boolean().optional(),
});
export type EditBody = z.infer<typeof editBody>;

/** The marks of held tools as they were shown, by name. */
export const heldBody = z.strictObject({ server: name, tools: z.record(z.string().max(10_000), z.string().max(100)) });

const shortName = z.string().min(1).max(200);

export const serverBody = z.strictObject({ server: name });
export const switchBody = z.strictObject({ server: name, isOn: z.boolean() });

/**
 * `what` is a name of the catalog, an address, a command, the place of a document, or an entry. `values` are variables, or headers of an address.
 * `secrets` are set for the server.
 */
export const newServerBody = z.strictObject({
  kind: z.enum(["catalog", "address", "command", "openapi", "graphql", "entry"]),
  name: z.string().max(200).optional(),
  what: longText,
  /** Whether the keys in a pasted entry become secrets. */
  keysAsSecrets: z.boolean().optional(),
  values: z.record(z.string().max(200), z.string().max(100_000)),
  auth: z.string().min(1).max(100_000).optional(),
  secrets: z.array(z.strictObject({ name: shortName, value: z.string().max(200_000) })).max(100),
});
export type NewServerBody = z.infer<typeof newServerBody>;

/** `{ keep: 1 }` stands for the second text that the entry has. */
const entryItem = z.union([z.string().max(100_000), z.strictObject({ keep: z.number().int().nonnegative() })]);

/** Changes of an entry, each with a key, or with `env` or `headers` and a name. Without a value, the place is removed. */
export const entryBody = z.strictObject({
  server: name,
  mark: z.string().max(100),
  changes: z
    .array(
      z.strictObject({
        at: z.array(z.string().min(1).max(200)).min(1).max(2),
        value: z
          .union([
            z.string().max(100_000),
            z.number(),
            z.boolean(),
            z.array(entryItem).max(1_000),
            z.strictObject({
              read: names.optional(),
              write: names.optional(),
              network: z.union([z.boolean(), names]).optional(),
            }),
          ])
          .optional(),
      }),
    )
    .max(1_000),
  /** Secrets that are set for it. Without a value, the secret is set already. */
  secrets: z.array(z.strictObject({ name: shortName, value: z.string().max(200_000).optional() })).max(100),
  isChecked: z.boolean(),
});
export type EntryBody = z.infer<typeof entryBody>;

/** The value is read once, and is in no answer, error or log. */
export const secretBody = z.strictObject({ name: shortName, value: z.string().max(200_000), inFile: z.boolean() });
export type SecretBody = z.infer<typeof secretBody>;

export const secretNameBody = z.strictObject({ name: shortName });

/** The process of a daemon. */
export const stopBody = z.strictObject({ pid: z.number().int().positive(), now: z.boolean() });

/** The mark of the import that was shown. */
export const importBody = z.strictObject({ mark: z.string().max(100), withAgents: z.boolean() });

/** A request without parts. */
export const emptyBody = z.strictObject({});

export const signInBody = z.strictObject({ server: name });

/** The address that the browser shows at the end of a sign-in, when it could not load it. */
export const pastedBody = z.strictObject({ server: name, address: z.string().max(100_000) });

const door = z.string().min(1).max(100).optional();
const shortText = z.string().max(10_000);
const texts = z.record(shortText, z.string().max(100_000));

/** `input` has texts as a person writes them, by the names of the inputs. */
export const runBody = z.strictObject({ name, door, input: texts });
export const scheduleBody = z.strictObject({
  name,
  door,
  input: texts,
  cron: shortText,
  zone: shortText.optional(),
  id: shortText.optional(),
});
export type ScheduleBody = z.infer<typeof scheduleBody>;

/** A program or a schedule. */
export const namedBody = z.strictObject({ name, door });

/** The version of a program that was shown. */
export const acceptBody = z.strictObject({ name, door, version: z.number().int().positive() });

export const recordBody = z.strictObject({ name, door, input: texts, as: shortText.optional() });
export type RecordBody = z.infer<typeof recordBody>;

/** What all triggers and notifications may have. `map` has expressions by the names of inputs. */
const triggering = {
  name: shortName,
  door,
  id: shortText.optional(),
  filter: longText.optional(),
  perMinute: z.number().int().min(1).max(10_000).optional(),
};

/** The texts are those of the flags of `claudikins programs on`. */
export const onBody = z.strictObject({
  ...triggering,
  source: z.strictObject({
    webhook: z.enum(webhookForms).optional(),
    secret: shortText.optional(),
    answer: z.enum(["id", "result"]).optional(),
    file: shortText.optional(),
    resource: shortText.optional(),
    list: shortText.optional(),
    after: shortText.optional(),
    if: z.enum(["done", "failed"]).optional(),
  }),
  input: texts,
  map: texts,
});
export type OnBody = z.infer<typeof onBody>;

/** The texts are those of the flags of `claudikins programs notify`. */
export const notifyBody = z.strictObject({
  ...triggering,
  when: z.array(z.enum(programStates)).min(1).max(3),
  receiver: z.strictObject({
    command: longText.optional(),
    webhook: longText.optional(),
    secret: shortText.optional(),
    tool: shortText.optional(),
    agent: z.literal(true).optional(),
  }),
  hasContents: z.boolean(),
  values: texts,
  map: texts,
});
export type NotifyBody = z.infer<typeof notifyBody>;

export const retryBody = z.strictObject({ delivery: z.string().min(1).max(200), door });

/** A person who has signed in, by the id. */
export const peopleBody = z.strictObject({ id: z.string().regex(/^[0-9a-f]{16}$/) });

export const cancelBody = z.strictObject({ door });

export const againBody = z.strictObject({ door, dryRun: z.boolean() });

/** Characters of code in the editor. They fit into a body. */
const maxEditorChars = 100_000;

/** Code of the editor. `codeOf` is the execution whose code was opened there. */
const editorCode = { code: z.string().min(1).max(maxEditorChars), door };
export const editorRunBody = z.strictObject({
  ...editorCode,
  dryRun: z.boolean(),
  codeOf: z.string().refine(isId).optional(),
});
export type EditorRunBody = z.infer<typeof editorRunBody>;
export const editorCheckBody = z.strictObject(editorCode);
export type EditorCheckBody = z.infer<typeof editorCheckBody>;
export const editorToolsBody = z.strictObject({ server: name, door });
export type EditorToolsBody = z.infer<typeof editorToolsBody>;

const saving = {
  execution: z.string().min(1).max(200),
  door,
  name: shortText,
  description: shortText.optional(),
  /** Texts in the code that become inputs, by the names of the inputs. */
  values: texts,
};
export const previewBody = z.strictObject(saving);
export type PreviewBody = z.infer<typeof previewBody>;

/** The same with `before` from the answer to the preview. */
export const saveBody = z.strictObject({ ...saving, before: z.string().max(200).nullable() });
export type SaveBody = z.infer<typeof saveBody>;

/** Throws if the body is not of the shape. */
export async function jsonBody<T>(request: Request, shape: z.ZodType<T>): Promise<T> {
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers.get("content-type") ?? "")) {
    throw new RefusedRequest(415, "The body must be JSON");
  }
  const text = await textOf(request);
  const problem = tooHeavy(Buffer.from(text));
  if (problem !== undefined) throw new RefusedRequest(413, problem);
  const { success, data } = shape.safeParse(parsedJson(text));
  if (!success) throw new RefusedRequest(400, "The body is not as expected");
  return data;
}

/** The fields of a form on one of our own pages. Throws for the form of another page. `own` is our origin. */
export async function formBody(request: Request, own: string): Promise<URLSearchParams> {
  checkOrigin(request, own, true);
  return new URLSearchParams(await textOf(request));
}

async function textOf(request: Request): Promise<string> {
  if (Number(request.headers.get("content-length") ?? maxPageBodyBytes + 1) > maxPageBodyBytes) {
    throw new RefusedRequest(413, "The body is too large");
  }
  return request.text();
}
