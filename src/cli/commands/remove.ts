/** `claudikins remove`: removes servers, their generated files and, if wanted, their sign-ins. */

import { toClaudikinsError } from "../../base/errors.ts";
import { about, list, record, text, yesOrNo } from "../../base/json-shape.ts";
import { type ConfigFile, configAsText, openConfigFile } from "../../config/config-file.ts";
import type { NetworkServer } from "../../config/load.ts";
import { isAnsweredFor } from "../../config/trust/require.ts";
import { removeServers } from "../../setup/settings/remove-servers.ts";
import { logout, standings } from "../../setup/sign-in/sign-ins.ts";
import { isTrustedFile } from "../../setup/trust/trust-config.ts";
import { command, flag, place, several } from "../command.ts";
import { configArgs, whichConfig } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { appOf } from "../open-app.ts";
import { saying } from "../terminal/progress.ts";
import { canAsk, confirm } from "../terminal/prompt.ts";
import { warningLabel } from "../terminal/terminal-output.ts";
import { openCredentials } from "./auth.ts";

export default command({
  description:
    "Remove servers from claudikins.json, and delete their generated files. The file keeps its comments and formatting.",
  args: {
    names: place("Names of the servers in the config", { complete: "entry", ...several }),
    logout: flag("Also sign out of the servers, without asking"),
    user: flag("Remove the servers from your own config, even inside a project"),
    config: configArgs.config,
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
    const configFile = openConfigFile(whichConfig(args, io));
    const names = [...new Set(args.names)];
    const isUsable = isAnsweredFor({ flag: args.config, env: io.env }) || (await isTrustedFile(configFile, io.env));
    let signedOut = new Map<string, boolean>();
    const { changed } = await removeServers(names, configFile, io.env, {
      // Sign out before the entry is removed. An untrusted config could name any address or folder.
      before: async () => {
        if (isUsable) signedOut = await signOut(names, configFile, args, io);
      },
    });
    if (isUsable) await removeFiles(configFile, changed.after, io);
    const { file } = configFile;
    const notes = [...signedOut].map(([server, isOut]) =>
      isOut ? `Signed out of ${server}\n` : `The sign-in to ${server} was kept; --logout removes it\n`,
    );
    return {
      json: { config: file, removed: names.map((server) => ({ server, signedOut: signedOut.get(server) })) },
      text: names.map((server) => `Removed ${server} from ${file}\n`).join(""),
      note: notes.join(""),
    };
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
  const credentials = await openCredentials(io, { json, config });
  const done = new Map<string, boolean>();
  for (const { server: name, state } of standings(servers, credentials)) {
    if (state !== "signed in" && state !== "expired") continue;
    const server = servers.find((each) => each.name === name)!;
    const isWanted = wanted || (!json && canAsk(io) && (await confirm(io, `Sign out of ${name} as well?`)));
    const signedOut = isWanted ? logout([server], credentials, { signal: io.interrupted, env: io.env }) : undefined;
    if (signedOut) await saying(io.stderr, `Signing out of ${name}`, signedOut);
    done.set(name, isWanted === true);
  }
  return done;
}

/** If this fails, the next gen deletes the files. */
async function removeFiles(configFile: ConfigFile, text: string, io: Io): Promise<void> {
  try {
    await using app = await appOf(await configAsText(configFile, text, io.env), io, { cwd: io.cwd });
    if (app.catalog.index.servers.length > 0) await app.catalog.prune();
  } catch (thrown) {
    await io.stderr.write(
      `${warningLabel} the generated files were not deleted: ${toClaudikinsError(thrown).message}\n`,
    );
  }
}
