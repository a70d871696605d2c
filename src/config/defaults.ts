/** What holds where a config says nothing. Apart from the schema, so that it costs nothing to know. */

/** Setting a limit higher than this is refused: an execution is not a place to live. */
export const maxTimeoutMs = 600_000;

/** A server may be left running for a day at most without being called; `keepAlive` is for longer. */
export const maxIdleTimeoutMs = 86_400_000;

/** Of all that a host loads of `serve`: both tools and the instructions. */
export const defaultSurfaceTokens = 600;

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

/** How `serve` shows the servers to a host. */
export const modes = ["code", "direct", "auto"] as const;
export type Mode = (typeof modes)[number];

/** When the names of tools and prompts begin with their server's, where hosts see them as they are. */
export const prefixes = ["never", "on-collision", "always"] as const;
export type Prefix = (typeof prefixes)[number];

/** What is kept of executions: their calls and how large these were, or the contents too. */
export const recordModes = ["sizes", "contents"] as const;
export type RecordMode = (typeof recordModes)[number];

export const defaultRecord: RecordMode = "sizes";

/** Of a context of 200,000 tokens it is a fiftieth: what the definitions of a few small servers take. */
const directTokens = 4_000;

export const defaultServe: { mode: Mode; prefix: Prefix; directTokens: number } = {
  mode: "code",
  prefix: "on-collision",
  directTokens,
};
