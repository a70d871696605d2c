/** `claudikins auth logout`: gives up sign-ins where the server takes that, and forgets them. */
import { ClaudikinsError } from "../../../errors.ts";
import { logout, networkServers, serverToSignInTo, standings } from "../../../sign-in/sign-ins.ts";
import { command, commonArgs } from "../../command.ts";
import { openCredentials } from "../../credentials.ts";
import { saying } from "../../progress.ts";
import { openToolbox } from "../../session.ts";
import { list, record, text, yesOrNo } from "../../shapes.ts";
import { trustArgs } from "../../trust-prompt.ts";

export default command({
  description: "Sign out of a server: revoke its tokens, if the server supports that, and delete them.",
  args: {
    server: {
      type: "positional",
      required: false,
      description: "Name of the server in the config",
      complete: "server",
    },
    all: { type: "boolean", description: "Sign out of every server in the config" },
    config: commonArgs.config,
    ...trustArgs,
    json: commonArgs.json,
  },
  examples: ["claudikins auth logout github", "claudikins auth logout --all"],
  json: record({ servers: list(record({ server: text, signedOut: yesOrNo })) }),
  async run(args, io) {
    await using toolbox = await openToolbox(io, args);
    const credentials = openCredentials(io, args);
    if ((args.server === undefined) === (args.all !== true)) throw whichOne();
    const servers =
      args.server === undefined ? networkServers(toolbox.config) : [serverToSignInTo(args.server, toolbox)];
    const done = await saying(io.stderr, "Signing out", logout(servers, credentials, io.interrupted));
    if (args.json) await io.stdout.write(`${JSON.stringify({ servers: done })}\n`);
    else {
      const lines = done
        .filter(({ signedOut }) => signedOut || args.server !== undefined)
        .map(({ server, signedOut }) =>
          signedOut ? `Signed out of ${server}` : `You were not signed in to ${server}`,
        );
      await io.stdout.write(lines.length > 0 ? `${lines.join("\n")}\n` : "You were not signed in to any server\n");
    }
    return 0;

    function whichOne(): ClaudikinsError {
      const signedIn = standings(networkServers(toolbox.config), credentials).filter(
        ({ state }) => state === "signed in",
      );
      const names = signedIn.map(({ server }) => server).join(", ");
      return new ClaudikinsError("USAGE", args.all ? "Give a server or --all, not both" : "No server given", {
        hint:
          names === ""
            ? "You are not signed in to any server."
            : `Signed in: ${names}. To sign out of all: claudikins auth logout --all`,
      });
    }
  },
});
