/** Doctor check of the doors: whether each can be opened, and what is behind it. */
import { loadConfig } from "../../config/load.ts";
import { type CheckContext, type CheckParts, type Finding, findingsOf } from "./finding.ts";

const { ok, failure } = findingsOf("config");

export function doorFindings({ config }: CheckParts, scene: CheckContext): Promise<Finding[]> {
  return Promise.all(config.doors.map((door) => doorFinding(door, scene)));
}

/** The whole config is in use here, so it needs no trust any more. */
async function doorFinding(door: string, { configFlag: flag, cwd, env }: CheckContext): Promise<Finding> {
  try {
    const { servers } = await loadConfig({ flag, door, trust: true, cwd, env });
    return ok(`config.doors.${door}`, `Behind the door "${door}": ${[...servers.keys()].join(", ") || "no servers"}`);
  } catch (error) {
    return failure(`config.doors.${door}`, error);
  }
}
