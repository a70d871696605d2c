/** The last runs of saved programs, from the records of executions. */
import { number, record, text, time, yesOrNo } from "../../base/json-shape.ts";
import type { Config } from "../../config/load.ts";
import type { Summary } from "../../programs/trace/record.ts";
import { readSummaries } from "../../programs/trace/store.ts";
import { configOwner } from "../../servers/logs/place.ts";
import { openStore } from "../../store/open.ts";
import type { Io } from "../io.ts";

export const runShape = record({ id: text, at: time, ok: yesOrNo, durationMs: number });

export type ProgramRun = Summary & { program: string };

/** Newest first. */
export async function lastRuns(
  { origin, door }: Pick<Config, "origin" | "door">,
  { env }: Pick<Io, "env">,
): Promise<ProgramRun[]> {
  await using store = openStore(env);
  const owner = configOwner(origin);
  return (await readSummaries(store)).filter(
    (each): each is ProgramRun =>
      each.program !== undefined && !each.dryRun && each.config === owner && each.door === door,
  );
}
