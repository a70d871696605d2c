/** `claudikins auth status`: the sign-ins and when they expire, without contacting a server. */
import { loginCommand } from "../../../clients/auth/words.ts";
import { ClaudikinsError } from "../../../errors.ts";
import { networkServers, type Standing, serverToSignInTo, standings } from "../../../sign-in/sign-ins.ts";
import { command, commonArgs } from "../../command.ts";
import { openCredentials } from "../../credentials.ts";
import { errorJson } from "../../report.ts";
import { openToolbox } from "../../session.ts";
import { about, list, oneOf, record, text, texts, time, yesOrNo } from "../../shapes.ts";
import { table } from "../../table.ts";
import { spanText } from "../../time-text.ts";
import { trustArgs } from "../../trust-prompt.ts";

const servers = list(
  record({
    server: text,
    state: oneOf("signed in", "expired", "signed out", "token in the config", "off"),
    "since?": time,
    "expiresAt?": time,
    "renewable?": about("Whether the sign-in is renewed automatically after expiresAt", yesOrNo),
    "scopes?": texts,
    "issuer?": text,
  }),
);

export default command({
  description: "Show the remote servers and whether you are signed in to them. No server is contacted.",
  args: {
    server: {
      type: "positional",
      required: false,
      description: "Show only this server; exit with code 3 if you are not signed in to it",
      complete: "server",
    },
    config: commonArgs.config,
    ...trustArgs,
    json: commonArgs.json,
  },
  examples: ["claudikins auth status", "claudikins auth status github", "claudikins auth status --json"],
  json: record({ servers }),
  jsonFailure: { "servers?": servers },
  async run(args, io) {
    await using toolbox = await openToolbox(io, args);
    const asked = args.server;
    const found = standings(
      asked === undefined ? networkServers(toolbox.config) : [serverToSignInTo(asked, toolbox)],
      openCredentials(io, args),
    );
    const [first] = found;
    const failure = asked !== undefined && first ? failureOf(first) : undefined;
    if (failure) {
      if (!args.json) throw failure;
      await io.stderr.write(errorJson(failure, { servers: found }));
      return failure.exitCode;
    }
    if (args.json) await io.stdout.write(`${JSON.stringify({ servers: found })}\n`);
    else if (found.length === 0) await io.stderr.write("The config has no remote servers.\n");
    else await io.stdout.write(table(["server", "state", "expires", "scopes"], found.map(row), io.stdout.columns));
    return 0;
  },
});

function failureOf({ server, state }: Standing): ClaudikinsError | undefined {
  if (state === "signed in") return undefined;
  const message =
    state === "expired" ? `Your sign-in to "${server}" has expired` : `You are not signed in to "${server}"`;
  return new ClaudikinsError("AUTH_REQUIRED", message, { hint: `Sign in: ${loginCommand(server)}` });
}

function row(standing: Standing): string[] {
  const { server, state } = standing;
  if (state === "expired") return [server, state, `${spanText(Date.now() - standing.expiresAt)} ago`, "-"];
  // The server may not require a sign-in.
  if (state === "signed out") return [server, "not signed in", "-", "-"];
  if (state !== "signed in") return [server, state, "-", "-"];
  const { expiresAt, renewable, scopes } = standing;
  return [server, state, expiryText(expiresAt, renewable), scopes.join(" ") || "-"];
}

function expiryText(expiresAt: number | undefined, renewable: boolean): string {
  if (renewable) return "renewed automatically";
  return expiresAt === undefined ? "-" : `in ${spanText(expiresAt - Date.now())}`;
}
