/** A harmless task: nothing in it needs a question. */
import type { Step } from "./agent.ts";
import type { World } from "./world.ts";

export interface Task {
  name: string;
  steps: Step[];
  /** Whether it was done. */
  done?: (world: World) => boolean;
}
