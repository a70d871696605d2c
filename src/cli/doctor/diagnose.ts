/** Runs all doctor checks concurrently, after the check of the daemons. They change nothing. */
import { messageOf, toClaudikinsError } from "../../base/errors.ts";
import { shellWord } from "../../base/shell-word.ts";
import { driftOf, driftText, programText } from "../../programs/drift/drift.ts";
import { reasonText } from "../../programs/drift/reasons.ts";
import { agentFindings } from "./agents.ts";
import { bucketFindings, configFindings, databaseFindings, doorFindings, ruleFindings } from "./config.ts";
import { daemonFindings } from "./daemon.ts";
import { boxFindings, definitionFindings, sessionFindings } from "./entries.ts";
import { executableFindings } from "./executable.ts";
import { type Area, areas, type CheckContext, type CheckParts, type Finding, findingsOf } from "./finding.ts";
import { folderFindings, hasLinkedFolder } from "./folders.ts";
import { peopleFindings } from "./people.ts";
import { registryFindings } from "./registry.ts";
import { failedServers, serverFindings } from "./servers.ts";
import { signInFindings } from "./sign-ins.ts";
import { skillFindings } from "./skills.ts";
import { tokenFindings } from "./tokens.ts";
import { writableSettingsFindings } from "./writable-settings.ts";

type CheckResult = Finding[] | Promise<Finding[]>;

const checks: [Area, (scene: CheckContext) => CheckResult][] = [
  ["executable", executableFindings],
  ["config", configFindings],
  ["config", databaseFindings],
  ["config", bucketFindings],
  ["hosts", agentFindings],
  ["skills", skillFindings],
];

/** The checks that run only if the config can be read. */
const checksOfConfig: [Area, (app: CheckParts, scene: CheckContext) => CheckResult][] = [
  ["config", doorFindings],
  ["config", ruleFindings],
  ["config", tokenFindings],
  ["servers", sessionFindings],
  ["servers", definitionFindings],
  ["servers", writableSettingsFindings],
  ["servers", boxFindings],
  ["sign-ins", signInFindings],
  ["sign-ins", peopleFindings],
  ["folders", folderFindings],
  ["registry", programFindings],
];

/** The findings in the order of the areas. A check that throws becomes a finding. */
export async function diagnose(scene: CheckContext): Promise<Finding[]> {
  const { app } = scene;
  // Servers that start take the time that a daemon needs to answer.
  const daemon = await tried("daemon", scene, () => daemonFindings(scene));
  const servers = app ? tried("servers", scene, () => serverFindings(app, scene)) : Promise.resolve([]);
  const found = await Promise.all([
    daemon,
    servers,
    ...checks.map(([area, check]) => tried(area, scene, () => check(scene))),
    ...(app
      ? [
          ...checksOfConfig.map(([area, check]) => tried(area, scene, () => check(app, scene))),
          // What helps depends on which servers work.
          tried("registry", scene, async () => registryFindings(app, scene, failedServers(await servers))),
        ]
      : [notLookedAt()]),
  ]);
  return withOwnIds(areas.flatMap((area) => found.flat().filter((finding) => finding.area === area)));
}

async function tried(area: Area, { signal, app }: CheckContext, check: () => CheckResult): Promise<Finding[]> {
  try {
    return await check();
  } catch (thrown) {
    const { code } = toClaudikinsError(thrown);
    // The check of the folders reports a link.
    const isKnown = code === "FILE_NOT_WRITABLE" && app && hasLinkedFolder(app);
    if (signal.aborted || isKnown) return [];
    return [findingsOf(area).problem(`${area}.check`, `This check failed: ${messageOf(thrown)}`, code, undefined)];
  }
}

function notLookedAt(): Finding[] {
  const others = checksOfConfig.map(([area]) => area).filter((area) => area !== "config");
  const left = [...new Set([...others, "registry"])];
  const text = `Not checked, because there is no usable config: ${left.slice(0, -1).join(", ")} and ${left.at(-1)}`;
  return [findingsOf("config").warning("config.rest", text, "Fix the config, then run: claudikins doctor")];
}

/** Numbers findings with the same id, such as findings about two entries in one agent. */
function withOwnIds(findings: Finding[]): Finding[] {
  const seen = new Map<string, number>();
  return findings.map((finding) => {
    const count = (seen.get(finding.id) ?? 0) + 1;
    seen.set(finding.id, count);
    return count === 1 ? finding : { ...finding, id: `${finding.id}.${count}` };
  });
}

const { ok, warning } = findingsOf("registry");

async function programFindings({ config, catalog }: CheckParts, scene: CheckContext): Promise<Finding[]> {
  const { env, serverFolder: cwd, signal } = scene;
  const drift = await driftOf({ config, catalog, env, cwd }, { signal });
  if (drift.total === 0) return [];
  if (drift.broken.length === 0) return [ok("drift", "No saved program would break with the tools as they are")];
  const [first] = drift.broken;
  const repair =
    drift.broken.length === 1 && first && first.door === undefined
      ? `claudikins programs check ${shellWord(first.name)}`
      : "claudikins programs check --all";
  const details = drift.broken.flatMap((each) => {
    return each.reasons.map((reason) => `${programText(each)}, ${reasonText(reason)}`);
  });
  return [warning("drift", driftText(drift), repair, { details })];
}
