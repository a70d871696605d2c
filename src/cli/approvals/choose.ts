/** Finds the approvals that the arguments of a command name. */
import { ageText } from "../../base/duration.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { visible } from "../../policy/visible.ts";
import { type Approval, scopeText } from "../../store/approval.ts";
import { toolId } from "../../tools/model.ts";
import type { Io } from "../io.ts";
import { idLike, ofChosen } from "../output/nouns.ts";

/** Throws APPROVAL_NOT_FOUND, and USAGE if several ids fit. */
export function rowOf(wanted: string, rows: readonly Approval[]): Approval {
  const fitting = rows.filter(({ id }) => id === wanted || id.startsWith(wanted) || id.endsWith(wanted));
  const open = fitting.filter(({ id, state }) => id === wanted || state === "open");
  const ids = (open.length > 0 ? open : fitting).map(({ id }) => id);
  const id = idLike(wanted, ids, `Several ids fit "${wanted}"`);
  const row = rows.find((each) => each.id === id);
  if (row) return row;
  throw new ClaudikinsError("APPROVAL_NOT_FOUND", `There is no approval "${wanted}"`, { hint: listHint });
}

export const listHint = "To list the calls that wait: claudikins approvals --all";

/** The open rows that the ids or `--all-of` name. Throws USAGE and APPROVAL_NOT_FOUND. */
export function chosenRows(
  args: { ids: string[]; "all-of"?: string | undefined; all?: boolean | undefined; config?: string | undefined },
  all: readonly Approval[],
  io: Io,
): Approval[] {
  const { ids, "all-of": allOf } = args;
  if (allOf === undefined) {
    if (ids.length === 0) throw new ClaudikinsError("USAGE", "Give an id or --all-of", { hint: listHint });
    if (args.all) throw new ClaudikinsError("USAGE", "--all belongs to --all-of");
    return [...new Set(ids.map((id) => openRowOf(id, all)))];
  }
  if (ids.length > 0) throw new ClaudikinsError("USAGE", "Give ids or --all-of, not both");
  const rows = ofChosen(all, args, io).filter(
    ({ state, server, tool }) => state === "open" && (allOf === server || allOf === toolId(server, tool)),
  );
  // `a.b.c` can be a tool of `a`, a tool of `a.b`, or a server. One must not be approved where another was meant.
  const meant = new Set(rows.map(({ server, tool }) => JSON.stringify(allOf === server ? [server] : [server, tool])));
  if (meant.size > 1) {
    throw new ClaudikinsError("USAGE", `${allOf} can mean ${meant.size} different tools or servers that wait`, {
      hint: `Give the ids of the calls instead. ${listHint}`,
    });
  }
  if (rows.length > 0) return rows;
  const where = args.all ? "" : " with this config";
  throw new ClaudikinsError("APPROVAL_NOT_FOUND", `No call of ${allOf} waits for approval${where}`, { hint: listHint });
}

function openRowOf(wanted: string, all: readonly Approval[]): Approval {
  const row = rowOf(wanted, all);
  if (row.state === "open") return row;
  throw new ClaudikinsError("APPROVAL_NOT_FOUND", `The call ${row.id} no longer waits: ${stateText(row)}`, {
    hint: row.state === "expired" ? "Run the program again to be asked again." : listHint,
  });
}

/** How a row ended, with its time. */
export function stateText({ state, decidedAt, decidedBy, scope, reason }: Approval): string {
  const when = ageText(Date.now() - (decidedAt ?? 0));
  const where =
    decidedBy === null
      ? ""
      : { agent: " in the agent", terminal: " at the terminal", page: " on the page", command: "" }[decidedBy];
  if (state === "open") return "it waits";
  if (state === "expired") return `it expired ${when}`;
  if (state === "withdrawn") return `it was withdrawn ${when}`;
  return `it was ${state}${scopeText(scope)}${where} ${when}${reason === null ? "" : `, with the reason ${JSON.stringify(visible(reason))}`}`;
}
