/**
 * The schema of `claudikins.json`. Entries of `mcpServers` have the format that all MCP clients use, so that they can be pasted.
 */

import { z } from "zod";
import { isObject } from "../base/json-object.ts";
import { dayMs } from "../base/units.ts";
import {
  addressKeys,
  addressProblem,
  headerName,
  headerValue,
  type NetworkTransport,
  networkTypes,
  registryProblem,
  transportOf,
} from "./address.ts";
import { approvalNoticeFields, approvalNoticeSchema } from "./approval-notice.ts";
import { boxKeys, boxSchema, noBox } from "./box-schema.ts";
import {
  defaultApprovals,
  defaultAskModel,
  defaultCallLog,
  defaultExecutions,
  defaultLimits,
  defaultServerTimes,
  defaultSettings,
  definitionModes,
  modes,
  prefixes,
  recordModes,
} from "./defaults.ts";
import { doorFields, doorsSchema } from "./doors-schema.ts";
import { maxRegistries, maxRegistryTimeoutMs, maxTimeoutMs } from "./limits.ts";
import { limitsSchema, megabytes, quotaKeys, quotasSchema, serverQuotasSchema, timeoutMs } from "./limits-schema.ts";
import { type LlmEntry, presetNames } from "./llm.ts";
import type { AskModel } from "./model-server.ts";
import { type OAuthEntry, oauthKeys, signInOf, signInSchemas } from "./oauth.ts";
import { wholeConfig } from "./oidc.ts";
import {
  authFields,
  authSchema,
  credentialFields,
  exchangeKeys,
  introspectionKeys,
  oidcKeys,
  scimKeys,
} from "./oidc-schema.ts";
import { type Confirm, commonKeys, type Labels } from "./policy.ts";
import { policyKey, policySchema } from "./policy-schema.ts";
import { sourceFields } from "./source-schema.ts";
import { type SourceKeys, type SourceKind, sourceUrl } from "./sources.ts";
import { telemetryFields, telemetrySchema } from "./telemetry-schema.ts";
import { argumentFields, toolFields, toolsSchema } from "./tools-schema.ts";

/** The longest idle time of a server. `keepAlive` is for servers that must run longer. */
const maxIdleTimeoutMs = dayMs;

/** Requests of one program to a model that a config may allow. */
const maxModelCalls = 10_000;

/** Tokens of one answer of a model that a config may allow. */
const maxAnswerTokens = 100_000;

const textWithout = (problemOf: (text: string) => string | undefined) =>
  z.string().superRefine((text, context) => {
    const message = problemOf(text);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });

/** A name of a variable, or a pattern of names. */
const inheritable = /^[\w*().]+$/;

