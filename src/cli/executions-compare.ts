/** `claudikins executions compare`: two executions side by side. */
import { ClaudikinsError } from "../base/errors.ts";
import { choicesFor, usualChoice } from "../programs/comparing/choices.ts";
import { compared } from "../programs/comparing/compare.ts";
import { comparisonShape } from "../programs/comparing/comparison.ts";
import { type ComparedExecution, recordedContents, storedContents } from "../programs/comparing/contents.ts";
import type { ExecutionRecord } from "../programs/trace/record.ts";
import { readRecord } from "../programs/trace/store.ts";
import { openStore } from "../store/open.ts";
import type { Store } from "../store/store.ts";
import { type AllExecutions, allExecutions, executionPlace, idIn } from "./all-executions.ts";
import { command, option } from "./command.ts";
import { type ConfigFlags, configArgs, doorArgs } from "./flags/config-flags.ts";
import { countUpTo } from "./flags/flags.ts";
import type { Io } from "./io.ts";
import { defaultCalls } from "./limits.ts";
import { openApp } from "./open-app.ts";
import { comparisonText } from "./output/comparison-text.ts";

export const compare = command({
  description:
    "Compare two executions that have ended: state, time, calls side by side in their order, code, value and logs. The one that began first is the earlier one. " +
    "Without a second execution, the first one is compared with the one that it was run again from, or with the latest earlier one of the same program or the same code. " +
    "Arguments, results and values are compared if they were recorded (exec --record), otherwise their sizes.",
  args: {
    execution: executionPlace({ required: true, complete: "execution" }),
    with: executionPlace({ required: false, complete: "execution" }),
    limit: option(`Maximum number of calls to show (default ${defaultCalls}, those that differ first)`, {
      short: "n",
      ...countUpTo(100_000),
    }),
    ...configArgs,
    ...doorArgs,
  },
  examples: ["claudikins executions compare last", "claudikins executions compare last --json"],
  json: comparisonShape,
  async run(args, io) {
    await using store = openStore(io.env);
    const all = await allExecutions(args, io, store);
    const record = await recordIn(all, args.execution, store);
    const other =
      args.with === undefined ? await usualOther(record, store) : await recordIn(all, args.with, store, record);
    const json = compared(...(await contentsOf([record, other], args, io)));
    return { json, text: comparisonText(json, args.limit ?? defaultCalls, io.stdout.columns) };
  },
});

/** Throws FILE_NOT_FOUND and USAGE. */
async function recordIn(
  all: AllExecutions,
  wanted: string,
  store: Store,
  first?: ExecutionRecord,
): Promise<ExecutionRecord> {
  const id = idIn(all, wanted);
  if (id === first?.id) throw new ClaudikinsError("USAGE", `"${wanted}" is the same execution as the first one`);
  const record = await readRecord(store, id);
  if (record) return record;
  throw new ClaudikinsError("FILE_NOT_FOUND", `The execution "${id}" has no record yet`, {
    hint: `An execution is recorded when it has ended. To wait for it: claudikins executions wait ${id}`,
  });
}

/** Throws USAGE if there is no execution that is likely meant. */
async function usualOther(record: ExecutionRecord, store: Store): Promise<ExecutionRecord> {
  const usual = usualChoice(record, await choicesFor(record, store));
  const other = usual && (await readRecord(store, usual.summary.id));
  if (other) return other;
  throw new ClaudikinsError(
    "USAGE",
    `No execution of the same program or the same code as "${record.id}" is recorded`,
    {
      hint: `Name another one: claudikins executions compare ${record.id} ID. To list them: claudikins executions`,
    },
  );
}

/** Records can be read without the config, which may be broken or untrusted. The store has more of programs in the background. */
async function contentsOf(
  records: [ExecutionRecord, ExecutionRecord],
  flags: ConfigFlags,
  io: Io,
): Promise<[ComparedExecution, ComparedExecution]> {
  const [one, other] = records;
  try {
    await using app = await openApp(io, flags, { asks: false });
    const executions = await app.executions();
    return [await storedContents(one, app, executions), await storedContents(other, app, executions)];
  } catch (error) {
    if (flags.door !== undefined || !(error instanceof ClaudikinsError)) throw error;
    return [recordedContents(one), recordedContents(other)];
  }
}
