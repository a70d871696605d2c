/** The shape of `claudikins.json`. Entries of `mcpServers` are what every MCP host uses, so that one can be pasted in. */

import { z } from "zod";
import { isObject } from "../json-object.ts";
import {
  addressKeys,
  addressProblem,
  headerName,
  headerValue,
  type NetworkTransport,
  networkTypes,
  transportOf,
} from "./address.ts";
import {
  defaultLimits,
  defaultRecord,
  defaultServe,
  defaultServerTimes,
  defaultSurfaceTokens,
  maxIdleTimeoutMs,
  maxTimeoutMs,
  modes,
  prefixes,
  recordModes,
} from "./defaults.ts";
import { type LlmEntry, presetNames } from "./llm.ts";
import { type OAuthEntry, oauthKeys, signInOf, signInSchemas } from "./oauth.ts";
import { type Confirm, type PolicyKeys, policyKeys, policyProblems } from "./policy.ts";

const megabytes = z.number().min(0.001).max(512);

const timeoutMs = z.int().min(1).max(maxTimeoutMs);

/** One of the keys that say which tools may be called. */
const policyKey = <T>(key: (typeof policyKeys)[number]) =>
  z
    .custom<T>()
    .superRefine((value, context) => {
      for (const { path, text } of policyProblems({ [key]: value })) {
        context.addIssue({ code: "custom", path: path.slice(1), message: text });
      }
    })
    .optional();

/** What every server may have, however it is reached. */
const anyServer = {
  /** Not started and not shown, but kept in the file. */
  disabled: z.boolean().default(false),
  /** The folder of the registry that the server's tools are written to. */
  category: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]*$/, "use lower-case letters, digits and dashes")
    .optional(),
  description: z.string().optional(),
  /** Time to start and answer `initialize`. */
  startTimeoutMs: timeoutMs.default(defaultServerTimes.startTimeoutMs),
  /**
   * Time for one tool call; where somebody listens, since its server last said how far it is. It stands still, as an
   * execution's does, while the server waits for an answer to a sampling or an elicitation.
   */
  callTimeoutMs: timeoutMs.default(defaultServerTimes.callTimeoutMs),
  /** Time after the last call until the connection is ended; the next call opens it again. */
  idleTimeoutMs: z.int().min(1).max(maxIdleTimeoutMs).default(defaultServerTimes.idleTimeoutMs),
  /** Whether one process of it serves all, or each session of a host has its own: `shared` where it is not said. */
  session: z.enum(["shared", "private"]).optional(),
  /** Never ended for want of calls. */
  keepAlive: z.boolean().default(defaultServerTimes.keepAlive),
  /** Of all executions together; more wait. */
  maxCallsInFlight: z.int().min(1).max(1_000).default(defaultServerTimes.maxCallsInFlight),
  /** Names of tools, in which `*` is any text: where it is given, no other tool of the server can be called. */
  allow: policyKey<string[]>("allow"),
  /** Names of tools that can not be called, whatever else allows them. With `"*"` the server is closed, its resources and prompts too. */
  deny: policyKey<string[]>("deny"),
  /** Which tools are only called when a person has said yes: `never`, `destructive`, `always`, or these by names of tools. */
  confirm: policyKey<Confirm>("confirm"),
};

/** A server that is a program of this machine. */
export const stdioSchema = z.object({
  /** `local` is what some hosts write for it. */
  type: z.enum(["stdio", "local"]).optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  /** Relative paths count from the config file. */
  cwd: z.string().min(1).optional(),
  ...anyServer,
});

const headers = z.record(
  z.string().regex(headerName, "not a valid header name"),
  z.string().regex(headerValue, "must be one line"),
);

/** A server that is reached over the network, by the address under `addressKey`; `raw` is what the entry has as such. */
export const networkSchema = (addressKey: string, { type, oauth, auth }: RawEntry): z.ZodType<NetworkEntry> =>
  z
    .object({
      ...anyServer,
      ...signInSchemas(oauth, auth),
      type: z.enum(Object.keys(networkTypes)).optional(),
      headers: headers.default({}),
      [addressKey]: z.string().superRefine((url, context) => {
        const message = addressProblem(url, transportOf(type, url));
        if (message !== undefined) context.addIssue({ code: "custom", message });
      }),
    })
    .transform((entry): NetworkEntry => {
      const { type: _, oauth, auth, [addressKey]: address, ...rest } = entry as typeof entry & Record<string, unknown>;
      const url = String(address);
      const signIn = signInOf(oauth, auth);
      const more = signIn === undefined ? {} : { oauth: signIn };
      return { ...rest, ...more, url, transport: transportOf(type, url) } as NetworkEntry;
    });

/** Values of an entry by which is decided how the rest of it is read. */
export interface RawEntry {
  type?: unknown;
  oauth?: unknown;
  auth?: unknown;
}

export const limitsSchema = z.object({
  /** Wall-clock time of one execution. */
  timeoutMs: timeoutMs.default(defaultLimits.timeoutMs),
  /** Time in which the code itself runs. */
  cpuMs: timeoutMs.default(defaultLimits.cpuMs),
  /** Memory of the code that runs, the engine included. */
  memoryMb: z.int().min(16).max(2048).default(defaultLimits.memoryMb),
  /** What nested calls may take. */
  stackKb: z.int().min(32).max(256).default(defaultLimits.stackKb),
  /** Tool calls of one execution. */
  calls: z.int().min(1).max(1_000_000).default(defaultLimits.calls),
  /** Of these, how many run together; more wait. */
  callsInFlight: z.int().min(1).max(1_000).default(defaultLimits.callsInFlight),
  /** The arguments of one call. */
  argumentMb: megabytes.default(defaultLimits.argumentMb),
  /** The result of one call. */
  resultMb: megabytes.default(defaultLimits.resultMb),
  /** The returned value, and all that is displayed. */
  valueMb: megabytes.default(defaultLimits.valueMb),
  /** Log lines; of more, the beginning and the end are kept. */
  logMb: megabytes.default(defaultLimits.logMb),
  /** Characters of one answer that the agent is shown; the whole of a longer one is written to the workspace. */
  outputChars: z.int().min(1_000).max(1_000_000).default(defaultLimits.outputChars),
});

