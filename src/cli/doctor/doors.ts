/** Doctor check of the doors: whether each can be opened, and what is behind it. */
import { loadConfig } from "../../config/load.ts";
import { agentsByDoor } from "../../setup/agents/agent-doors.ts";
import { type CheckContext, type CheckParts, type Finding, findingsOf } from "./finding.ts";

const { ok, problem, failure } = findingsOf("config");

export async function doorFindings({ config }: CheckParts, scene: CheckContext): Promise<Finding[]> {
  const { origin, doors } = config;
  const users = await agentsByDoor(scene, origin.kind === "demo" ? null : origin.file);
  const findings = await Promise.all(doors.map((door) => doorFinding(door, users.get(door) ?? [], scene)));
  const gone = [...users].filter(([door]) => !doors.includes(door));
  return [...findings, ...gone.map(([door, agents]) => goneFinding(door, agents))];
}

function goneFinding(door: string, agents: readonly string[]): Finding {
  const text = `${agents.join(", ")} starts claudikins behind the door "${door}", which the config does not have`;
  return problem(`config.doors.${door}`, text, "DOOR_NOT_FOUND", `claudikins doors add ${door}`);
}

/** The whole config is in use here, so it needs no trust any more. */
async function doorFinding(
  door: string,
  agents: readonly string[],
  { configFlag: flag, cwd, env }: CheckContext,
): Promise<Finding> {
  try {
    const { servers } = await loadConfig({ flag, door, trust: true, cwd, env });
    const use = agents.length === 0 ? "" : `, for ${agents.join(", ")}`;
    const names = [...servers.keys()].join(", ") || "no servers";
    return ok(`config.doors.${door}`, `Behind the door "${door}"${use}: ${names}`);
  } catch (error) {
    return failure(`config.doors.${door}`, error);
  }
}
