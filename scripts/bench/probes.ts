/**
 * Probes: executions whose program only prints what a tool returned, so that the model learns how to read the result. Whether one is
 * needed is read from the search answers about real servers, and then every promise of an answer is checked with real calls.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { install } from "../results/install.ts";
import { type Plan, type Start, textOf } from "../results/plan.ts";
import { plans } from "../results/plans.ts";
import { printedTool } from "./probes/programs.ts";
import { needsProbe, type Promised, promisesIn } from "./probes/promises.ts";
import { type Called, type Tried, tryServer } from "./probes/real-server.ts";
import { misfits } from "./probes/type-check.ts";
import type { Row, Unit } from "./report.ts";
import type { Bench, Measure } from "./section.ts";
import { type PlayedCode, playCode, tasks } from "./tasks/play.ts";

interface Server {
  plan: Plan;
  tried: Tried;
  /** The promises without the catalog's results. */
  without: Map<string, Promised>;
}

export const measureProbes: Measure = async (bench) => {
  const servers: Server[] = [];
  const missing: string[] = [];
  for (const plan of plans) {
    try {
      servers.push(await measured(plan, bench));
    } catch (error) {
      const [reason] = String(error instanceof Error ? error.message : error).split("\n");
      missing.push(`${nameOf(plan)} was not measured: ${reason}.`);
    }
  }
  if (servers.length === 0) return { rows: [], notes: missing };
  const all = servers.flatMap((server) => toolsOf(server));
  const probed = all.filter(({ promised }) => needsProbe(promised));
  const before = all.filter(({ without }) => without && needsProbe(without));
  const broken = servers.flatMap(({ plan, tried }) => brokenIn(tried).map((tool) => `${nameOf(plan)}.${tool}`));
  const { first, again } = await playCode(bench);
  const [looks, later] = [await looksOf(first), await looksOf(again)];
  const withLedger = (what: string, id: string, pick: (looked: Looked) => number): Row => ({
    ...row(what, "executions", pick(looks), id),
    others: { "with a ledger": { value: pick(later) } },
  });
  const none = (row: Row): Row => ({ ...row, target: { text: "0", met: row.ours === 0 } });
  return {
    rows: [
      row(`tools of ${servers.length} real servers that run offline`, "tools", all.length, "tools"),
      none({
        ...row(
          "of these, tools whose result a program must print first",
          "tools",
          probed.length,
          "tools that need a probe",
        ),
        others: { "no catalog": { value: before.length } },
      }),
      none(
        row(
          "of these, tools whose real result differs from the search answer",
          "tools",
          broken.length,
          "broken promises",
        ),
      ),
      withLedger(`executions of the ${tasks.length} scripted tasks`, "executions", (each) => each.executions),
      withLedger(
        "of these, executions that only print a tool's result, and the task goes on",
        "prints",
        (each) => each.prints.length,
      ),
      none(
        withLedger(
          "of these, executions before which no search described the result",
          "needed prints",
          (each) => each.needed.length,
        ),
      ),
    ],
    notes: [
      "A program must print a result first if the search answer gives its type, or a part of it, as unknown, or if the result is a text whose format is not described.",
      "Each server is the real one, installed from npm, and works on files and a page of this machine. Every tool is called from a program. The type of its value is checked with the TypeScript compiler, and its text with the pattern of the described format.",
      "no catalog: the same servers, started by a script, so that they are not recognised and the catalog's results are not used.",
      ...(probed.length > 0 ? [`Tools that need a probe: ${probed.map(({ id }) => id).join(", ")}.`] : []),
      ...(broken.length > 0 ? [`Tools with another result: ${broken.join(", ")}.`] : []),
      ...servers.flatMap(({ plan }) =>
        Object.entries(plan.leftOut ?? {}).map(([tool, why]) => `Not counted: ${nameOf(plan)}.${tool}. ${why}`),
      ),
      "with a ledger: the same tasks after one earlier run, whose calls the surface shows. Tasks then begin without a search.",
      ...later.prints.map(({ task, tool }) => `Printed on the way with a ledger in "${task}": the result of ${tool}.`),
      ...looks.prints.map(({ task, tool }) => `Printed on the way in "${task}": the result of ${tool}.`),
      ...missing,
    ],
  };
};

const row = (what: string, unit: Unit, ours: number, id: string): Row => ({
  ...{ what, id, unit, ours, others: {} },
  counted: "once",
});

const nameOf = ({ server }: Plan) => server.slice(server.indexOf("/") + 1);

/** Installs the server, and asks and calls it with and without the catalog's results. */
async function measured(plan: Plan, { binary, folder, user }: Bench): Promise<Server> {
  const start: Start = plan.starts ? { command: binary, args: ["demo"] } : install(plan, folder(), user);
  const tried = await tryServer(plan, start, { binary, folder: folder() });
  const { promises } = await tryServer(plan, unrecognised(start, folder()), { binary, folder: folder(), calls: [] });
  return { plan, tried, without: promises };
}

/** The same program, started by a script, so that claudikins does not know which package it is. */
function unrecognised({ command, args }: Start, folder: string): Start {
  const quoted = [command, ...args].map((word) => `'${word}'`).join(" ");
  const script = join(folder, "server.sh");
  writeFileSync(script, `exec ${quoted} "$@"\n`);
  return { command: "sh", args: [script] };
}

function toolsOf({ plan, tried, without }: Server) {
  const leftOut = new Set(Object.keys(plan.leftOut ?? {}).map((name) => name.replace(/\W/g, "_")));
  return [...tried.promises]
    .filter(([name]) => !leftOut.has(name.replace(/\W/g, "_")))
    .map(([name, promised]) => ({ id: `${nameOf(plan)}.${name}`, promised, without: without.get(name) }));
}

/** The tools with an answer that does not have the promised type or format. */
function brokenIn({ promises, calls }: Tried): string[] {
  const promisedOf = ({ call }: Called) => promises.get(call.tool) ?? promises.get(call.tool.replace(/\W/g, "_"));
  const typed = calls.map((each) => ({ type: promisedOf(each)?.type ?? "never", value: each.value }));
  const wrong = new Set(misfits(typed));
  const isBroken = (each: Called, at: number) => wrong.has(at) || !hasFormat(each, promisedOf(each)?.format);
  return [...new Set(calls.filter(isBroken).map(({ call }) => call.tool))];
}

/** Whether the text of a value has the format that was shown. Only formats of a plan can be checked. */
function hasFormat({ call, value }: Called, format: string | undefined): boolean {
  if (format === undefined) return true;
  return call.text?.says === format && call.text.pattern.test(textOf(value));
}

interface Looked {
  executions: number;
  prints: { task: string; tool: string }[];
  needed: string[];
}

/** The executions that print a tool's result before the task is done, and those that had to, because no search described the result. */
async function looksOf({ steps }: PlayedCode): Promise<Looked> {
  const prints: Looked["prints"] = [];
  const needed: string[] = [];
  for (const { task, answers, programs } of steps) {
    for (const program of programs.slice(0, -1)) {
      const tool = await printedTool(program);
      if (tool === undefined) continue;
      prints.push({ task, tool });
      const promised = answers.map((answer) => promisesIn(answer).get(tool)).find(Boolean);
      if (!promised || needsProbe(promised)) needed.push(tool);
    }
  }
  return { prints, needed, executions: steps.reduce((sum, { programs }) => sum + programs.length, 0) };
}
