/** The findings of doctor. A finding has a state, a message and a repair. */

import { ClaudikinsError, type ErrorCode, toClaudikinsError } from "../../base/errors.ts";
import { about, errorCode, named, number, oneOf, record, text, texts, type ValueOf } from "../../base/json-shape.ts";
import type { Log } from "../../base/log.ts";
import type { Config } from "../../config/load.ts";
import type { AgentSurroundings } from "../../setup/agents/supported/model.ts";
import type { ToolCatalog } from "../../tools/catalog/tool-catalog.ts";

/** In the order in which they are shown. */
export const areas = [
  "executable",
  "config",
  "servers",
  "sign-ins",
  "folders",
  "registry",
  "hosts",
  "skills",
  "daemon",
] as const;

export type Area = (typeof areas)[number];

const stateShape = oneOf("ok", "warning", "problem");
export type FindingState = ValueOf<typeof stateShape>;

export const findingShape = named(
  "Finding",
  record({
    id: about("Stable across runs and versions", text),
    area: oneOf(...areas),
    state: about("With a warning, things still work; with a problem, something does not", stateShape),
    message: about("One line", text),
    "details?": about("More lines, such as the last output of a server or each problem of a config", texts),
    "repair?": about("A command if there is one, else a sentence", text),
    "code?": about("For a problem: the code of the error that a command would report", errorCode),
    "startMs?": about("The time that the server needed to start", number),
    "listMs?": number,
    "tools?": number,
    "sandbox?": about("What confines the server", text),
    "protocol?": about("The revision of MCP that the server speaks", text),
    "version?": about("The server's own version", text),
  }),
);
export type Finding = ValueOf<typeof findingShape>;

/** The parts that checks need, if the config can be read. */
export interface CheckParts {
  config: Config;
  catalog: ToolCatalog;
}

/** The context of the checks. */
export interface CheckContext extends AgentSurroundings {
  /** `--config`. */
  configFlag: string | undefined;
  /** Undefined if the config cannot be read; `configError` has the reason. */
  app: CheckParts | undefined;
  configError: ClaudikinsError | undefined;
  /** The file of tokens. */
  credentialsFile: string;
  /** The default working directory of servers. */
  serverFolder: string;
  /** Whether servers may be started. */
  withServers: boolean;
  /** Called for each server that has answered or failed. */
  onServer?: ((name: string) => void) | undefined;
  signal: AbortSignal;
  log: Log;
}

type More = Omit<Partial<Finding>, "area" | "state">;

/** Makes the findings of one area. The first line of a text is the message, the others are details. */
export function findingsOf(area: Area) {
  function make(state: FindingState, id: string, text: string, more: More): Finding {
    const [message = "", ...lines] = text.split("\n");
    const details = lines.map((line) => line.trim());
    return { id, area, state, message, ...(details.length > 0 ? { details } : {}), ...more };
  }
  function problem(id: string, text: string, code: ErrorCode, repair: string | undefined, more: More = {}): Finding {
    return make("problem", id, text, { ...(repair === undefined ? {} : { repair }), code, ...more });
  }
  return {
    ok: (id: string, text: string, more: More = {}) => make("ok", id, text, more),
    /** Without a repair, the details say what to look at. */
    warning: (id: string, text: string, repair: string | undefined, more: More = {}) =>
      make("warning", id, text, { ...(repair === undefined ? {} : { repair }), ...more }),
    problem,
    /** A problem with the message, code and hint of an error. */
    failure(id: string, thrown: unknown): Finding {
      const { code, message, hint } = toClaudikinsError(thrown);
      return problem(id, message, code, hint);
    },
  };
}

/** Exit codes, the most serious first: nothing works without a config, and a sign-in is easy to fix. */
const worstFirst = [2, 4, 3, 130];

/** The exit code of the most serious problem; 0 without problems. */
export function exitCodeOf(findings: readonly Finding[]): number {
  const codes = findings
    .filter(({ state }) => state === "problem")
    .map(({ code = "UNEXPECTED" }) => new ClaudikinsError(code, "").exitCode);
  return worstFirst.find((code) => codes.includes(code)) ?? codes[0] ?? 0;
}
