/** Runs all doctor checks concurrently. They change nothing. */
import { agentsCheck } from "./agents.ts";
import { configCheck } from "./config.ts";
import { daemonCheck } from "./daemon.ts";
import { executableCheck } from "./executable.ts";
import { areas, type Check, type Finding, findingsOf, type Scene, unchecked } from "./finding.ts";
import { foldersCheck } from "./folders.ts";
import { registryCheck } from "./registry.ts";
import { rulesCheck } from "./rules.ts";
import { serversCheck } from "./servers.ts";
import { signInsCheck } from "./sign-ins.ts";
import { skillsCheck } from "./skills.ts";

const checks: readonly Check[] = [
  executableCheck,
  configCheck,
  serversCheck,
  rulesCheck,
  signInsCheck,
  foldersCheck,
  registryCheck,
  agentsCheck,
  skillsCheck,
  daemonCheck,
];

/** The findings in the order of the areas. A check that throws becomes a finding. */
export async function diagnose(scene: Scene): Promise<Finding[]> {
  const found = await Promise.all(checks.map((check) => findingsBy(check, scene)));
  const all = [...found.flat(), ...notLookedAt(scene)];
  return withOwnIds(areas.flatMap((area) => all.filter((finding) => finding.area === area)));
}

/** Numbers findings with the same id, such as those of two entries in one agent. */
function withOwnIds(findings: Finding[]): Finding[] {
  const seen = new Map<string, number>();
  return findings.map((finding) => {
    const count = (seen.get(finding.id) ?? 0) + 1;
    seen.set(finding.id, count);
    return count === 1 ? finding : { ...finding, id: `${finding.id}.${count}` };
  });
}

async function findingsBy(check: Check, scene: Scene): Promise<Finding[]> {
  try {
    if ("run" in check) return await check.run(scene);
    return scene.toolbox ? await check.runWith(scene.toolbox, scene) : [];
  } catch (thrown) {
    return [unchecked(check.area, thrown)];
  }
}

function notLookedAt({ toolbox }: Scene): Finding[] {
  if (toolbox) return [];
  const left = [...new Set(checks.filter((check) => "runWith" in check).map(({ area }) => area))];
  const names = left.join(", ").replace(/, ([^,]+)$/, " and $1");
  const text = `Not checked, because there is no usable config: ${names}`;
  return [findingsOf("config").warning("config.rest", text, "Fix the config, then run: claudikins doctor")];
}
