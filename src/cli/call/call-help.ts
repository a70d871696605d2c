/** The help of `claudikins call` for one tool: its signature and its required arguments. */
import { isObject } from "../../base/json-object.ts";
import { shellWord } from "../../base/shell-word.ts";
import { describe, type ShellCall } from "../../programs/shell-call.ts";
import { listTools } from "../../tools/catalog/list-tools.ts";
import { toolId } from "../../tools/model.ts";
import { foundText } from "../commands/search.ts";
import type { ConfigFlags } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { openApp } from "../open-app.ts";

/** Starts the server only if its tools are not known yet. Throws what finding the tool throws. */
export async function callHelp(
  wanted: Pick<ShellCall, "target" | "tool">,
  flags: ConfigFlags,
  io: Io,
): Promise<string> {
  await using app = await openApp(io, flags, { sharing: "shell", ownMeanwhile: true });
  const { server, tool } = await describe(wanted, app, io.interrupted);
  const { tools } = await listTools([server.name], app.catalog, io.interrupted);
  const found = tools
    .filter(({ name }) => name === tool.name)
    .map((each) => ({ kind: "tool" as const, score: 0, exampleTells: false, ...each }));
  const { required } = isObject(tool.inputSchema) ? tool.inputSchema : {};
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  const words = names.map((name) => ` ${shellWord(name)}=…`).join("");
  return `${foundText(found, "signatures", io.stdout.columns)}
Usage: claudikins call ${shellWord(toolId(server.name, tool.name))}${words}
All options: claudikins call --help
`;
}
