/** `claudikins executions code` and `again`: the code of an execution, and a second run of it. */
import { about, record, text } from "../base/json-shape.ts";
import { programAgain } from "../programs/execution/run-again.ts";
import { executionPlace, idOf } from "./all-executions.ts";
import { command } from "./command.ts";
import { runDetached } from "./daemon/with-daemon.ts";
import { configArgs, doorArgs } from "./flags/config-flags.ts";
import { openApp } from "./open-app.ts";

const execution = executionPlace({ required: true, complete: "execution" });

export const code = command({
  description:
    "Print the code of an execution. The code is kept with --record and for programs that run in the background. Pipe it into a file to change it, or into exec.",
  args: { execution, ...configArgs, ...doorArgs },
  examples: ["claudikins executions code last > report.ts", "claudikins executions code last | claudikins exec -"],
  json: record({ execution: text, code: text }),
  async run(args, io) {
    await using app = await openApp(io, args, { asks: false });
    const id = await idOf(args.execution, app);
    const { source } = await programAgain(id, app, await app.executions());
    return { json: { execution: id, code: source }, text: source.endsWith("\n") ? source : `${source}\n` };
  },
});

export const again = command({
  description:
    "Run the code of an execution again in the background, and print the id of the new execution. It begins with the labels of what the first one had read. " +
    "To see first what it would change, use executions dry-run.",
  args: { execution, ...configArgs, ...doorArgs },
  examples: ["claudikins executions again last"],
  json: record({ execution: about("Id of the new execution", text) }),
  async run(args, io) {
    const from = await (async () => {
      await using app = await openApp(io, args, { asks: false });
      const id = await idOf(args.execution, app);
      // An execution that cannot be repeated is refused before a daemon is started.
      await programAgain(id, app, await app.executions());
      return id;
    })();
    const id = await runDetached({ again: from }, args, io);
    return { json: { execution: id }, text: `${id}\n`, note: `For its outcome: claudikins executions wait ${id}\n` };
  },
});