/** The keys of every server, for all transports. */
const anyServer = {
  /** A disabled server is neither started nor shown. */
  disabled: z.boolean().default(false),
  /** The folder of the registry for the server's tools. */
  category: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]*$/, "use lower-case letters, digits and dashes")
    .optional(),
  description: z.string().optional(),
  /** The account that the entry is for, in the user's words. It tells entries of the same server apart. */
  account: z
    .string()
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u, "use one line of at most 64 characters")
    .optional(),
  /** Time to start and answer `initialize`. */
  startTimeoutMs: timeoutMs.default(defaultServerTimes.startTimeoutMs),
  /**
   * Time limit of one tool call. If the caller listens to progress, each progress notification restarts it. It pauses while the
   * server waits for a person or a model (elicitation, sampling), as does the time limit of an execution.
   */
  callTimeoutMs: timeoutMs.default(defaultServerTimes.callTimeoutMs),
  /** Time after the last call until the connection is closed. The next call opens it again. */
  idleTimeoutMs: z.int().min(1).max(maxIdleTimeoutMs).default(defaultServerTimes.idleTimeoutMs),
  /** `shared`: one process of the server for all sessions. `private`: one for each session of an agent. For the default, see catalog/session-of.ts. */
  session: z.enum(["shared", "private"]).optional(),
  /** How the server's changed definitions of tools are treated. Default: as the config says for all servers. */
  definitions: z.enum(definitionModes).optional(),
  /** Keeps the connection open when the server is idle. */
  keepAlive: z.boolean().default(defaultServerTimes.keepAlive),
  /** Maximum concurrent calls of all executions together. Further calls wait. */
  maxCallsInFlight: z.int().min(1).max(1_000).default(defaultServerTimes.maxCallsInFlight),
  ...credentialFields,
  /** Quotas for all programs together, for this server. */
  quotas: serverQuotasSchema,
  /** Patterns of tool names, in which `*` matches any text. If given, no other tool of the server can be called. */
  allow: policyKey<string[]>("allow"),
  /**
   * Patterns of tools that cannot be called, even if another rule allows them. `"*"` also denies the server's resources and
   * prompts.
   */
  deny: policyKey<string[]>("deny"),
  /** The tools that need a person's consent: `never`, `destructive` or `always`, for all tools or by tool name. */
  confirm: policyKey<Confirm>("confirm"),
  /** The labels of the tools' data: `untrusted`, `private` or `public`, for all tools or by tool name. */
  labels: policyKey<Labels>("labels"),
};

/** A server that is a program on this machine. */
export const stdioSchema = z.object({
  /** Some agents write `local`. */
  type: z.enum(["stdio", "local"]).optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  /**
   * Variables of the environment that the program gets besides `PATH`, `HOME` and their like: names, in which `*` matches any text. Or
   * `minimal`: only the user, folders, languages, proxies and certificates.
   */
  inherit: z
    .union([
      z.literal("minimal"),
      z.array(z.string().regex(inheritable, "use names of variables, in which * matches any text")),
    ])
    .optional(),
  /** Relative paths are resolved against the config file. */
  cwd: z.string().min(1).optional(),
  /** What the program may read, write and reach. `true`: only itself. Without it, it has all rights of the user. */
  sandbox: boxSchema.optional(),
  ...anyServer,
});

const headers = z.record(
  z.string().regex(headerName, "not a valid header name"),
  z.string().regex(headerValue, "must be one line"),
);

/** The texts of an object that is not ours. */
const textsOf = z.preprocess(
  (value) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).filter(([, each]) => typeof each === "string"))
      : undefined,
  z.record(z.string(), z.string()).optional(),
);

/** The schema of a server on the network, whose address is in `addressKey`. The second parameter is the unchecked entry. */
export const networkSchema = (addressKey: string, { type, oauth, auth }: RawEntry): z.ZodType<NetworkEntry> =>
  z
    .object({
      ...anyServer,
      ...signInSchemas(oauth, auth),
      type: z.enum(Object.keys(networkTypes)).optional(),
      headers: headers.default({}),
      headersHelper: z.string().min(1).optional(),
      cwd: z.string().min(1).optional(),
      env: textsOf,
      sandbox: noBox,
      [addressKey]: textWithout((url) => addressProblem(url, transportOf(type, url))),
    })
    .transform((entry): NetworkEntry => {
      const {
        type: _,
        oauth,
        auth,
        cwd,
        sandbox: __,
        [addressKey]: address,
        ...rest
      } = entry as typeof entry & Record<string, unknown>;
      const url = String(address);
      const signIn = signInOf(oauth, auth);
      const more = {
        ...(signIn === undefined ? {} : { oauth: signIn }),
        // Without a helper, nothing runs in the folder.
        ...(cwd === undefined || rest.headersHelper === undefined ? {} : { cwd }),
      };
      return { ...rest, ...more, url, transport: transportOf(type, url) } as NetworkEntry;
    });

