/** The receiver of a notification as a person names it: the same for the command line and the page. */
import { kindsOfHost } from "../../base/address-reach.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import type { Environment } from "../../config/environment.ts";
import type { Config } from "../../config/load.ts";
import type { SavedProgram } from "../saved/model.ts";
import { referencedValue } from "./referenced-value.ts";
import type { ProgramState, Receiver } from "./stored-triggers.ts";
import { secretFor } from "./wanted-source.ts";

/** The states that are told, unless the user says others. */
export const usualStates = ["failed", "waiting"] satisfies ProgramState[];

export interface WantedReceiver {
  command?: string | undefined;
  webhook?: string | undefined;
  secret?: string | undefined;
  tool?: string | undefined;
  agent?: boolean | undefined;
}

interface ReceiverOptions {
  config: Config;
  env: Environment;
  /** The tool of the config that a person names. Throws SERVER_NOT_FOUND and TOOL_NOT_FOUND. */
  toolNamed(word: string): Promise<{ server: string; tool: string }>;
}

/** Throws USAGE, NEEDS_SECRET, NEEDS_VARIABLE, SERVER_NOT_FOUND and TOOL_NOT_FOUND. */
export async function receiverOf(args: WantedReceiver, options: ReceiverOptions): Promise<Receiver> {
  const { config, env, toolNamed } = options;
  const { command: line, webhook, secret, tool, agent } = args;
  const given = [line, webhook, tool, agent ? true : undefined].filter((each) => each !== undefined).length;
  if (given !== 1) {
    throw new ClaudikinsError("USAGE", given === 0 ? "Nobody is notified" : "A notification has one receiver", {
      hint: "Add --command, --webhook, --tool or --agent.",
    });
  }
  if (webhook === undefined && secret !== undefined) throw new ClaudikinsError("USAGE", "--secret is for --webhook");
  if (webhook !== undefined) return webhookReceiver(webhook, secret, config, env);
  if (tool !== undefined) {
    if (tool.includes("*")) throw new ClaudikinsError("USAGE", `--tool takes one tool; got "${tool}"`);
    const [, server = "", name = ""] = /^([^.]+)\.(.+)$/.exec(tool) ?? [];
    if (config.servers.get(server)?.isSavedPrograms) {
      throw new ClaudikinsError("USAGE", "A notification cannot run a saved program", {
        hint: `Start it after the other one: claudikins programs on ${name} --after NAME`,
      });
    }
    // The demo has no file.
    const isDemo = config.origin.kind === "demo" && config.servers.has(server);
    const found = isDemo ? { server, tool: name } : await toolNamed(tool);
    return { kind: "tool", server: found.server, tool: found.tool };
  }
  if (line === undefined) return { kind: "agent" };
  if (line.trim() === "") throw new ClaudikinsError("USAGE", "--command is empty");
  if (config.savedPrograms.documents.areFiles) return { kind: "command", command: line };
  throw new ClaudikinsError("USAGE", "Commands are not run for programs in a database", {
    hint: "Use --webhook or --tool: the replicas may be anywhere.",
  });
}

/** The address is judged now: later, a name may lead to another machine. */
async function webhookReceiver(
  given: string,
  named: string | undefined,
  config: Config,
  env: Environment,
): Promise<Receiver & { kind: "webhook" }> {
  const address = await referencedValue(given, "The address", env);
  const url = URL.parse(address);
  const example = "Example: --webhook https://example.com/hook";
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ClaudikinsError("USAGE", "--webhook takes an address that begins with https://", { hint: example });
  }
  const kinds = await kindsOfHost(url);
  if (kinds.includes("forbidden")) throw new ClaudikinsError("USAGE", `Nothing can be sent to ${url.hostname}`);
  const reach = (["loopback", "private"] as const).find((kind) => kinds.includes(kind)) ?? "public";
  if (reach === "public" && url.protocol !== "https:") {
    throw new ClaudikinsError("USAGE", "Everybody on the way can read what is sent with http:", { hint: example });
  }
  const about = { form: "standard", program: "", config };
  const secret = named === undefined ? {} : { secret: (await secretFor(named, about, env)).reference };
  return { kind: "webhook", url: given, origin: url.origin, reach, ...secret };
}

/** Throws USAGE for values or contents that the receiver does not get. */
export function requireReceiving(
  { name }: SavedProgram,
  { kind }: Receiver,
  { hasContents, hasValues }: { hasContents: boolean; hasValues: boolean },
): void {
  if (hasValues && kind !== "tool" && kind !== "webhook") {
    throw new ClaudikinsError("USAGE", "Values and --map are for --tool and --webhook");
  }
  if (hasContents && kind === "agent") {
    throw new ClaudikinsError("USAGE", "An agent gets no contents in this line", {
      hint: `It asks for them: programs.runs({ name: "${name}" })`,
    });
  }
}
