/** All attacks. */
import type { Attack } from "./attack.ts";
import { inDefinitions } from "./attacks/definitions.ts";
import { inResults } from "./attacks/results.ts";

export const attacks: readonly Attack[] = [...inResults, ...inDefinitions];