/** The schema of a source. Its keys besides its own are the keys of a server on the network. */
export const sourceSchema = (kind: SourceKind, { oauth }: RawEntry): z.ZodType<NetworkEntry> =>
  z
    .object({
      ...anyServer,
      ...signInSchemas(oauth, undefined),
      type: z.literal(kind).optional(),
      headers: headers.default({}),
      headersHelper: z.string().min(1).optional(),
      cwd: z.string().min(1).optional(),
      sandbox: noBox,
      ...sourceFields[kind],
    })
    .transform((entry): NetworkEntry => {
      const { type: _, cwd, sandbox: __, ...rest } = entry;
      const folder = cwd === undefined || rest.headersHelper === undefined ? {} : { cwd };
      return { ...rest, ...folder, url: sourceUrl(kind, rest), transport: kind } as NetworkEntry;
    });

/** Unchecked values of an entry that decide how the rest of it is read. */
interface RawEntry {
  type?: unknown;
  oauth?: unknown;
  auth?: unknown;
}

/** Programs whose outcome an agent or a person asks for later. */
const executionsSchema = z.object({
  /**
   * Time after which `execute_code` answers with the id of a program that is not done. `false`: it waits for the outcome. The default
   * depends on the agent.
   */
  answerAfterMs: z.union([z.literal(false), z.int().min(100).max(maxTimeoutMs)]).optional(),
  /** Days that outcomes and abandoned programs are kept. */
  keepDays: z.int().min(1).max(365).default(defaultExecutions.keepDays),
  /** Size of a program that is saved. A larger one ends with its process. */
  maxMb: megabytes.default(defaultExecutions.maxMb),
  /** Size of everything in the database. Beyond it, no program is saved. */
  totalMb: z.int().min(16).max(65_536).default(defaultExecutions.totalMb),
});

/** Calls that need the user's consent while the user is away. */
const approvalsSchema = z.object({
  /** Whether a program waits for a decision, wherever it is made. Otherwise, the call fails if the user cannot be asked. */
  wait: z.boolean().default(defaultApprovals.wait),
  /** Time after which the call fails without a decision. */
  expireHours: z.number().min(0.01).max(720).default(defaultApprovals.expireHours),
  /** The address that gets a message about it. */
  notify: approvalNoticeSchema.optional(),
});

/** The call log, which has no contents. */
const callLogSchema = z.object({
  /** Days that calls are kept. 0: none is written. */
  keepDays: z.int().min(0).max(3_650).default(defaultCallLog.keepDays),
});

const llmFields = {
  preset: z.enum(presetNames).optional(),
  /** The base URL of `/chat/completions`. It replaces the address of the preset. */
  baseUrl: textWithout((url) => addressProblem(url, "http")).optional(),
  /** A secret, such as `${VARIABLE}`. The default for a preset is its usual variable. */
  apiKey: z.string().min(1).optional(),
  model: z.string().min(1).optional(),
  /** Time limit of one request. */
  timeoutMs: timeoutMs.optional(),
  headers: headers.optional(),
};

/** The small model that executes tasks, at any endpoint that is compatible with OpenAI's Chat Completions API. */
const llmSchema: z.ZodType<LlmEntry> = z.object(llmFields).superRefine(({ preset, baseUrl, model }, context) => {
  if (preset !== undefined) return;
  if (baseUrl === undefined) {
    context.addIssue({ code: "custom", message: `needs "preset" (${presetNames.join(", ")}) or "baseUrl"` });
  } else if (model === undefined) {
    context.addIssue({ code: "custom", path: ["model"], message: "missing, expected a model name" });
  }
});

const askModelFields = {
  /** Requests of one program, with the programs that it calls. */
  calls: z.int().min(1).max(maxModelCalls).default(defaultAskModel.calls),
  /** Tokens of one answer. */
  maxTokens: z.int().min(1).max(maxAnswerTokens).default(defaultAskModel.maxTokens),
};

const askModelSchema = z
  .union([z.boolean(), z.object(askModelFields)])
  .transform((value): AskModel | false => (value === true ? defaultAskModel : value))
  .default(defaultSettings.askModel);

