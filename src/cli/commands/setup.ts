/** `claudikins setup`: takes the safe first steps, and lets doctor report what is left to do. */

import type { App } from "../../app/app.ts";
import { counted } from "../../base/counted.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { list, record, yesOrNo } from "../../base/json-shape.ts";
import { type AgentFile, installSkills } from "../../setup/agents/skill-files.ts";
import { type SetupStep, serversToAsk, setUp, stepShape } from "../../setup/setup.ts";
import { command, flag } from "../command.ts";
import { diagnose } from "../doctor/diagnose.ts";
import { exitCodeOf, type Finding } from "../doctor/finding.ts";
import { failed } from "../doctor/servers.ts";
import { configArgs } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { countingServers } from "../terminal/progress.ts";
import { canAsk, confirm } from "../terminal/prompt.ts";
import { findingsShape, findingsText, openScene, sumText } from "./doctor.ts";
import { agentSurroundings, filesFor, usualAgents } from "./skill.ts";

export default command({
  description:
    "Prepare claudikins: create its folders, fetch tools that are not known yet, make generated files executable, write the skill if you want it, and report what doctor finds. You can run it again at any time. It does not change your agents' settings; claudikins init does.",
  args: {
    skill: flag("Write the skill for the agents on this machine, without asking"),
    yes: flag("Answer yes to every question", { short: "y" }),
    "no-servers": flag("Do not start any server"),
    "dry-run": flag("Show what would be done, and do nothing"),
    ...configArgs,
    json: flag("Print one JSON document and nothing else, even if there are problems"),
  },
  examples: ["claudikins setup", "claudikins setup --yes", "claudikins setup --dry-run"],
  json: record({ ok: yesOrNo, steps: list(stepShape), findings: findingsShape }),
  async run(args, io) {
    const withServers = !args["no-servers"];
    await using opened = await openScene(io, args, { withServers: false, asks: true });
    const { scene, app } = opened;
    const skillFiles = await chosenSkillFiles(args, io);
    const steps = app ? await work(app) : [];
    if (io.interrupted.aborted)
      throw new ClaudikinsError("CANCELLED", "The setup was interrupted. Completed steps were kept");
    const findings = withFailures(await diagnose(scene), steps, app);
    const exitCode = exitCodeOf(findings) || codeOfSteps(steps);
    const faults = findingsText(findings, true);
    const teach = skillFiles.length > 0 ? "" : "To teach your agents to use claudikins: claudikins skill install\n";
    return {
      json: { ok: exitCode === 0, steps, findings },
      text: stepsText(steps) + (faults === "" ? "" : `\n${faults}`),
      note: `\n${sumText(findings)}\n${teach}`,
      exitCode,
    };

    async function work(app: App): Promise<SetupStep[]> {
      const dryRun = args["dry-run"] === true;
      const total = withServers && !dryRun ? serversToAsk(app.catalog).length : 0;
      return countingServers(args.json ? undefined : io.stderr, total, (onServer) =>
        setUp(app, { dryRun, withServers, skillFiles, signal: io.interrupted, onServer }),
      );
    }
  },
});

/** Returns the skill files to write. Asks the user if the skill is missing and no flag decides. */
async function chosenSkillFiles(
  args: Partial<Record<"skill" | "yes" | "json" | "dry-run", boolean | undefined>>,
  io: Io,
): Promise<AgentFile[]> {
  const surroundings = agentSurroundings(io);
  const agents = usualAgents(surroundings);
  const files = filesFor(agents, ["skill"], "user", { surroundings, named: false });
  if (args.skill || args.yes) return files;
  const isThere = installSkills(files, { force: false, dryRun: true }).every(({ result }) => result === "unchanged");
  if (isThere) return files;
  if (args.json || args["dry-run"] || !canAsk(io)) return [];
  const titles = agents.map(({ title }) => title).join(", ");
  return (await confirm(io, `Write a skill that tells ${titles} how to use claudikins?`)) ? files : [];
}

/** Adds a finding for each server whose tools could not be fetched. */
function withFailures(findings: Finding[], steps: SetupStep[], app: App | undefined): Finding[] {
  const failures = steps.flatMap((step): Finding[] => {
    const server = step.step === "tools" ? app?.config.servers.get(step.server) : undefined;
    return server && step.step === "tools" && step.problem ? [failed(server, step.problem)] : [];
  });
  const place = findings.findLastIndex(({ area }) => area === "config") + 1;
  return findings.toSpliced(place, 0, ...failures);
}

/** The exit code of the first failed step that is not about a server. */
function codeOfSteps(steps: SetupStep[]): number {
  const [problem] = steps.flatMap((step) => (step.step === "tools" ? [] : (step.problem ?? [])));
  return problem ? new ClaudikinsError(problem.code, problem.message).exitCode : 0;
}

function stepsText(steps: SetupStep[]): string {
  const isDry = steps.some(({ result }) => result === "to do");
  const changes = steps.filter(({ result }) => result !== "unchanged");
  if (changes.length === 0) return "Nothing to do.\n";
  const started = changes.filter((step) => step.step === "executable");
  const lines = changes.filter((step) => step.step !== "executable").map(lineOf);
  const programs = `${isDry ? "Would make" : "Made"} ${counted(started.length, "generated file")} executable`;
  return [...lines, ...(started.length > 0 ? [programs] : [])].map((line) => `${line}\n`).join("");
}

function lineOf(step: SetupStep): string {
  const isDry = step.result === "to do";
  switch (step.step) {
    case "folder":
      if (step.problem) return step.problem.message;
      return `${isDry ? "Would create" : "Created"} the ${step.name} folder: ${step.path}`;
    case "tools":
      if (step.problem) return `Could not fetch the tools of ${step.server}`;
      return isDry
        ? `Would fetch the tools of ${step.server}`
        : `Wrote ${counted(step.tools ?? 0, "tool")} of ${step.server}`;
    default:
      if (step.result === "failed") return `Could not write the skill: ${step.problem?.message}`;
      return `${isDry ? "Would write" : "Wrote"} the skill: ${step.path}`;
  }
}
