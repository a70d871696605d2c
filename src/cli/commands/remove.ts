/** `claudikins remove`: takes servers out of the config, with their generated files, and their sign-ins where that is wanted. */
import type { NetworkServer } from "../../config/load.ts";
import { isAnsweredFor } from "../../config/trust/require.ts";
import { ClaudikinsError, toClaudikinsError } from "../../errors.ts";
import {
  type ConfigFile,
  configAsText,
  openConfigFile,
  withoutServer,
  writeConfigFile,
} from "../../flows/config-file.ts";
import { logout, standings } from "../../flows/sign-ins.ts";
import { isTrustedFile, keepTrust } from "../../flows/trust/keep-trust.ts";
import { didYouMean } from "../../near-names.ts";
import { command, commonArgs } from "../command.ts";
import { openCredentials } from "../credentials.ts";
import { several } from "../flags.ts";
import type { Io } from "../io.ts";
import { saying } from "../progress.ts";
import { canAsk, confirm } from "../prompt.ts";
import { toolboxOf } from "../session.ts";
import { about, list, record, text, yesOrNo } from "../shapes.ts";

export default command({
  name: "remove",
  description: "Take servers out of claudikins.json, with their generated files. Its comments and its formatting stay.",
  args: {
    names: { type: "positional", description: "Their names in the config", complete: "entry", ...several },
    logout: { type: "boolean", description: "Give up their sign-ins as well, without asking" },
    user: { type: "boolean", description: "Of the user's config, whatever this project has" },
    config: commonArgs.config,
    json: commonArgs.json,
  },
  examples: ["claudikins remove github", "claudikins remove github sentry --logout"],
  json: record({
    config: text,
    removed: list(
      record({ server: text, "signedOut?": about("Of those with a sign-in: whether it is given up", yesOrNo) }),
    ),
  }),
  async run(args, io, all) {
    if (args.user && args.config !== undefined) throw new ClaudikinsError("USAGE", "Give --user or --config, not both");
    const configFile = openConfigFile({ flag: args.config, user: args.user, cwd: io.cwd, env: io.env });
    const names = [...new Set(all("names"))];
    for (const name of names) if (!configFile.entries.has(name)) throw unknown(name, configFile);
    const isTrusted = await isTrustedFile(configFile, io.env);
    const isUsable = isTrusted || isAnsweredFor({ flag: args.config, env: io.env });
    // Before: what has no entry cannot be signed out of. A config that nobody trusts names folders and addresses at will.
    const signedOut = isUsable ? await signOut(names, configFile, args, io) : new Map<string, boolean>();
    let text = configFile.text;
    for (const name of names) text = withoutServer(configFile, text, name);
    writeConfigFile(configFile, text);
    if (isTrusted) await keepTrust(configFile, text, io.env);
    if (isUsable) await removeFiles(configFile, text, io);
    const removed = names.map((server) => ({
      server,
      ...(signedOut.has(server) ? { signedOut: signedOut.get(server) } : {}),
    }));
    if (args.json) await io.stdout.write(`${JSON.stringify({ config: configFile.file, removed })}\n`);
    else {
      for (const { server } of removed) await io.stdout.write(`Removed ${server} from ${configFile.file}\n`);
      for (const [server, isOut] of signedOut) {
        await io.stderr.write(
          isOut ? `Signed out of ${server}\n` : `The sign-in to ${server} is kept: --logout gives it up\n`,
        );
      }
    }
    return 0;
  },
});

/** Throws SERVER_NOT_FOUND before anything is removed. */
function unknown(name: string, { entries, file }: ConfigFile): ClaudikinsError {
  const names = [...entries.keys()];
  const there =
    names.length === 0
      ? "It has none."
      : `There are: ${names.slice(0, 20).join(", ")}${names.length > 20 ? " …" : ""}.`;
  return new ClaudikinsError("SERVER_NOT_FOUND", `${file} has no server called "${name}"`, {
    hint: [didYouMean(name, names), there].filter(Boolean).join(" "),
  });
}

/** By server, whether the sign-in is given up; those that have one. A config that is wrong elsewhere has none that are known. */
async function signOut(
  names: string[],
  configFile: ConfigFile,
  { logout: wanted, json }: { logout?: boolean | undefined; json?: boolean | undefined },
  io: Io,
): Promise<Map<string, boolean>> {
  const config = await configAsText(configFile, configFile.text, io.env).catch(() => undefined);
  const servers = names.flatMap((name): NetworkServer[] => {
    const server = config?.servers.get(name);
    return server?.url === undefined ? [] : [server];
  });
  const credentials = openCredentials(io, { json });
  const done = new Map<string, boolean>();
  for (const { server: name, state } of standings(servers, credentials)) {
    if (state !== "signed in" && state !== "expired") continue;
    const server = servers.find((each) => each.name === name)!;
    const isWanted = wanted || (!json && canAsk(io) && (await confirm(io, `Give up the sign-in to ${name} as well?`)));
    const signedOut = isWanted ? logout([server], credentials, io.interrupted) : undefined;
    if (signedOut) await saying(io.stderr, `Signing out of ${name}`, signedOut);
    done.set(name, isWanted === true);
  }
  return done;
}

/** Where that cannot be done, the next gen does it. */
async function removeFiles(configFile: ConfigFile, text: string, io: Io): Promise<void> {
  try {
    await using toolbox = await toolboxOf(await configAsText(configFile, text, io.env), io, { cwd: io.cwd });
    if (toolbox.index.servers.length > 0) await toolbox.prune();
  } catch (thrown) {
    await io.stderr.write(`warning: the generated files are still there: ${toClaudikinsError(thrown).message}\n`);
  }
}
