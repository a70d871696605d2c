/** The shapes of the requests to the page, by names. */
import { z } from "zod";
import { confirmModes, labels } from "../config/policy.ts";
import { toolStates } from "../policy/decision.ts";
import { programStates, webhookForms } from "../programs/events/stored-triggers.ts";
import { isId } from "../programs/trace/id.ts";
import { approvalScopes, maxReasonChars } from "../store/approval.ts";

const name = z.string().min(1).max(10_000);

/** Tools of one change. Each is written into the config, which is read again for it. */
const maxChangedTools = 500;

const names = z.array(name).max(1_000);
const longText = z.string().min(1).max(100_000);

const shortName = z.string().min(1).max(200);

/** `{ keep: 1 }` stands for the second text that the entry has. */
const entryItem = z.union([z.string().max(100_000), z.strictObject({ keep: z.number().int().nonnegative() })]);

const door = z.string().min(1).max(100).optional();
const shortText = z.string().max(10_000);

const texts = z.record(shortText, z.string().max(100_000));

/** What all triggers and notifications may have. `map` has expressions by the names of inputs. */
const triggering = {
  name: shortName,
  door,
  id: shortText.optional(),
  filter: longText.optional(),
  perMinute: z.number().int().min(1).max(10_000).optional(),
};

/** Characters of code in the editor. They fit into a body. */
const maxEditorChars = 100_000;

/** Code of the editor. `codeOf` is the execution whose code was opened there. */
const editorCode = { code: z.string().min(1).max(maxEditorChars), door };

const saving = {
  execution: z.string().min(1).max(200),
  door,
  name: shortText,
  description: shortText.optional(),
  /** Texts in the code that become inputs, by the names of the inputs. */
  values: texts,
};

export const bodies = {
  session: z.strictObject({ token: z.string().max(200) }),
  /** `reason` belongs to a denial, and `mark` to `always`: the mark of the rule that was shown. */
  decision: z.union([
    z.strictObject({ decision: z.enum(approvalScopes) }),
    z.strictObject({ decision: z.literal("always"), mark: z.string().max(100) }),
    z.strictObject({
      decision: z.enum(["deny", "deny all"]),
      reason: z.string().trim().min(1).max(maxReasonChars).optional(),
    }),
  ]),
  /** Own names of tools, and the state that all of them get. */
  states: z.strictObject({
    tools: z
      .array(z.strictObject({ server: name, tool: name }))
      .min(1)
      .max(maxChangedTools),
    state: z.enum(toolStates),
  }),
  undo: z.strictObject({ undo: z.string().max(100) }),
  /** With `isNew`, a rule is added, and its tool must exist. Without it, an existing rule is changed. */
  rule: z.union([
    z.strictObject({ server: name, tool: name, isNew: z.boolean(), access: z.enum(["allowed", "denied"]) }),
    z.strictObject({ server: name, tool: name, isNew: z.boolean(), confirm: z.enum([...confirmModes, "default"]) }),
  ]),
  door: z.strictObject({
    name,
    servers: names,
    allow: names,
    deny: names,
    ask: names,
    instructions: longText.optional(),
  }),
  /** Null removes the labels from the config. */
  label: z.strictObject({ server: name, tool: name, labels: z.array(z.enum(labels)).nullable() }),
  edit: z.strictObject({
    server: name,
    tool: name,
    name: name.optional(),
    description: longText.optional(),
    reset: z.boolean().optional(),
  }),
  /** The marks of held tools as they were shown, by name. */
  held: z.strictObject({ server: name, tools: z.record(z.string().max(10_000), z.string().max(100)) }),
  server: z.strictObject({ server: name }),
  switch: z.strictObject({ server: name, isOn: z.boolean() }),
  /**
   * `what` is a name of the catalog, an address, a command, the place of a document, or an entry. `values` are variables, or headers of an address.
   * `secrets` are set for the server.
   */
  newServer: z.strictObject({
    kind: z.enum(["catalog", "address", "command", "openapi", "graphql", "entry"]),
    name: z.string().max(200).optional(),
    what: longText,
    /** Whether the keys in a pasted entry become secrets. */
    keysAsSecrets: z.boolean().optional(),
    values: z.record(z.string().max(200), z.string().max(100_000)),
    auth: z.string().min(1).max(100_000).optional(),
    secrets: z.array(z.strictObject({ name: shortName, value: z.string().max(200_000) })).max(100),
  }),
  /** Changes of an entry, each with a key, or with `env` or `headers` and a name. Without a value, the place is removed. */
  entry: z.strictObject({
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
  }),
  /** The value is read once, and is in no answer, error or log. */
  secret: z.strictObject({ name: shortName, value: z.string().max(200_000), inFile: z.boolean() }),
  secretName: z.strictObject({ name: shortName }),
  /** The process of a daemon. */
  stop: z.strictObject({ pid: z.number().int().positive(), now: z.boolean() }),
  /** The mark of the import that was shown. */
  import: z.strictObject({ mark: z.string().max(100), withAgents: z.boolean() }),
  /** A request without parts. */
  empty: z.strictObject({}),
  /** The address that the browser shows at the end of a sign-in, when it could not load it. */
  pasted: z.strictObject({ server: name, address: z.string().max(100_000) }),
  /** `input` has texts as a person writes them, by the names of the inputs. */
  run: z.strictObject({ name, door, input: texts }),
  schedule: z.strictObject({
    name,
    door,
    input: texts,
    cron: shortText,
    zone: shortText.optional(),
    id: shortText.optional(),
  }),
  /** A program or a schedule. */
  named: z.strictObject({ name, door }),
  /** The version of a program that was shown. */
  accept: z.strictObject({ name, door, version: z.number().int().positive() }),
  record: z.strictObject({ name, door, input: texts, as: shortText.optional() }),
  /** The texts are those of the flags of `claudikins programs on`. */
  on: z.strictObject({
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
  }),
  /** The texts are those of the flags of `claudikins programs notify`. */
  notify: z.strictObject({
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
  }),
  retry: z.strictObject({ delivery: z.string().min(1).max(200), door }),
  /** A person who has signed in, by the id. */
  people: z.strictObject({ id: z.string().regex(/^[0-9a-f]{16}$/) }),
  cancel: z.strictObject({ door }),
  again: z.strictObject({ door, dryRun: z.boolean() }),
  editorRun: z.strictObject({
    ...editorCode,
    dryRun: z.boolean(),
    codeOf: z.string().refine(isId).optional(),
  }),
  editorCheck: z.strictObject(editorCode),
  editorTools: z.strictObject({ server: name, door }),
  preview: z.strictObject(saving),
  /** The same with `before` from the answer to the preview. */
  save: z.strictObject({ ...saving, before: z.string().max(200).nullable() }),
};

export type BodyName = keyof typeof bodies;

export type Body<Name extends BodyName> = z.infer<(typeof bodies)[Name]>;
