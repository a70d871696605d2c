/** How a person starts this program in a shell. */

import { shellWord } from "../../base/shell-word.ts";
import type { Environment } from "../../config/environment.ts";
import { programsOnPath } from "../../config/locations.ts";
import { selfCommand } from "../../config/self.ts";
import { ownInstallation } from "./installation.ts";

/** Package runners such as npx put this folder on the PATH of what they start. */
const ofPackages = /[\\/]node_modules[\\/]\.bin[\\/]/;

/** Returns `claudikins` if it is on the PATH. Otherwise, an agent has started it through a package runner or by its path. */
export function shellCommand(env: Environment): string {
  if (programsOnPath("claudikins", env).some((path) => !ofPackages.test(path))) return "claudikins";
  const installation = ownInstallation();
  return installation.kind === "cache" ? `${installation.runner} claudikins` : selfCommand().map(shellWord).join(" ");
}
