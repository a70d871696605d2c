/** `claudikins auth login`: signs in to a server, so that its tools can be called. */
import { loginCommand } from "../../../clients/auth/words.ts";
import type { NetworkServer } from "../../../config/load.ts";
import { ClaudikinsError } from "../../../errors.ts";
import { type LoginReport, login, serversThatWait, serverToSignInTo } from "../../../sign-in/sign-ins.ts";
import { command, commonArgs } from "../../command.ts";
import { openCredentials } from "../../credentials.ts";
import { duration } from "../../flags.ts";
import { Activity, saying } from "../../progress.ts";
import { openToolbox } from "../../session.ts";
import { about, either, nothing, number, oneOf, record, text, texts, time } from "../../shapes.ts";
import { TerminalGuide } from "../../sign-in-guide.ts";
import { trustArgs } from "../../trust-prompt.ts";

const usualTimeoutMs = 300_000;
const maxTimeoutMs = 3_600_000;

export default command({
  description:
    "Sign in to a server. Your browser opens; without a browser, open the address that is shown and paste the address you are redirected to.",
  args: {
    server: {
      type: "positional",
      required: false,
      description: "Name of the server in the config (default: the server that needs a sign-in)",
      complete: "server",
    },
    "no-browser": {
      type: "boolean",
      description: "Do not open a browser: show the address and wait for you to paste the redirect",
    },
    timeout: {
      type: "string",
      valueHint: "time",
      description: "Time limit for the sign-in, such as 90s or 15m (default 5m)",
      parse: duration(maxTimeoutMs),
    },
    force: { type: "boolean", description: "Sign in again, even if you are signed in or no sign-in is needed" },
    config: commonArgs.config,
    ...trustArgs,
    json: commonArgs.json,
  },
  examples: [
    "claudikins auth login github",
    "claudikins auth login github --no-browser",
    "claudikins auth login github --force --timeout 15m",
  ],
  json: about(
    "null if no server needs a sign-in",
    either(
      record({
        server: text,
        result: oneOf("signed in", "already signed in", "no sign-in needed"),
        tools: number,
        "scopes?": texts,
        "expiresAt?": time,
      }),
      nothing,
    ),
  ),
  async run(args, io) {
    const timeoutMs = args.timeout ?? usualTimeoutMs;
    await using toolbox = await openToolbox(io, args);
    const server = args.server === undefined ? await theOneThatWaits() : serverToSignInTo(args.server, toolbox);
    if (!server) {
      if (args.json) await io.stdout.write("null\n");
      return 0;
    }
    const browser = !args["no-browser"];
    const activity = new Activity(io.stderr, `Contacting ${server.name}`);
    const onSay = () => activity.end();
    const guide = new TerminalGuide(io, { server: server.name, browser, json: args.json === true, onSay });
    const report = await login(server, toolbox.catalog, openCredentials(io, args), {
      guide,
      timeoutMs,
      signal: io.interrupted,
      force: args.force === true,
    }).finally(() => activity.end());
    if (args.json) await io.stdout.write(`${JSON.stringify(report)}\n`);
    else {
      await io.stdout.write(`${reportText(report)}\n`);
      if (report.result !== "signed in") await io.stderr.write("To sign in anyway, add --force.\n");
    }
    return 0;

    async function theOneThatWaits(): Promise<NetworkServer | undefined> {
      const { waiting, broken } = await saying(
        io.stderr,
        "Checking which servers need a sign-in",
        serversThatWait(toolbox.catalog, io.interrupted),
      );
      const names = waiting.map(({ name }) => name);
      if (names.length > 1) {
        throw new ClaudikinsError("USAGE", `${names.length} servers need a sign-in: ${names.join(", ")}`, {
          hint: `Choose one: ${loginCommand(names[0] ?? "")}`,
        });
      }
      if (names.length === 0 && !args.json) {
        await io.stderr.write("No server in the config needs a sign-in.\n");
        const others = broken.map(({ name }) => name).join(", ");
        if (others !== "") await io.stderr.write(`Could not check: ${others} (claudikins list --check shows why)\n`);
      }
      return waiting[0];
    }
  },
});

function reportText({ server, result, tools }: LoginReport): string {
  const count = `${tools} ${tools === 1 ? "tool" : "tools"}`;
  if (result === "no sign-in needed") return `${server} needs no sign-in: ${count}`;
  return `${result === "signed in" ? "Signed in" : "Already signed in"} to ${server}: ${count}`;
}
