/** What a check of the doctor gives: what it looked at, how that is, and the command that repairs it. */

import type { Surroundings } from "../agents/supported/model.ts";
import type { ToolCatalog } from "../catalog/tool-catalog.ts";
import type { Config } from "../config/load.ts";
import { ClaudikinsError, type ErrorCode, messageOf, toClaudikinsError } from "../errors.ts";
import type { Log } from "../log.ts";

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

/** A `warning` is what works, and may be other than somebody thinks; a `problem` is what does not work. */
export type FindingState = "ok" | "warning" | "problem";

export interface Finding {
  /** The same in every run and every version: `server.github`, `registry.index`. */
  id: string;
  area: Area;
  state: FindingState;
  /** One line. */
  message: string;
  /** More lines: the last words of a server, each problem of a config. */
  details?: string[];
  /** A command where there is one, else a sentence. */
  repair?: string;
  /** Of a problem: what a command that met it would fail with. */
  code?: ErrorCode;
  /** Of a server that answers. */
  startMs?: number;
  listMs?: number;
  tools?: number;
}

/** The parts that checks of a readable config look at. */
export interface Parts {
  config: Config;
  catalog: ToolCatalog;
}

/** What checks look at. They change nothing in it. */
export interface Scene extends Surroundings {
  /** `--config`. */
  configFlag: string | undefined;
  /** Undefined where the config cannot be read; `configError` says why. */
  toolbox: Parts | undefined;
  configError: ClaudikinsError | undefined;
  /** Where sign-ins are kept. */
  credentialsFile: string;
  /** The working directory of servers that name none. */
  serverFolder: string;
  /** Whether servers may be started. */
  withServers: boolean;
  /** Told of each server that has answered, or has not. */
  onServer?: ((name: string) => void) | undefined;
  signal: AbortSignal;
  log: Log;
}

/** Those that `need` a config are left out where there is none that can be read. */
export type Check =
  | { area: Area; run(scene: Scene): Finding[] | Promise<Finding[]> }
  | { area: Area; runWith(toolbox: Parts, scene: Scene): Finding[] | Promise<Finding[]> };

type Rest = Omit<Partial<Finding>, "area" | "state">;

/** Makes the findings of one area. */
export function findingsOf(area: Area) {
  const make = (state: FindingState) => (id: string, message: string, rest: Rest) => ({
    id,
    area,
    state,
    ...lines(message),
    ...rest,
  });
  const problem = make("problem");
  return {
    ok: (id: string, message: string, rest: Rest = {}): Finding => make("ok")(id, message, rest),
    warning: (id: string, message: string, repair: string, rest: Rest = {}): Finding =>
      make("warning")(id, message, { repair, ...rest }),
    problem: (id: string, message: string, code: ErrorCode, repair: string | undefined, rest: Rest = {}): Finding =>
      problem(id, message, { ...(repair === undefined ? {} : { repair }), code, ...rest }),
    /** An error as it is. */
    failure(id: string, thrown: unknown): Finding {
      const { code, message, hint } = toClaudikinsError(thrown);
      return problem(id, message, { ...(hint === undefined ? {} : { repair: hint }), code });
    },
  };
}

function lines(text: string): Pick<Finding, "message" | "details"> {
  const [message = "", ...details] = text.split("\n");
  return { message, ...(details.length > 0 ? { details: details.map((line) => line.trim()) } : {}) };
}

/** Of the codes that problems have, the one that says most: nothing works without a config, and a sign-in is soon done. */
const worstFirst = [2, 4, 3, 130];

/** 0 where there is no problem. */
export function exitCodeOf(findings: readonly Finding[]): number {
  const codes = findings
    .filter(({ state }) => state === "problem")
    .map(({ code = "UNEXPECTED" }) => new ClaudikinsError(code, "").exitCode);
  return worstFirst.find((code) => codes.includes(code)) ?? codes[0] ?? 0;
}

/** A check that throws says at least that it did. */
export function unchecked(area: Area, thrown: unknown): Finding {
  const { code } = toClaudikinsError(thrown);
  return findingsOf(area).problem(`${area}.check`, `This check failed: ${messageOf(thrown)}`, code, undefined);
}

/** `1 server`, `3 servers`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
