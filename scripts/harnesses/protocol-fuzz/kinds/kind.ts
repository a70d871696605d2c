/** One kind of run: what an agent, a program, a server or a browser does, determined by seed and index. */
import type { Random } from "../../random.ts";
import { gatedTools } from "../servers/record.ts";
import { gatedServers, type Processes } from "../site.ts";

export interface Run {
  seed: number;
  index: number;
  random: Random;
  processes: Processes;
}

export interface Kind {
  name: string;
  /** The share of runs of this kind. Dear kinds are rare. */
  weight: number;
  run(run: Run): Promise<unknown>;
}

/** The source of a call to a gated tool. `more` is the source of an object with further arguments. */
export function gatedCall({ random, processes }: Run, more = ""): string {
  const id = JSON.stringify(processes.site.oracle.newId());
  return `${random.pick(gatedServers)}.${random.pick(gatedTools)}({ id: ${id}, ${more} last: ${id} })`;
}

/** A number of megabytes or of parts: mostly few, sometimes many. */
export function many(random: Random, most: number): number {
  return Math.floor(most ** random.next());
}
