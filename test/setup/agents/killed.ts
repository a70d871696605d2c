/** A program for switch.test.ts: changes the agents' files of a home, and is killed at a chosen moment. */

import { processEnvironment } from "../../../src/config/environment.ts";
import { apply } from "../../../src/setup/agents/apply.ts";
import { wishesOf } from "../../../src/setup/agents/choices.ts";
import { agents } from "../../../src/setup/agents/supported/agents.ts";
import { commandFor, planSwitch, takeSurvey } from "../../../src/setup/agents/switch-over.ts";

const [cwd = "", moment = ""] = process.argv.slice(2);
const env = processEnvironment();
const surroundings = { env, cwd, platform: process.platform };
const wishes = wishesOf([], true);
const { inventories } = await takeSurvey(agents, { ...surroundings, project: false, wishes });
const [inventory] = inventories;
const { plans } = await planSwitch(inventory!, { env, named: new Set() });
process.stdout.write(`planned ${plans.length}\n`);

const die = () => process.kill(process.pid, "SIGKILL");
const fourth = plans[3]!;
let asked = 0;
let looked = 0;
const signal = {
  get aborted() {
    asked += 1;
    if (moment === "between two files" && asked === 4) die();
    if (moment === "after a file is written" && asked === 5) die();
    return false;
  },
} as AbortSignal;
const { mode } = fourth.found.content;
// Called when the change is noted, and again when the file is written.
Object.defineProperty(fourth.found.content, "mode", {
  get() {
    looked += 1;
    if (moment === "before a file is written" && looked === 2) die();
    return mode;
  },
});
await apply(plans, { command: commandFor(inventory!.configFile, env), surroundings, signal });
