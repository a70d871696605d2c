/** The consent of a person to a server from a registry: when it is not needed, and to the folders that a container would get. */
import { ClaudikinsError } from "../../base/errors.ts";
import { expand } from "../../config/expand.ts";
import { visible } from "../../policy/visible.ts";
import { isOfSystem } from "../../setup/registries/mounts.ts";
import type { TemplateValues, Wanted } from "../../setup/registries/templates.ts";
import { mustBeSeen } from "../../setup/registries/unseen.ts";
import type { Variant } from "../../setup/registries/variant.ts";
import type { Io } from "../io.ts";
import { canAsk, confirm } from "../terminal/prompt.ts";
import type { ChosenServer, Wish } from "./find-server.ts";

/** The error if `--yes` is not about one exact version, or a registry is in doubt. */
export function unclear({ server, unsure }: ChosenServer, { version, isFullName }: Wish): ClaudikinsError | undefined {
  if (!isFullName || version === undefined) {
    return new ClaudikinsError("USAGE", "--yes needs the exact name and version of the server", {
      hint: `For the version shown: claudikins add ${server.name}@${server.version} --yes`,
    });
  }
  const [first] = unsure;
  if (!first) return undefined;
  return new ClaudikinsError(
    first.error.code,
    `${first.error.message}, so it is not clear whether it has ${server.name}`,
    {
      hint: "Choose a registry with --registry.",
    },
  );
}

/** The error if `--yes` would accept what a person should see. */
export function unseen({ server }: ChosenServer, variant: Variant, known: TemplateValues): ClaudikinsError | undefined {
  const facts = mustBeSeen(server, variant, known);
  if (facts.length === 0) return undefined;
  const lines = facts.map((fact) => `\n  ${visible(fact)}`).join("");
  return new ClaudikinsError("POLICY_DENIED", `--yes is not enough for what a person should see:${lines}`, {
    hint: `Run it in your own terminal: claudikins add ${server.name}@${server.version}`,
  });
}

export function needsPerson({ server }: ChosenServer): ClaudikinsError {
  return new ClaudikinsError(
    "POLICY_DENIED",
    "Only a person can add a server from a registry, and this command has no terminal",
    {
      // The flag that needs no person is in the documentation only: an agent would follow a hint.
      hint: `Run it in your own terminal: claudikins add ${server.name}`,
    },
  );
}

/** Whether the user agrees, or there is nothing to agree to. Throws CANCELLED. */
export async function agreesToFolders(wanted: readonly Wanted[], values: TemplateValues, io: Io): Promise<boolean> {
  const folders = wanted
    .filter(({ isTyped, isInMount }) => isTyped && isInMount)
    .flatMap(({ name }) => values.get(name) ?? []);
  if (folders.length === 0) return true;
  const lines = folders.map((folder) => {
    const path = expand(folder, io.env).value;
    const now = path === folder ? "" : ` (now ${path})`;
    return `  ${visible(folder + now)}${isOfSystem(path) ? ", which is a part of the system" : ""}\n`;
  });
  await io.stderr.write(`\nIts container gets from this machine, with everything in it:\n${lines.join("")}`);
  return canAsk(io) && confirm(io, "Is that right?");
}
