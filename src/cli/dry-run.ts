/** The flag `--dry-run` of commands that run a program. */
import { DryRun } from "../programs/dry-run/dry-run.ts";
import { type Args, flag } from "./command.ts";

export const dryRunArgs = {
  "dry-run": flag("Call only tools that read, and list the calls that would change something instead of making them"),
} as const satisfies Args;

export function dryRunOf(flags: { "dry-run"?: boolean | undefined }): DryRun | undefined {
  return flags["dry-run"] ? new DryRun() : undefined;
}
