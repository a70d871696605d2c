/** The variables by which continuous integration, and people who want no hints at newer versions, are known. */
import type { Environment } from "../config/environment.ts";

const silencing = ["NO_UPDATE_NOTIFIER", "CI", "CONTINUOUS_INTEGRATION", "BUILD_NUMBER", "RUN_ID"];

export function isSilenced(env: Environment): boolean {
  return silencing.some((name) => env[name]);
}