const llmFields = {
  preset: z.enum(presetNames).optional(),
  /** Where `/chat/completions` is; in the place of the preset's. */
  baseUrl: z
    .string()
    .superRefine((url, context) => {
      const message = addressProblem(url, "http");
      if (message !== undefined) context.addIssue({ code: "custom", message });
    })
    .optional(),
  /** A secret: `${VARIABLE}`. Where it is not given, a preset takes the variable that is usual for it. */
  apiKey: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  /** Of one request. */
  timeoutMs: timeoutMs.optional(),
  headers: headers.optional(),
};

/** The small model that executes tasks, at any endpoint that is compatible with OpenAI's chat completions. */
const llmSchema: z.ZodType<LlmEntry> = z.object(llmFields).superRefine(({ preset, baseUrl, model }, context) => {
  if (preset !== undefined) return;
  if (baseUrl === undefined) {
    context.addIssue({ code: "custom", message: `needs "preset" (${presetNames.join(", ")}) or "baseUrl"` });
  } else if (model === undefined) {
    context.addIssue({ code: "custom", path: ["model"], message: "missing, expected a model name" });
  }
});

/** The same for tools of all servers: names are `server.tool`, as in `github.delete_*` and `*.delete_*`. */
const policySchema = (servers: readonly string[]) =>
  z
    .custom<PolicyKeys>()
    .superRefine((value, context) => {
      if (!isObject(value)) return context.addIssue({ code: "custom", message: "expected an object" });
      for (const { path, text } of policyProblems({ ...value }, servers)) {
        context.addIssue({ code: "custom", path, message: text });
      }
    })
    .optional();

const configFields = {
  /** Each entry is checked by itself, by `stdioSchema` or `networkSchema`. */
  mcpServers: z.looseObject({}).optional(),
  registry: z.string().min(1).optional(),
  workspace: z.string().min(1).optional(),
  /** What happens to code in which a call is certainly wrong. */
  check: z.enum(["error", "warn", "off"]).default("error"),
  limits: limitsSchema.default(defaultLimits),
  /** Whether the shapes of results are kept, of tools whose server does not say what they give. */
  observe: z.boolean().default(true),
  /** Of both tools and the instructions of `serve`; the tools alone take some 300, and instructions are never longer than hosts read. */
  surfaceTokens: z.int().min(400).max(2_000).default(defaultSurfaceTokens),
  /** Whether hosts of `serve` get search_tools and execute_code, or the servers' own tools; `auto`: these while they are few. */
  mode: z.enum(modes).default(defaultServe.mode),
  /** In direct mode. */
  prefix: z.enum(prefixes).default(defaultServe.prefix),
  /** `auto` is direct while the definitions of all tools take so many tokens at most. */
  directTokens: z.int().min(0).max(1_000_000).default(defaultServe.directTokens),
  /** Whether calls and characters are counted for `claudikins stats`. */
  stats: z.boolean().default(true),
  /** Whether it is counted, too, what leads agents to the registry. */
  hooks: z.boolean().default(true),
  /** Whether what servers write on stderr is kept for `claudikins logs`, with their starts and ends. */
  logs: z.boolean().default(true),
  llm: llmSchema.optional(),
  /** Whether hosts of `serve` get the tool `execute_task`, where there is a model for it: the `llm`, else the host's own. */
  executeTask: z.boolean().default(false),
  /** What is kept of executions for `claudikins trace`: their calls and how large these were, or what was said as well. */
  record: z
    .union([z.boolean(), z.enum(recordModes)])
    .transform((value) => (value === true ? "contents" : value))
    .default(defaultRecord),
};

/** `servers` are the names of all of them. */
export const configSchema = (servers: readonly string[]) =>
  z.object({ ...configFields, policy: policySchema(servers) });

export type StdioEntry = z.infer<typeof stdioSchema> & { url?: undefined };
export type NetworkEntry = z.infer<z.ZodObject<typeof anyServer>> & {
  command?: undefined;
  url: string;
  headers: Record<string, string>;
  transport: NetworkTransport;
  /** `false`: claudikins does not sign in to it. */
  oauth?: false | OAuthEntry | undefined;
};
/** The one has a `command`, the other a `url`. */
export type ServerEntry = StdioEntry | NetworkEntry;
export type Limits = z.infer<typeof limitsSchema>;

/** The keys of each level, for telling a misspelt key from a foreign one. */
export const knownKeys = {
  config: ["$schema", ...Object.keys(configFields), "policy"],
  server: [...Object.keys(stdioSchema.shape), "headers", "oauth", ...addressKeys],
  oauth: oauthKeys,
  limits: Object.keys(limitsSchema.shape),
  policy: [...policyKeys],
  llm: Object.keys(llmFields),
};

/** Keys of other hosts that look like a misspelling of ours and are none. */
export const foreignKeys = ["auth", "cmd", "comment", "startup_timeout_sec"];
