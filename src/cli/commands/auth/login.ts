/** `claudikins auth login`: signs in to a server, so that its tools can be called. */
import { loginCommand } from "../../../clients/auth/words.ts";
import type { NetworkServer } from "../../../config/load.ts";
import { ClaudikinsError } from "../../../errors.ts";
import { type LoginReport, login, serversThatWait, serverToSignInTo } from "../../../flows/sign-ins.ts";
import { command, commonArgs } from "../../command.ts";
import { openCredentials } from "../../credentials.ts";
import { parseDuration } from "../../flags.ts";
import { Activity, saying } from "../../progress.ts";
import { openToolbox } from "../../session.ts";
import { about, either, nothing, number, oneOf, record, text, texts, time } from "../../shapes.ts";
import { TerminalGuide } from "../../sign-in-guide.ts";
import { trustArgs } from "../../trust-prompt.ts";

const usualTimeoutMs = 300_000;
const maxTimeoutMs = 3_600_000;

export default command({
  name: "login",
  description:
    "Sign in to a server: your browser opens, or you open the address that is shown and paste the one it ends at.",
  args: {
    server: {
      type: "positional",
      required: false,
      description: "Its name in the config; without one, the server that waits for a sign-in",
      complete: "server",
    },
    "no-browser": {
      type: "boolean",
      description: "Open no browser: show the address, and wait for the one that is pasted",
    },
    timeout: { type: "string", valueHint: "time", description: "How long you may take, for example 90s or 15m (5m)" },
    force: { type: "boolean", description: "Sign in again, also where that is done or not needed" },
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
    "null where no server waits",
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
    const timeoutMs =
      args.timeout === undefined ? usualTimeoutMs : parseDuration(args.timeout, "--timeout", maxTimeoutMs);
    await using toolbox = await openToolbox(io, args);
    const server = args.server === undefined ? await theOneThatWaits() : serverToSignInTo(args.server, toolbox);
    if (!server) {
      if (args.json) await io.stdout.write("null\n");
      return 0;
    }
    // The parser reads `--no-…` as a flag that is taken back.
    const browser = args["browser"] !== false;
    const activity = new Activity(io.stderr, `Asking ${server.name}`);
    const onSay = () => activity.end();
    const guide = new TerminalGuide(io, { server: server.name, browser, json: args.json === true, onSay });
    const report = await login(server, toolbox, openCredentials(io, args), {
      guide,
      timeoutMs,
      signal: io.interrupted,
      force: args.force === true,
    }).finally(() => activity.end());
    if (args.json) await io.stdout.write(`${JSON.stringify(report)}\n`);
    else {
      await io.stdout.write(`${reportText(report)}\n`);
      if (report.result !== "signed in") await io.stderr.write("To sign in all the same, add --force.\n");
    }
    return 0;

    async function theOneThatWaits(): Promise<NetworkServer | undefined> {
      const { waiting, broken } = await saying(
        io.stderr,
        "Asking which servers wait for a sign-in",
        serversThatWait(toolbox, io.interrupted),
      );
      const names = waiting.map(({ name }) => name);
      if (names.length > 1) {
        throw new ClaudikinsError("USAGE", `${names.length} servers wait for a sign-in: ${names.join(", ")}`, {
          hint: `Say which: ${loginCommand(names[0] ?? "")}`,
        });
      }
      if (names.length === 0 && !args.json) {
        await io.stderr.write("No server of the config waits for a sign-in.\n");
        const others = broken.map(({ name }) => name).join(", ");
        if (others !== "") await io.stderr.write(`Not known of: ${others} (claudikins list --check says why)\n`);
      }
      return waiting[0];
    }
  },
});

function reportText({ server, result, tools }: LoginReport): string {
  const count = `${tools} ${tools === 1 ? "tool" : "tools"}`;
  if (result === "no sign-in needed") return `${server} wants no sign-in: ${count}`;
  return `${result === "signed in" ? "Signed in" : "Already signed in"} to ${server}: ${count}`;
}
