/**
 * Runs a program in the background in the project of the working directory, prints its id, and stays until it is killed. Arguments: the
 * code.
 */

import { App } from "../../../src/app/app.ts";
import { silentLog } from "../../../src/base/log.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";

const { env } = process;
const cwd = process.cwd();
const app = new App(await loadConfig({ cwd, env }), new Sandbox(), { env, cwd, log: silentLog });
const executions = await app.executions();
const execution = executions.start({ source: process.argv[2] ?? "" }, app, { isBackground: true });
await execution.stored();
console.log(execution.id);
await execution.outcome;
setInterval(() => {}, 1_000);
