/** `--preview` of commands that change the policy: what the change would have meant for the calls of the last days. */
import { about, record, text } from "../../base/json-shape.ts";
import { Approvals } from "../../policy/approvals/approvals.ts";
import type { ToolState } from "../../policy/decision.ts";
import { impactDays, impactKeys, impactOf } from "../../programs/call-log/impact.ts";
import { openStore } from "../../store/open.ts";
import { type CommandAnswer, flag } from "../command.ts";
import type { Io } from "../io.ts";

export const previewArgs = {
  preview: flag(`Only say what it would have meant for the calls of the last ${impactDays} days, and change nothing`),
} as const;

export const previewShape = about("With --preview", record({ config: text, preview: record(impactKeys) }));

/**
 * Reads the call log. A change of the user's own config counts for all projects. `tools` has own names and patterns. A call that a rule has
 * denied stays denied.
 */
export async function previewAnswer(
  tools: readonly { server: string; tool?: string }[],
  state: ToolState,
  config: string,
  { user }: { user?: boolean | undefined },
  { env }: Io,
): Promise<CommandAnswer> {
  await using store = openStore(env);
  const approvals = new Approvals({ env });
  const open = await approvals.open().finally(() => approvals[Symbol.asyncDispose]());
  const options = { config: user ? undefined : config, keepsDenials: true, open };
  const preview = await impactOf(tools, state, store.callLog, options);
  return {
    json: { config, preview },
    text: `${preview.text}\n`,
    note: "Nothing was changed. Conditions of rules are not judged, because the call log has no arguments.\n",
  };
}
