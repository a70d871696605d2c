/** The figures on the page: `GET api/figures?days=30`, or `days=all`. */

export interface PageFigures {
  /** Days including today; null for all. */
  days: number | null;
  /** Oldest first, including days without calls. Older ones are months and years. */
  periods: { period: string; calls: number; failures: number; denied: number; durationMs: number; keptOut: number }[];
  total: PageTotal;
  tools: PageUseFigures[];
  servers: PageUseFigures[];
  agents: PageCallerFigures[];
  doors: PageCallerFigures[];
  people: PageCallerFigures[];
  programs: PageCallerFigures[];
  /** The last day or period with calls before the chosen time. Undefined if there are calls in it, or none at all. */
  lastBefore?: string | undefined;
  problems: string[];
}

/** Denied calls are no failures. */
export interface PageTotal {
  sessions: number;
  executions: number;
  shellExecutions: number;
  searches: number;
  calls: number;
  failures: number;
  denied: number;
  durationMs: number;
  keptOut: number;
  /** Tokens without claudikins. */
  without: number;
}

/** One tool, or one server without `tool`. The counts are those of the ledger, and the percentiles those of the call log. */
export interface PageUseFigures {
  server: string;
  tool?: string | undefined;
  calls: number;
  failures: number;
  denied: number;
  durationMs: number;
  /** Tokens of results that went to code instead of a context. */
  takenTokens: number;
  /** Null if the call log has no such calls. */
  p50Ms: number | null;
  p95Ms: number | null;
}

/** One agent, door, person or program, from the call log. */
export interface PageCallerFigures {
  /** Null for calls without one. */
  name: string | null;
  calls: number;
  failures: number;
  denied: number;
  executions: number;
  roundTrips: number;
  durationMs: number;
  p50Ms: number | null;
  p95Ms: number | null;
}
