/** The command that tests start: the executable, which starts in half the time of the source. */
import { executable } from "./claudikins.ts";

export const claudikinsCommand: [string, ...string[]] = [executable()];
