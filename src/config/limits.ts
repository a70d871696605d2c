/** Limits that several files share. Values that a config leaves out are in defaults.ts. */

import { minuteMs } from "../base/units.ts";

/** The highest time limit that a config may set. */
export const maxTimeoutMs = 10 * minuteMs;

/** Entries of `registries`. */
export const maxRegistries = 20;

/** Time to ask one of them. */
export const maxRegistryTimeoutMs = minuteMs;
