/** Limits that several files share. */

import { dayMs } from "../base/units.ts";

/** Maximum of the flags for idle time and for the time of a connection. */
export const maxIdleMs = dayMs;

/** Rows of a list, if no flag says otherwise. */
export const defaultRows = 20;

/** Calls of one execution, if no flag says otherwise. */
export const defaultCalls = 40;

/** Lines of a log, if no flag says otherwise. */
export const defaultLines = 50;
