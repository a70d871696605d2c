/** `claudikins setup`: takes the safe first steps, and lets doctor report what is left to do. */

import { type AgentFile, install } from "../../agents/skill-files.ts";
import { diagnose } from "../../doctor/diagnose.ts";
import { counted, exitCodeOf, type Finding } from "../../doctor/finding.ts";
import { failed } from "../../doctor/servers.ts";
import { ClaudikinsError } from "../../errors.ts";
import { type Step, serversToAsk, setUp } from "../../generation/setup.ts";
import type { Toolbox } from "../../toolbox/toolbox.ts";
import { hasColours } from "../colours.ts";
import { command, commonArgs } from "../command.ts";
import { findingsShape, findingsText, sumText } from "../doctor-report.ts";
import { openScene } from "../doctor-scene.ts";
import type { Io } from "../io.ts";
import { Progress } from "../progress.ts";
import { canAsk, confirm } from "../prompt.ts";
import { about, either, list, named, number, oneOf, problem, record, text, yesOrNo } from "../shapes.ts";
import { filesFor, surroundingsOf, usualAgents } from "../skill-files.ts";
import { trustArgs } from "../trust-prompt.ts";

const result = oneOf("done", "unchanged", "to do", "failed");
const path = { path: text, result, "problem?": problem };

const stepShape = named(
  "Step",
  about(
    "A step that was taken; with --dry-run, a step that would be taken",
    either(
      record({ step: oneOf("folder"), name: oneOf("registry", "workspace"), ...path }),
      record({ step: oneOf("tools"), server: text, result, "tools?": number, "problem?": problem }),
      record({ step: oneOf("executable", "skill"), ...path }),
    ),
  ),
);

export default command({
  description:
    "Prepare claudikins: create its folders, fetch tools that are not known yet, make generated files executable, write the skill if you want it, and report what doctor finds. You can run it again at any time. It does not change your agents' settings; claudikins init does.",
  args: {
    skill: { type: "boolean", description: "Write the skill for the agents on this machine, without asking" },
    yes: { type: "boolean", short: "y", description: "Answer yes to every question" },
    "no-servers": { type: "boolean", description: "Do not start any server" },
    "dry-run": { type: "boolean", description: "Show what would be done, and do nothing" },
    config: commonArgs.config,
    ...trustArgs,
    json: { type: "boolean", description: "Print one JSON document and nothing else, even if there are problems" },
  },
  examples: ["claudikins setup", "claudikins setup --yes", "claudikins setup --dry-run"],
  json: record({ ok: yesOrNo, steps: list(stepShape), findings: findingsShape }),
  async run(args, io) {
    const withServers = !args["no-servers"];
    await using opened = await openScene(io, args, { withServers: false, asks: true });
    const { scene, toolbox } = opened;
    const skillFiles = await chosenSkillFiles(args, io);
    const steps = toolbox ? await work(toolbox) : [];
    if (io.interrupted.aborted)
      throw new ClaudikinsError("CANCELLED", "The setup was interrupted. Completed steps were kept");
    const findings = withFailures(await diagnose(scene), steps, toolbox);
    const exitCode = exitCodeOf(findings) || codeOfSteps(steps);
    if (args.json) {
      await io.stdout.write(`${JSON.stringify({ ok: exitCode === 0, steps, findings })}\n`);
      return exitCode;
    }
    await io.stdout.write(stepsText(steps));
    const faults = findingsText(findings, hasColours(io.stdout, io), true);
    if (faults !== "") await io.stdout.write(`\n${faults}`);
    await io.stderr.write(`\n${sumText(findings)}\n`);
    if (skillFiles.length === 0)
      await io.stderr.write("To teach your agents to use claudikins: claudikins skill install\n");
    return exitCode;

    async function work(toolbox: Toolbox): Promise<Step[]> {
      const dryRun = args["dry-run"] === true;
      const total = withServers && !dryRun ? serversToAsk(toolbox.catalog).length : 0;
      const progress = new Progress(args.json || total === 0 ? undefined : io.stderr, "servers", total);
      const onServer = (name: string) => progress.advance(name);
      const { interrupted: signal } = io;
      return await setUp(toolbox, { dryRun, withServers, skillFiles, signal, onServer }).finally(() => progress.end());
    }
  },
});

/** Returns the skill files to write. Asks the person if the skill is missing and no flag decides. */
async function chosenSkillFiles(
  args: Partial<Record<"skill" | "yes" | "json" | "dry-run", boolean | undefined>>,
  io: Io,
): Promise<AgentFile[]> {
  const surroundings = surroundingsOf(io);
  const agents = usualAgents(surroundings);
  const files = filesFor(agents, ["skill"], "user", { surroundings, named: false });
  if (args.skill || args.yes) return files;
  const isThere = install(files, { force: false, dryRun: true }).every(({ result }) => result === "unchanged");
  if (isThere) return files;
  if (args.json || args["dry-run"] || !canAsk(io)) return [];
  const titles = agents.map(({ title }) => title).join(", ");
  return (await confirm(io, `Write a skill that tells ${titles} how to use claudikins?`)) ? files : [];
}

/** Adds a finding for each server whose tools could not be fetched. */
function withFailures(findings: Finding[], steps: Step[], toolbox: Toolbox | undefined): Finding[] {
  const failures = steps.flatMap((step): Finding[] => {
    const server = step.step === "tools" ? toolbox?.config.servers.get(step.server) : undefined;
    return server && step.step === "tools" && step.problem ? [failed(server, step.problem)] : [];
  });
  const place = findings.findLastIndex(({ area }) => area === "config") + 1;
  return findings.toSpliced(place, 0, ...failures);
}

/** The exit code of the first failed step that is not about a server. */
function codeOfSteps(steps: Step[]): number {
  const [problem] = steps.flatMap((step) => (step.step === "tools" ? [] : (step.problem ?? [])));
  return problem ? new ClaudikinsError(problem.code, problem.message).exitCode : 0;
}

function stepsText(steps: Step[]): string {
  const isDry = steps.some(({ result }) => result === "to do");
  const changes = steps.filter(({ result }) => result !== "unchanged");
  if (changes.length === 0) return "Nothing to do.\n";
  const started = changes.filter((step) => step.step === "executable");
  const lines = changes.filter((step) => step.step !== "executable").map(lineOf);
  const programs = `${isDry ? "Would make" : "Made"} ${counted(started.length, "generated file")} executable`;
  return [...lines, ...(started.length > 0 ? [programs] : [])].map((line) => `${line}\n`).join("");
}

function lineOf(step: Step): string {
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
