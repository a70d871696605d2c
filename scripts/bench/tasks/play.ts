/** Plays every task in both ways, each in its own world; both must return the same known answer. */
import { deepStrictEqual } from "node:assert";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "../../../test/support/servers.ts";
import { Agent, type Cost, type Shown } from "./agent.ts";
import { fileTasks } from "./file-tasks.ts";
import { shopTasks } from "./shop-tasks.ts";
import { smallTasks } from "./small-tasks.ts";
import { CodeAgent, type Task } from "./task.ts";
import { makeWorld } from "./world.ts";

export const tasks: Task[] = [...shopTasks, ...fileTasks, ...smallTasks];

export interface Played {
  definitionTokens: number;
  shown: Shown;
  /** One per task, in order. */
  costs: Cost[];
}

export interface PlayedCode extends Played {
  /** The searches and programs of each task. */
  steps: { task: string; answers: string[]; programs: string[] }[];
}

export interface Places {
  binary: string;
  /** A new, empty folder. */
  folder(): string;
}

/** Plays with the servers' own tools, like a host without claudikins. */
export async function playDirect({ binary, folder }: Places): Promise<Played> {
  const world = folder();
  await using agent = await Agent.start(makeWorld(world, binary), world);
  return await play(agent, (task) => task.direct(agent));
}

/**
 * Plays with the same servers behind claudikins: without any history, and again with the ledger of that run. `others` are further servers of
 * the config, and `settings` its other keys.
 */
export async function playCode(
  { binary, folder }: Places,
  { others = {}, settings = {} }: { others?: Record<string, Entry>; settings?: object } = {},
): Promise<{ first: PlayedCode; again: PlayedCode }> {
  const [world, home] = [folder(), folder()];
  const env = { XDG_DATA_HOME: join(home, "data") };
  const playOnce = async () => {
    rmSync(world, { recursive: true });
    mkdirSync(world);
    const servers = Object.entries(makeWorld(world, binary)).map(([name, entry]) => [name, { ...entry, cwd: world }]);
    const mcpServers = { ...others, ...Object.fromEntries(servers) };
    writeFileSync(join(home, "claudikins.json"), JSON.stringify({ mcpServers, ...settings }));
    await using agent = await Agent.start({ claudikins: { command: binary, args: ["serve", "--trust"], env } }, home);
    const steps: PlayedCode["steps"] = [];
    const played = await play(agent, async (task) => {
      const coder = new CodeAgent(agent);
      steps.push({ task: task.name, answers: coder.answers, programs: coder.programs });
      return await task.code(coder);
    });
    return { ...played, steps };
  };
  return { first: await playOnce(), again: await playOnce() };
}

async function play(agent: Agent, run: (task: Task) => Promise<unknown>): Promise<Played> {
  const costs: Cost[] = [];
  for (const task of tasks) {
    agent.begin(task.request);
    const answer = await run(task).catch((cause: unknown) => {
      throw new Error(`the task "${task.name}" failed: ${cause}`, { cause });
    });
    deepStrictEqual(answer, task.answer, `the task "${task.name}" was answered with ${JSON.stringify(answer)}`);
    costs.push(agent.end());
  }
  return { definitionTokens: agent.definitionTokens, shown: agent.shown, costs };
}
