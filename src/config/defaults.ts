/** The default values of the config. They are separate from the schema, so that they can be used without loading zod. */

export const defaultServerTimes = {
  startTimeoutMs: 30_000,
  callTimeoutMs: 60_000,
  idleTimeoutMs: 300_000,
  keepAlive: false,
  maxCallsInFlight: 100,
};

export const defaultLimits = {
  timeoutMs: 30_000,
  cpuMs: 20_000,
  memoryMb: 256,
  stackKb: 256,
  calls: 10_000,
  callsInFlight: 100,
  argumentMb: 8,
  resultMb: 64,
  valueMb: 32,
  logMb: 8,
  outputChars: 40_000,
};

export const defaultExecutions = { keepDays: 7, maxMb: 64, totalMb: 1_024 };

/** What programs may ask of a model, if the config allows it. */
export const defaultAskModel = { calls: 20, maxTokens: 1_000 };

export const defaultCallLog = { keepDays: 90 };

export const defaultApprovals = { wait: true, expireHours: 24 };

/** How `serve` presents the servers to an agent. */
export const modes = ["code", "direct", "auto"] as const;

/** When the names of tools and prompts get their server's name as a prefix, in direct mode. */
export const prefixes = ["never", "on-collision", "always"] as const;
export type Prefix = (typeof prefixes)[number];

/**
 * The data that claudikins records about an execution: `sizes` keeps the calls and their sizes, `contents` also keeps what was sent
 * and received.
 */
export const recordModes = ["sizes", "contents"] as const;
export type RecordMode = (typeof recordModes)[number];

/** How definitions of tools that change are treated, from the least strict to the strictest. */
export const definitionModes = ["trust", "warn", "lock"] as const;
export type DefinitionMode = (typeof definitionModes)[number];

export const defaultDefinitionMode: DefinitionMode = "lock";

/** Sign-in of people, if the config has it. */
export const defaultOidc = {
  groups: "groups",
  /** Clocks of servers are set by the network, so they hardly differ. */
  clockSkewSeconds: 10,
} as const;

/** Okta and Keycloak put the id of a user into both, Entra ID into the claim `oid`. */
export const defaultScim = { attribute: "externalId", claim: "sub", groups: false } as const;

/** The settings of a config that has none. */
export const defaultSettings = {
  extends: "user",
  limits: defaultLimits,
  executions: defaultExecutions,
  check: "error",
  observe: true,
  surfaceLearns: true,
  mode: "code",
  prefix: "on-collision",
  /** Two percent of a context of 200,000 tokens: the size of the definitions of a few small servers. */
  directTokens: 4_000,
  stats: true,
  callLog: defaultCallLog,
  hooks: true,
  logs: true,
  upgradeHint: true,
  executeTask: false,
  askModel: false,
  approvals: defaultApprovals,
  record: "sizes",
} as const;
