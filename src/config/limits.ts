/** The limits of `claudikins.json` and of other settings files. Values that a config leaves out are in defaults.ts. */

import { dayMs, megabyte, minuteMs } from "../base/units.ts";

// Values that a config may set

/** The highest time limit that a config may set. */
export const maxTimeoutMs = 10 * minuteMs;

/** The longest idle time of a server. `keepAlive` is for servers that must run longer. */
export const maxIdleTimeoutMs = dayMs;

/** Entries of `registries`. */
export const maxRegistries = 20;

/** Time to ask one of them. */
export const maxRegistryTimeoutMs = minuteMs;

/** Every session loads the text, within `surfaceTokens`. */
export const maxDoorInstructionsChars = 1_000;

/** The description of a tool. Servers may send as much. */
export const maxToolDescriptionChars = 16_384;

/** The difference of two clocks that a config may allow. Machines that set their clocks differ by less than a second. */
export const maxClockSkewSeconds = 300;

// Files

/** A larger file is not a settings file. */
export const maxSettingsBytes = 256 * megabyte;

/** States that are kept for one config, newest first. With several, switching branches does not ask again each time. */
export const maxTrustedStates = 20;

// Waiting

/** Time for a model's endpoint to answer, if the config sets none. */
export const defaultLlmMs = 30_000;

/** Time limit of a call of a saved program, which ends by a limit of its own: the longest that a timer can wait. */
export const maxProgramCallMs = 2_147_483_647;

/** Rules of one config. Each is checked for every call. */
export const maxRules = 200;

/** Parts of the condition of a rule. */
export const maxConditionParts = 500;

/** Levels of values that a condition compares. */
export const maxConditionDepth = 500;

/** Work of all conditions that decide about one call, of about 10 ns each. They run in the main thread, and a program chooses the arguments. */
export const conditionSteps = 1_500_000;

/** Time of the patterns in these conditions, which are not counted in steps. */
export const conditionMs = 50;

/** The pattern of `matches()` in a condition. */
export const maxPatternChars = 1_000;

/** Instructions of its program. A character costs as much time as the program is large. */
export const maxPatternSize = 1_000;

/** Characters of a text that a condition may convert into a number. */
export const maxConvertedChars = 400;
