/** What the check of a saved program is given, and what it finds. */
import type { JsonObject } from "../../base/json-object.ts";

/** A tool as its server defines it now. */
export interface CurrentTool {
  name: string;
  jsName?: string | undefined;
  /** Left out for tools that the program may not call. */
  inputSchema?: JsonObject | undefined;
  outputSchema?: JsonObject | undefined;
  /** The shape of the results that were seen since its arguments have changed, if it declares none. */
  observed?: JsonObject | undefined;
  /** It is not called until a person has accepted its new definition. */
  isHeld?: true | undefined;
}

export interface CurrentServer {
  jsName?: string | undefined;
  tools: CurrentTool[];
}

/** By the names of the servers. Null if the config has no such server. Servers whose tools are not known are missing. */
export type CurrentServers = Record<string, CurrentServer | null>;

/** Shapes of results that were seen now, as JSON Schemas, by `server.tool`. */
export type SeenShapes = Record<string, JsonObject>;

/** Why a program would break. */
export interface Reason {
  /** `demo.list_orders`. Undefined if the program itself does something else. */
  tool?: string | undefined;
  /** The line of the call. */
  line?: number | undefined;
  /** The recording that the program no longer does, whatever has changed. */
  recording?: string | undefined;
  /** The change, as a sentence without its end. */
  text: string;
  /** What the program then does, as a sentence. Undefined if it was not tried. */
  effect?: string | undefined;
}

/** Everything is JSON, because cloning objects takes longer than parsing. */
export interface CheckJob {
  /** A `TestedProgram`. */
  program: string;
  /** `CurrentServers`. */
  servers: string;
  /** Without a recording, only the text of the program is checked. */
  recording?: { file: string; text: string } | undefined;
  /** `SeenShapes`. */
  seen?: string | undefined;
  /** Whether the recording may be of another version of the program, so that it says nothing if it does not fit. */
  mayNotFit: boolean;
  /** Whether the program is known to do what the recording has. */
  isFitKnown: boolean;
}

export interface Judgement {
  /** Why the program would break. Empty if it would not. */
  reasons: Reason[];
  /** Whether the program does what the recording has, if nothing has changed. */
  fits: boolean;
}
