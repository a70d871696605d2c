/** `claudikins remove`: removes servers, their generated files and, if wanted, their sign-ins. */
import type { NetworkServer } from "../../config/load.ts";
import { isAnsweredFor } from "../../config/trust/require.ts";
import { ClaudikinsError, toClaudikinsError } from "../../errors.ts";
import {
  type ConfigFile,
  configAsText,
  noSuchServer,
  openConfigFile,
  withoutServer,
  writeConfigFile,
} from "../../settings/config-file.ts";
import { isTrustedFile, keepTrust } from "../../settings/trust/trust-config.ts";
import { logout, standings } from "../../sign-in/sign-ins.ts";
import { command, commonArgs, several } from "../command.ts";
import { openCredentials } from "../credentials.ts";
import type { Io } from "../io.ts";
import { saying } from "../progress.ts";
import { canAsk, confirm } from "../prompt.ts";
import { toolboxOf } from "../session.ts";
import { about, list, record, text, yesOrNo } from "../shapes.ts";

export default command({
  description:
    "Remove servers from claudikins.json, and delete their generated files. The file keeps its comments and formatting.",
  args: {
    names: { type: "positional", description: "Names of the servers in the config", complete: "entry", ...several },
    logout: { type: "boolean", description: "Also sign out of the servers, without asking" },
    user: { type: "boolean", description: "Remove the servers from your own config, even inside a project" },
    config: commonArgs.config,
    json: commonArgs.json,
  },
  examples: ["claudikins remove github", "claudikins remove github sentry --logout"],
  json: record({
    config: text,
    removed: list(
      record({
        server: text,
        "signedOut?": about("For a server you were signed in to: whether you were signed out", yesOrNo),
      }),
    ),
  }),
  async run(args, io) {
    if (args.user && args.config !== undefined) throw new ClaudikinsError("USAGE", "Use --user or --config, not both");
    const configFile = openConfigFile({ flag: args.config, user: args.user, cwd: io.cwd, env: io.env });
    const names = [...new Set(args.names)];
    for (const name of names) if (!configFile.entries.has(name)) throw noSuchServer(name, configFile);
    const isTrusted = await isTrustedFile(configFile, io.env);
    const isUsable = isTrusted || isAnsweredFor({ flag: args.config, env: io.env });
    // Sign out before the entry is removed. An untrusted config could name any address or folder.
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
          isOut ? `Signed out of ${server}\n` : `The sign-in to ${server} was kept; --logout removes it\n`,
        );
      }
    }
    return 0;
  },
});

/** For each server with a sign-in, whether it was signed out. Empty if the config is invalid. */
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
    const isWanted = wanted || (!json && canAsk(io) && (await confirm(io, `Sign out of ${name} as well?`)));
    const signedOut = isWanted ? logout([server], credentials, io.interrupted) : undefined;
    if (signedOut) await saying(io.stderr, `Signing out of ${name}`, signedOut);
    done.set(name, isWanted === true);
  }
  return done;
}

/** If this fails, the next gen deletes the files. */
async function removeFiles(configFile: ConfigFile, text: string, io: Io): Promise<void> {
  try {
    await using toolbox = await toolboxOf(await configAsText(configFile, text, io.env), io, { cwd: io.cwd });
    if (toolbox.catalog.index.servers.length > 0) await toolbox.catalog.prune();
  } catch (thrown) {
    await io.stderr.write(`warning: the generated files were not deleted: ${toClaudikinsError(thrown).message}\n`);
  }
}