/** Where `claudikins add` finds servers. Only the user's own config is asked for it: see `setup/registries/registries.ts`. */
const registryFields = {
  /** `official`, or the part of the address before `/v0.1/servers`. */
  url: textWithout(registryProblem),
  headers: headers.optional(),
  /** Time limit of all requests of one command. */
  timeoutMs: z.int().min(1).max(maxRegistryTimeoutMs).optional(),
};

/** An address alone is short for an object. */
const registrySchema = z.preprocess(
  (entry) => (typeof entry === "string" ? { url: entry } : entry),
  z.object(registryFields),
);

const configFields = {
  /** Each entry is checked separately, with `stdioSchema` or `networkSchema`. */
  mcpServers: z.looseObject({}).optional(),
  /** In a project's config: whether the servers of the user's own config are used as well. */
  extends: z.literal(["user", false]).default(defaultSettings.extends),
  /** The sandbox of entries with a command that have no `sandbox` of their own. */
  sandbox: boxSchema.optional(),
  registry: z.string().min(1).optional(),
  workspace: z.string().min(1).optional(),
  /** How a call that is certainly wrong is treated: the program is refused, a warning is logged, or nothing is checked. */
  check: z.enum(["error", "warn", "off"]).default(defaultSettings.check),
  limits: limitsSchema.default(defaultLimits),
  /**
   * How definitions of tools that change after they were accepted are treated. `lock`: the tools are held until a person has seen the
   * change. `warn`: a line is logged. `trust`: nothing is checked. The default is `lock`.
   */
  definitions: z.enum(definitionModes).optional(),
  /** Quotas for all programs and calls together. */
  quotas: quotasSchema,
  executions: executionsSchema.default(defaultExecutions),
  /** Whether the shapes of results are kept, for tools without an output schema. */
  observe: z.boolean().default(defaultSettings.observe),
  /**
   * Maximum tokens of the tools and the instructions of `serve`. The tools alone take about 300. Instructions are never longer than
   * agents read.
   */
  surfaceTokens: z.int().min(400).max(2_000).optional(),
  /** Whether the instructions of `serve` show how to call the tools that programs called most. It needs `stats`. */
  surfaceLearns: z.boolean().default(defaultSettings.surfaceLearns),
  /**
   * `code`: agents of `serve` get search_tools and execute_code. `direct`: they get the servers' own tools. `auto`: direct if these
   * are few.
   */
  mode: z.enum(modes).default(defaultSettings.mode),
  /** In direct mode. */
  prefix: z.enum(prefixes).default(defaultSettings.prefix),
  /** `auto` means direct mode if the definitions of all tools take at most this number of tokens. */
  directTokens: z.int().min(0).max(1_000_000).default(defaultSettings.directTokens),
  /** Whether calls and characters are counted for `claudikins stats`. */
  stats: z.boolean().default(defaultSettings.stats),
  callLog: callLogSchema.default(defaultCallLog),
  /** Whether the uses of the texts that lead agents to the registry are counted. */
  hooks: z.boolean().default(defaultSettings.hooks),
  /** Whether the stderr of servers, their starts and their ends are kept for `claudikins logs`. */
  logs: z.boolean().default(defaultSettings.logs),
  /** Whether commands at a terminal name a newer version of claudikins. Only the user's own config counts. */
  upgradeHint: z.boolean().default(defaultSettings.upgradeHint),
  llm: llmSchema.optional(),
  /** Whether agents of `serve` get the tool `execute_task`. It needs a model: `llm`, or else the agent's own. */
  executeTask: z.boolean().default(defaultSettings.executeTask),
  /** Whether programs may ask a model: `llm`, or else the agent's own. */
  askModel: askModelSchema,
  /** The registries that `claudikins add` asks for servers, in this order. An empty list turns registries off. */
  registries: z.array(registrySchema).max(maxRegistries).optional(),
  approvals: approvalsSchema.default(defaultApprovals),
  /**
   * The data that `claudikins executions` has: `sizes` keeps the calls and their sizes, `contents` also keeps what was sent and
   * received.
   */
  record: z
    .union([z.boolean(), z.enum(recordModes)])
    .transform((value) => (value === true ? "contents" : value))
    .default(defaultSettings.record),
  /** The receivers of telemetry, and what each of them gets. */
  telemetry: telemetrySchema.optional(),
};

