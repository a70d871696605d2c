/** Every task, played both ways in a world of its own; both have to arrive at the same answer, which is known before. */
import { deepStrictEqual } from "node:assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
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
  /** In the order of the tasks. */
  costs: Cost[];
}

export interface Places {
  binary: string;
  /** A new, empty folder. */
  folder(): string;
}

/** The servers' own tools, as a host without claudikins has them. */
export async function playDirect({ binary, folder }: Places): Promise<Played> {
  const world = folder();
  await using agent = await Agent.start(makeWorld(world, binary), world);
  return await play(agent, (task) => task.direct(agent));
}

/** The same servers, behind claudikins. */
export async function playCode({ binary, folder }: Places): Promise<Played> {
  const [world, home] = [folder(), folder()];
  const servers = Object.entries(makeWorld(world, binary)).map(([name, entry]) => [name, { ...entry, cwd: world }]);
  writeFileSync(join(home, "claudikins.json"), JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
  await using agent = await Agent.start({ claudikins: { command: binary, args: ["serve", "--trust"] } }, home);
  const coder = new CodeAgent(agent);
  return await play(agent, (task) => task.code(coder));
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
