/** How a person starts this program in a shell. */
import { shellWord } from "../shell-word.ts";
import type { Environment } from "./environment.ts";
import { programsOnPath } from "./locations.ts";
import { selfCommand } from "./self.ts";

/** npx puts its copies on the PATH of what it starts, and may replace or remove them. */
const ofNpx = /[\\/]_npx[\\/]/;

/** Returns `claudikins` if it is on the PATH. Otherwise, an agent has started it through npx or by its path. */
export function shellCommand(env: Environment): string {
  if (programsOnPath("claudikins", env).some((path) => !ofNpx.test(path))) return "claudikins";
  const [program, ...words] = selfCommand();
  return ofNpx.test(program) ? "npx claudikins" : [program, ...words].map(shellWord).join(" ");
}
