/** All attacks. */
import type { Attack } from "./attack.ts";
import { inDefinitions } from "./attacks/definitions.ts";
import { onDetours } from "./attacks/detours.ts";
import { byExits } from "./attacks/exits.ts";
import { inResults } from "./attacks/results.ts";

export const attacks: readonly Attack[] = [...inResults, ...inDefinitions, ...onDetours, ...byExits];
