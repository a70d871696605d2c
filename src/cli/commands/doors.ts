/** `claudikins doors`: lists, shows, makes and removes named views of the config. */
import { about, list as listOf, number, record, text, texts } from "../../base/json-shape.ts";
import { shellWord } from "../../base/shell-word.ts";
import { openConfigFile } from "../../config/config-file.ts";
import { agentsByDoor } from "../../setup/agents/agent-doors.ts";
import { addDoor, doorOf, removeDoors } from "../../setup/settings/doors.ts";
import { isTrustedFile, untrustedText } from "../../setup/trust/trust-config.ts";
import { command, flag, option, place, repeatable, several } from "../command.ts";
import { changeArgs, configArgs, openConfig, whichConfig } from "../flags/config-flags.ts";
import { openApp } from "../open-app.ts";
import { listAnswer } from "../output/nouns.ts";
import { agentSurroundings } from "./skill.ts";

const doorShape = {
  door: text,
  servers: texts,
  agents: about("Agents on this machine whose settings start claudikins behind the door", texts),
};

export const list = command({
  description: "List the doors of the config: the servers behind each, and the agents that use it.",
  args: configArgs,
  examples: ["claudikins doors", "claudikins doors list --json"],
  json: record({ doors: listOf(record(doorShape)) }),
  async run(args, io) {
    const config = await openConfig(args, io);
    const users = await agentsByDoor(agentSurroundings(io), config.origin.kind === "demo" ? null : config.origin.file);
    const doors = await Promise.all(
      config.doors.map(async (door) => {
        const { servers } = await openConfig({ ...args, door }, io, false);
        return { door, servers: [...servers.keys()], agents: users.get(door) ?? [] };
      }),
    );
    return listAnswer(io, { json: { doors }, rows: doors, none: `There are no doors. To make one: ${example}\n` }, [
      ["door", ({ door }) => door],
      ["agents", ({ agents }) => agents.join(", ") || "-"],
      [{ text: "servers" }, ({ servers }) => servers.join(", ")],
    ]);
  },
});

const example = "claudikins doors add code github filesystem";

export const show = command({
  description: "Show what is behind a door: its servers, their tools, and how an agent gets it.",
  args: { door: doorPlace(), ...configArgs },
  examples: ["claudikins doors show qa"],
  json: record({
    ...doorShape,
    tools: about("Tools behind the door, as far as they are known", number),
    command: about("Starts the server of an agent behind it", texts),
  }),
  async run(args, io) {
    const { door } = args;
    await using app = await openApp(io, { ...args, door });
    const { origin, servers, instructions } = app.config;
    const users = await agentsByDoor(agentSurroundings(io), origin.kind === "demo" ? null : origin.file);
    const counts = app.catalog.visibleServers.map(({ name, tools }) => ({ name, tools: tools?.length }));
    const agents = users.get(door) ?? [];
    const json = {
      door,
      servers: [...servers.keys()],
      agents,
      tools: counts.reduce((sum, { tools = 0 }) => sum + tools, 0),
      command: ["claudikins", "serve", "--door", door],
    };
    const lines = [
      `door     ${door}`,
      `agents   ${agents.join(", ") || "none"}`,
      `servers  ${counts.map(({ name, tools }) => `${name} (${tools ?? "?"})`).join(", ") || "none"}`,
      ...(instructions === undefined ? [] : [`says     ${instructions}`]),
    ];
    return { json, text: `${lines.join("\n")}\n`, note: useText(door) };
  },
});

export const add = command({
  description:
    "Make a door: the servers behind it, and which of their tools. If you name no server, the door has the servers of the tools in --allow, or all servers. The file keeps its comments and formatting.",
  args: {
    door: place("Name of the door: lower-case letters, digits and dashes", { required: true }),
    servers: place("Servers behind the door", { required: false, complete: "server", ...several }),
    allow: option("Only these tools, as server.tool; * matches any text (repeatable)", {
      valueHint: "tool",
      complete: "tool",
      ...repeatable,
    }),
    deny: option("Without these tools (repeatable)", { valueHint: "tool", complete: "tool", ...repeatable }),
    ask: option("Ask before each call of these tools (repeatable)", {
      valueHint: "tool",
      complete: "tool",
      ...repeatable,
    }),
    instructions: option("A text for the agent, before the list of servers", { valueHint: "text" }),
    replace: flag("Replace a door of this name"),
    ...changeArgs,
  },
  examples: [
    "claudikins doors add code github",
    "claudikins doors add all-but-git --deny 'git.*'",
    "claudikins doors add readers --allow 'github.get_*' --deny github.get_secret",
  ],
  json: record({ config: text, ...doorShape }),
  async run(args, io) {
    const { door, servers } = args;
    const configFile = openConfigFile(whichConfig(args, io));
    const { file } = configFile;
    const isTrusted = await isTrustedFile(configFile, io.env);
    await addDoor(door, doorOf(args), configFile, io.env, {
      replaces: args.replace === true,
      replaceHint: "add --replace",
    });
    const agents = (await agentsByDoor(agentSurroundings(io), file)).get(door) ?? [];
    return {
      json: { config: file, door, servers, agents },
      text: `Made the door "${door}" in ${file}\n`,
      note: (isTrusted ? "" : `note: ${untrustedText(configFile)}\n`) + useText(door),
    };
  },
});

export const remove = command({
  description:
    "Remove doors from the config. An agent that starts claudikins behind one gets an error until it has another one.",
  args: {
    doors: place("Names of doors", { required: true, complete: "door", ...several }),
    ...changeArgs,
  },
  examples: ["claudikins doors remove qa"],
  json: record({
    config: text,
    removed: texts,
    agents: about("Agents that still name one of them", texts),
  }),
  async run(args, io) {
    const configFile = openConfigFile(whichConfig(args, io));
    const { file } = configFile;
    const names = [...new Set(args.doors)];
    await removeDoors(names, configFile, io.env);
    const users = await agentsByDoor(agentSurroundings(io), file);
    const agents = [...new Set(names.flatMap((name) => users.get(name) ?? []))];
    const warning = `note: ${agents.join(", ")} still starts claudikins behind it. To see which: claudikins doctor\n`;
    return {
      json: { config: file, removed: names, agents },
      text: `Removed ${names.join(", ")} from ${file}\n`,
      note: agents.length > 0 ? warning : "",
    };
  },
});

function doorPlace() {
  return place("Name of the door", { required: true, complete: "door" });
}

function useText(door: string): string {
  const name = shellWord(door);
  return `To give it to an agent: claudikins init --host codex --door ${name} --apply\nIn a shell: claudikins list --door ${name}\n`;
}
