/** `claudikins auth`: signs in to servers on the network and out of them, and lists the sign-ins. */

import type { App } from "../../app/app.ts";
import { counted } from "../../base/counted.ts";
import { waitText } from "../../base/duration.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { about, either, list, nothing, oneOf, record, text, texts, time, yesOrNo } from "../../base/json-shape.ts";
import { minuteMs } from "../../base/units.ts";
import { twinsOf } from "../../config/accounts.ts";
import type { Config, NetworkServer } from "../../config/load.ts";
import { credentialsFile } from "../../config/locations.ts";
import type { CredentialStore } from "../../servers/auth/credentials.ts";
import { signInStore } from "../../servers/auth/sign-in-store.ts";
import { loginCommand } from "../../servers/auth/words.ts";
import type { DeviceGuide } from "../../setup/sign-in/sign-in.ts";
import {
  type LoginReport,
  loginShape,
  networkServers,
  type ServerAuthStatus,
  serversThatWait,
  serverToSignInTo,
  login as signIn,
  logout as signOut,
  standings,
} from "../../setup/sign-in/sign-ins.ts";
import { command, flag, option, place } from "../command.ts";
import { configArgs } from "../flags/config-flags.ts";
import { timeUpTo } from "../flags/flags.ts";
import type { Io } from "../io.ts";
import { openApp } from "../open-app.ts";
import { listAnswer } from "../output/nouns.ts";
import { errorText } from "../output/report.ts";
import { isRemoteShell } from "../terminal/browser.ts";
import { Activity, saying } from "../terminal/progress.ts";
import { TerminalGuide } from "../terminal/sign-in-guide.ts";
import type { RowField } from "../terminal/table.ts";
import { stateCell, warningLabel } from "../terminal/terminal-output.ts";

/** Time for a person to sign in, if no flag says otherwise. */
const defaultSignInMs = 5 * minuteMs;

/** Maximum of the flag for this time. */
const maxSignInMs = 60 * minuteMs;

export const login = command({
  description:
    "Sign in to a server. Your browser opens; without a browser, open the address that is shown and paste the address you are redirected to.",
  args: {
    server: place("Name of the server in the config (default: the server that needs a sign-in)", {
      required: false,
      complete: "server",
    }),
    "no-browser": flag("Do not open a browser: show the address and wait for you to paste the redirect"),
    device: flag("Sign in by a short code that you enter on any machine. Over SSH, this is done where it is offered"),
    timeout: option("Time limit for the sign-in, such as 90s or 15m (default 5m)", timeUpTo(maxSignInMs)),
    force: flag("Sign in again, even if you are signed in or no sign-in is needed"),
    ...configArgs,
  },
  examples: [
    "claudikins auth login github",
    "claudikins auth login github --no-browser",
    "claudikins auth login github --device",
    "claudikins auth login github --force --timeout 15m",
  ],
  json: about("null if no server needs a sign-in", either(loginShape, nothing)),
  async run(args, io) {
    await using app = await openApp(io, args, { ownMeanwhile: true });
    const server =
      args.server === undefined
        ? await theOneThatWaits(app, args.json === true, io)
        : serverToSignInTo(args.server, app);
    if (!server) return { json: null };
    const { json } = args;
    const { config } = app;
    const browser = !args["no-browser"];
    if (!browser && args.device) throw new ClaudikinsError("USAGE", "Give --device or --no-browser, not both");
    if (browser && !args.json)
      await io.stderr.write(otherAccountText(server, app.config, await openCredentials(io, { json, config })));
    const activity = new Activity(io.stderr, `Contacting ${server.name}`);
    const onSay = () => activity.end();
    const guide = new TerminalGuide(io, { server: server.name, browser, json: args.json === true, onSay });
    const deviceGuide: DeviceGuide = {
      isRequired: args.device === true,
      showCode: (shown) => guide.showCode(shown),
    };
    const report = await signIn(server, app.catalog, await openCredentials(io, { json, config }), {
      guide,
      device: args.device || (browser && isRemoteShell(io.env)) ? deviceGuide : undefined,
      timeoutMs: args.timeout ?? defaultSignInMs,
      signal: io.interrupted,
      env: io.env,
      force: args.force === true,
    }).finally(() => activity.end());
    const note = report.result === "signed in" ? "" : "To sign in anyway, add --force.\n";
    return { json: report, text: `${reportText(report)}\n`, note };
  },
});

/** A browser that is signed in with one account may use it again, without a question. */
function otherAccountText(server: NetworkServer, { servers }: Config, credentials: CredentialStore): string {
  const twins = new Set(twinsOf(server.name, servers));
  const others = standings(networkServers({ servers }), credentials).filter((each) => twins.has(each.server));
  const signedIn = others.find(({ state }) => state === "signed in");
  if (!signedIn) return "";
  return `note: you are signed in to ${signedIn.server} at the same address. If your browser uses that account again, add --force --no-browser and open the address in a private window\n`;
}

/** The server that needs a sign-in. Throws USAGE if there are several. */
async function theOneThatWaits(app: App, json: boolean, io: Io): Promise<NetworkServer | undefined> {
  const { waiting, broken } = await saying(
    io.stderr,
    "Checking which servers need a sign-in",
    serversThatWait(app.catalog, io.interrupted),
  );
  const names = waiting.map(({ name }) => name);
  if (names.length > 1) {
    throw new ClaudikinsError("USAGE", `${names.length} servers need a sign-in: ${names.join(", ")}`, {
      hint: `Choose one: ${loginCommand(names[0] ?? "")}`,
    });
  }
  if (names.length === 0 && !json) {
    await io.stderr.write("No server in the config needs a sign-in.\n");
    const others = broken.map(({ name }) => name).join(", ");
    if (others !== "") await io.stderr.write(`Could not check: ${others} (claudikins list --check shows why)\n`);
  }
  return waiting[0];
}