/** `servers` are the names of all servers. */
export const configSchema = (servers: readonly string[]) =>
  z
    .object({
      ...configFields,
      policy: policySchema(servers),
      /** How agents see tools, by `server.tool`. */
      tools: toolsSchema(servers),
      doors: doorsSchema(servers),
      /** How people sign in to `serve --http`. */
      auth: authSchema,
    })
    .superRefine(({ doors = {}, auth }, context) => {
      const known = [wholeConfig, ...Object.keys(doors)];
      for (const door of Object.keys(auth?.oidc?.doors ?? {})) {
        if (known.includes(door)) continue;
        const message = `the config has no door "${door}". Expected one of: ${known.join(", ")}`;
        context.addIssue({ code: "custom", path: ["auth", "oidc", "doors", door], message });
      }
    });

export type StdioEntry = z.infer<typeof stdioSchema> & { url?: undefined };
export type NetworkEntry = z.infer<z.ZodObject<typeof anyServer>> &
  SourceKeys & {
    command?: undefined;
    sandbox?: undefined;
    /** For a source, this is the address of the API, or else the place of its document. */
    url: string;
    headers: Record<string, string>;
    /** A line for the shell that prints headers as a JSON object. The shell fills in its variables. */
    headersHelper?: string | undefined;
    /** The folder in which the helper runs. A relative path is resolved against the config file. */
    cwd?: string | undefined;
    transport: NetworkTransport;
    /** Values for variables in the address and the headers, which some hosts keep here. */
    env?: Record<string, string> | undefined;
    /** `false`: claudikins does not sign in to the server. */
    oauth?: false | OAuthEntry | undefined;
  };
/** A stdio entry has a `command`, a network entry has a `url`. */
export type ServerEntry = StdioEntry | NetworkEntry;
export type RegistryEntry = z.infer<typeof registrySchema>;
export type LimitsEntry = z.infer<typeof limitsSchema>;

const sourceKeys = new Set(Object.values(sourceFields).flatMap((fields) => Object.keys(fields)));

/** The known keys of each level. A key that resembles one of them is reported as misspelt. */
export const knownKeys = {
  config: ["$schema", ...Object.keys(configFields), "policy", "tools", "doors", "auth"],
  server: [...Object.keys(stdioSchema.shape), "headers", "headersHelper", "oauth", ...addressKeys, ...sourceKeys],
  oauth: oauthKeys,
  exchange: exchangeKeys,
  limits: Object.keys(limitsSchema.shape),
  executions: Object.keys(executionsSchema.shape),
  approvals: Object.keys(approvalsSchema.shape),
  approvalNotice: Object.keys(approvalNoticeFields),
  callLog: Object.keys(callLogSchema.shape),
  policy: [...commonKeys],
  tool: Object.keys(toolFields),
  argument: Object.keys(argumentFields),
  door: Object.keys(doorFields),
  quotas: quotaKeys,
  sandbox: boxKeys,
  auth: Object.keys(authFields),
  oidc: oidcKeys,
  introspection: introspectionKeys,
  scim: scimKeys,
  llm: Object.keys(llmFields),
  askModel: Object.keys(askModelFields),
  registries: Object.keys(registryFields),
  telemetry: Object.keys(telemetryFields),
};

/** Keys that other agents use. They resemble our keys, but must not be reported as misspelt. */
export const foreignKeys = ["auth", "cmd", "comment", "startup_timeout_sec"];
