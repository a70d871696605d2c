/** `claudikins list tools`: one line per tool, or with `--detailed` how to call it. */

import { listTools, type MissingServer, type ShownTool } from "../catalog/list-tools.ts";
import { ClaudikinsError } from "../errors.ts";
import { hasColours } from "./colours.ts";
import { foundText } from "./found-text.ts";
import type { Io } from "./io.ts";
import { Activity } from "./progress.ts";
import { errorJson } from "./report.ts";
import { openToolbox } from "./session.ts";
import { table } from "./table.ts";
import type { ConfigFlags } from "./trust-prompt.ts";

export interface ToolListOptions {
  servers: string[];
  detailed: boolean;
  json: boolean;
  flags: ConfigFlags;
}

/** Returns the exit code of the first named server that cannot be asked, else 0. Throws SERVER_NOT_FOUND. */
export async function writeToolList({ servers, detailed, json, flags }: ToolListOptions, io: Io): Promise<number> {
  await using toolbox = await openToolbox(io, flags);
  const activity = new Activity(io.stderr, "Fetching the tools of the servers");
  const { tools, missing } = await listTools(servers, toolbox.catalog, io.interrupted).finally(() => activity.end());
  const failure = servers.length > 0 ? failureOf(missing) : undefined;
  if (json) {
    const shown = detailed ? tools : tools.map(({ signature: _, example: __, ...tool }) => tool);
    const list = { tools: shown, missing };
    if (failure) await io.stderr.write(errorJson(failure, { list }));
    else await io.stdout.write(`${JSON.stringify(list)}\n`);
    return failure?.exitCode ?? 0;
  }
  if (tools.length > 0) await io.stdout.write(detailed ? detailsText(tools, io) : linesText(tools, io));
  else if (missing.length === 0) await io.stderr.write("There are no tools.\n");
  for (const { server, message, hint } of missing) {
    await io.stderr.write(`Not listed: ${server} (${[message, hint].filter(Boolean).join(". ")})\n`);
  }
  return failure?.exitCode ?? 0;
}

function linesText(tools: ShownTool[], { stdout }: Io): string {
  const rows = tools.map(({ id, description }) => [id, description]);
  // Only a terminal gets the head, so that a program can read one tool per line.
  const text = table(["tool", "description"], rows, stdout.columns);
  return stdout.isTerminal ? text : text.slice(text.indexOf("\n") + 1);
}

function detailsText(tools: ShownTool[], io: Io): string {
  const found = tools.map((tool) => ({ kind: "tool" as const, score: 0, ...tool }));
  return foundText(found, "signatures", { colours: hasColours(io.stdout, io), width: io.stdout.columns });
}

function failureOf(missing: MissingServer[]): ClaudikinsError | undefined {
  const [first] = missing;
  if (!first) return undefined;
  if (missing.length === 1) return new ClaudikinsError(first.code, first.message, { hint: first.hint });
  const names = missing.map(({ server }) => server).join(", ");
  return new ClaudikinsError(first.code, `${missing.length} servers could not list their tools: ${names}`);
}
