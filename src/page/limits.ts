/** Limits that several files share. */

import { minuteMs } from "../base/units.ts";

/** Longer bodies are refused. The server refuses them even before they are read. */
export const maxPageBodyBytes = 262_144;

/** Time for a person to sign in. */
export const pageSignInMs = 5 * minuteMs;

/** Characters of the description of a tool. */
export const maxShownDescriptionChars = 300;
