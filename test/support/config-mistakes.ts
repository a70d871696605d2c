/** Mistakes in entries as the error that the commands for them report. */
import type { ParsedConfig } from "../../src/config/parse.ts";
import { invalidConfig } from "../../src/config/problems.ts";

/** Throws CONFIG_INVALID with the mistakes in the entries of servers. */
export function withoutMistakes(parsed: ParsedConfig): ParsedConfig {
  const all = [...parsed.mistakes.values()];
  const [first] = all;
  if (!first) return parsed;
  throw invalidConfig(
    first.file,
    all.flatMap(({ problems }) => problems),
  );
}
