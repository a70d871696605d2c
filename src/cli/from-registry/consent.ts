/** When a server from a registry may be added without asking a person: the errors that say why not. */
import { ClaudikinsError } from "../../base/errors.ts";
import { visible } from "../../policy/visible.ts";
import type { TemplateValues } from "../../setup/registries/templates.ts";
import { mustBeSeen } from "../../setup/registries/unseen.ts";
import type { Variant } from "../../setup/registries/variant.ts";
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
