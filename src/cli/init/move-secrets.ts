/** Moves secrets in plain text out of the entries that init imports, if the user agrees. */
import { counted } from "../../base/counted.ts";
import { namesFor, type PlainSecret, plainSecretsOf, refer } from "../../setup/agents/plain-secrets.ts";
import { planSwitch } from "../../setup/agents/switch-over.ts";
import { confirm } from "../terminal/prompt.ts";
import { type InitContext, keepSecret } from "./context.ts";
import type { StartedPlan } from "./start-servers.ts";

export const secretWishes = ["move", "keep"] as const;

/**
 * Only the user's own config gets references to secrets: others who work on a project do not have them. Plans again what changes. Throws
 * what `setSecret` throws, except that a keychain that does not answer leaves the values where they are.
 */
export async function moveSecrets(
  started: readonly StartedPlan[],
  wish: string | undefined,
  context: InitContext,
): Promise<void> {
  const ofUser = started.filter(({ plan }) => plan.inventory.configFile.kind === "user");
  const secrets = ofUser.flatMap(({ plan }) => plainSecretsOf(plan.inventory.servers));
  if (secrets.length === 0 || wish === "keep" || !(await wants(secrets, wish, context))) return;
  const { io, isDry } = context;
  const names = await namesFor(secrets, io.env);
  const kept: [PlainSecret, string][] = [];
  for (const each of names) if (isDry || (await keepSecret(each[1], each[0].value, context))) kept.push(each);
  refer(kept);
  for (const start of ofUser) {
    start.plan = await planSwitch(start.plan.inventory, { env: io.env, named: context.named });
  }
}

async function wants(
  secrets: readonly PlainSecret[],
  wish: string | undefined,
  { io, asks, say }: InitContext,
): Promise<boolean> {
  if (wish === "move") return true;
  const byServer = Map.groupBy(secrets, ({ server }) => server.name);
  const lines = [...byServer].map(([server, all]) => `  ${server}: ${all.map(({ key }) => key).join(", ")}\n`);
  const what = `${counted(secrets.length, "value")} of imported servers ${secrets.length === 1 ? "looks like a secret" : "look like secrets"}`;
  if (!asks) {
    await say(
      `\nnote: ${what}:\n${lines.join("")}To keep ${secrets.length === 1 ? "it" : "them"} in the system's keychain and not in the config: claudikins init --secrets move\n`,
    );
    return false;
  }
  await say(`\n${what}:\n${lines.join("")}`);
  return confirm(io, "Keep them in the system's keychain and not in the config?");
}
