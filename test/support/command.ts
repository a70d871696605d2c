/** The command that tests start: the executable, which starts in half the time that the source takes. */
import { executable } from "./claudikins.ts";

export const claudikinsCommand: [string, ...string[]] = [executable()];
