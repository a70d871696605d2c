/** Limits that several files share. */

import { minuteMs } from "../base/units.ts";

/** Longer bodies are refused. The server refuses them even before they are read. */
export const maxPageBodyBytes = 262_144;

/** Time for servers to start and to list their tools, when the page checks or adds them. */
export const pageCheckMs = 2 * minuteMs;

/** Time for a person to sign in. */
export const pageSignInMs = 5 * minuteMs;

/** Characters of the description of a tool. */
export const maxShownDescriptionChars = 300;
