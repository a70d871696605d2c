/** The list of expected failures: which failures it does not expect, and which of its entries do not fail. */
import { join } from "node:path";
import type { Check } from "./suite.ts";

const file = Bun.file(join(import.meta.dir, "expected-failures.yml"));

/** `scenario`, or `scenario:check` for one failure of it. "code" is the server in code mode. */
export async function expectedFailures(side: "client" | "server" | "code"): Promise<string[]> {
  const lists = Bun.YAML.parse(await file.text()) as Record<string, string[] | null>;
  return lists[side] ?? [];
}

/** Entries that no reason stands above. Entries in a row share one. */
export async function entriesWithoutReason(): Promise<string[]> {
  const lines = (await file.text()).split("\n");
  const isEntry = (line = "") => line.startsWith("  - ");
  return lines.filter((line, at) => isEntry(line) && !isEntry(lines[at - 1]) && !lines[at - 1]?.startsWith("  # "));
}

interface Difference {
  /** Failures that are not listed, by scenario. */
  unexpected: Record<string, string[]>;
  /** Entries that do not fail. */
  passing: string[];
}

/** `found` has the failed checks of every scenario that has run. */
export function differenceOf(found: ReadonlyMap<string, readonly Check[]>, expected: readonly string[]): Difference {
  const unexpected = [...found].map(([scenario, failed]) => {
    const rest = expected.includes(scenario) ? [] : failed.filter(({ id }) => !expected.includes(`${scenario}:${id}`));
    return [scenario, rest.map(textOf)] as const;
  });
  const passing = expected.filter((entry) => {
    const [scenario = "", check] = entry.split(":");
    const failed = found.get(scenario);
    return failed !== undefined && !failed.some(({ id }) => check === undefined || id === check);
  });
  return { unexpected: Object.fromEntries(unexpected.filter(([, failed]) => failed.length > 0)), passing };
}

function textOf({ id, status, description, errorMessage }: Check): string {
  return `${status} ${id}: ${errorMessage ?? description}`;
}