function reportText({ server, result, tools }: LoginReport): string {
  const count = counted(tools, "tool");
  if (result === "no sign-in needed") return `${server} needs no sign-in: ${count}`;
  return `${result === "signed in" ? "Signed in" : "Already signed in"} to ${server}: ${count}`;
}

export const logout = command({
  description: "Sign out of a server: revoke its tokens, if the server supports that, and delete them.",
  args: {
    server: place("Name of the server in the config", { required: false, complete: "server" }),
    all: flag("Sign out of every server in the config"),
    ...configArgs,
  },
  examples: ["claudikins auth logout github", "claudikins auth logout --all"],
  json: record({ servers: list(record({ server: text, signedOut: yesOrNo })) }),
  async run(args, io) {
    await using app = await openApp(io, args, { ownMeanwhile: true });
    const credentials = await openCredentials(io, { json: args.json, config: app.config });
    const all = networkServers(app.config);
    const { server } = args;
    if ((server === undefined) === (args.all !== true)) {
      const signedIn = standings(all, credentials).filter(({ state }) => state === "signed in");
      const names = signedIn.map((each) => each.server).join(", ");
      const others = `Signed in: ${names}. To sign out of all: claudikins auth logout --all`;
      throw new ClaudikinsError("USAGE", args.all ? "Give a server or --all, not both" : "No server given", {
        hint: names === "" ? "You are not signed in to any server." : others,
      });
    }
    const servers = server === undefined ? all : [serverToSignInTo(server, app)];
    const done = await saying(
      io.stderr,
      "Signing out",
      signOut(servers, credentials, { signal: io.interrupted, env: io.env }),
    );
    const lines = done
      .filter(({ signedOut }) => signedOut || server !== undefined)
      .map((each) => `${each.signedOut ? "Signed out of" : "You were not signed in to"} ${each.server}\n`);
    return { json: { servers: done }, text: lines.join("") || "You were not signed in to any server\n" };
  },
});

const standingsShape = list(
  record({
    server: text,
    "account?": about("The account that the entry is for", text),
    state: oneOf("signed in", "expired", "signed out", "token in the config", "headersHelper", "off", "each person"),
    "since?": time,
    "expiresAt?": time,
    "renewable?": about("Whether the sign-in is renewed by a request shortly before or after expiresAt", yesOrNo),
    "scopes?": texts,
    "issuer?": text,
  }),
);

export const status = command({
  description: "Show the remote servers and whether you are signed in to them. No server is contacted.",
  args: {
    server: place("Show only this server; exit with code 3 if you are not signed in to it", {
      required: false,
      complete: "server",
    }),
    ...configArgs,
  },
  examples: ["claudikins auth status", "claudikins auth status github", "claudikins auth status --json"],
  json: record({ servers: standingsShape }),
  jsonFailure: { "servers?": standingsShape },
  async run(args, io) {
    await using app = await openApp(io, args, { ownMeanwhile: true });
    const { server } = args;
    const wanted = server === undefined ? networkServers(app.config) : [serverToSignInTo(server, app)];
    const servers = standings(wanted, await openCredentials(io, { json: args.json, config: app.config }));
    const [first] = servers;
    const failure = server !== undefined && first ? failureOf(first) : undefined;
    if (failure) return { failure, beside: { servers }, note: errorText(failure, io.stderr) };
    return listAnswer(io, { json: { servers }, rows: servers, none: "The config has no remote servers.\n" }, fields);
  },
});

function failureOf({ server, state }: ServerAuthStatus): ClaudikinsError | undefined {
  if (state === "signed in") return undefined;
  const message =
    state === "expired" ? `Your sign-in to "${server}" has expired` : `You are not signed in to "${server}"`;
  return new ClaudikinsError("AUTH_REQUIRED", message, { hint: `Sign in: ${loginCommand(server)}` });
}

const fields: RowField<ServerAuthStatus>[] = [
  ["server", ({ account, server }) => (account === undefined ? server : `${server} (${account})`)],
  // A server that is signed out may not require a sign-in.
  ["state", ({ state }) => (state === "signed out" ? stateCell("not signed in") : stateCell(state))],
  ["expires", expiryText],
  [{ text: "scopes" }, (each) => ("scopes" in each ? each.scopes.join(" ") : "") || "-"],
];

function expiryText(standing: ServerAuthStatus): string {
  if (standing.state === "expired") return `${waitText(Date.now() - standing.expiresAt)} ago`;
  if (standing.state !== "signed in") return "-";
  if (standing.renewable) return "renewed automatically";
  return standing.expiresAt === undefined ? "-" : `in ${waitText(standing.expiresAt - Date.now())}`;
}

/** The sign-ins of all the user's projects, or of a team. A damaged file is a warning, but not with `--json`. */
export async function openCredentials(
  { env, stderr }: Pick<Io, "env" | "stderr">,
  { json, config }: { json?: boolean | undefined; config: Pick<Config, "sealing"> | undefined },
): Promise<CredentialStore> {
  const say = (message: string) => void stderr.write(`${warningLabel} ${message}\n`);
  const warn = json ? undefined : say;
  const credentials = await signInStore(credentialsFile(env), { env, sealing: config?.sealing, warn });
  await credentials.ready();
  return credentials;
}
