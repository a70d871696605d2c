/** `claudikins config server`: changes the entry of a server, after the changed server was tried. */
import { counted } from "../../base/counted.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { about, either, exactly, named, number, record, text, texts } from "../../base/json-shape.ts";
import { addressKeys } from "../../config/address.ts";
import { openConfigFile, type PortableEntry } from "../../config/config-file.ts";
import { serverFolder } from "../../config/discover.ts";
import { storedSecret } from "../../config/secrets/store.ts";
import { checkTrust, isAnsweredFor } from "../../config/trust/require.ts";
import { haveSecrets, maskOf } from "../../setup/agents/secrets.ts";
import { changeEntry, type EntryChange, plannedEntry, referringTo } from "../../setup/settings/edit-entry.ts";
import type { EntrySecret } from "../../setup/settings/entry-secrets.ts";
import { isTrustedFile, untrustedText } from "../../setup/trust/trust-config.ts";
import { unifiedDiff } from "../../setup/unified-diff.ts";
import { command, flag, option, place, repeatable, several } from "../command.ts";
import { askingForTrust, changeArgs, configArgs, whichConfig } from "../flags/config-flags.ts";
import { parsePairs } from "../flags/flags.ts";
import type { Io } from "../io.ts";
import { appOf } from "../open-app.ts";
import { saying } from "../terminal/progress.ts";
import { canAsk, secretValue } from "../terminal/prompt.ts";
import { warningLabel } from "../terminal/terminal-output.ts";

const changed = about("The places of the entry that differ, such as env.API_KEY", texts);

export const server = command({
  description:
    "Change the entry of a server in claudikins.json: its command, address, variables, headers and settings. Everything else stays. The changed server is started once, and nothing is written if that fails. The file keeps its comments and formatting.",
  args: {
    name: place("The server", { required: true, complete: "entry" }),
    what: place("The new command with its arguments, after --", { required: false, complete: "file", ...several }),
    command: option("The new command; the arguments stay", { valueHint: "program", complete: "file" }),
    url: option("The new address", { valueHint: "URL" }),
    env: option("Variable for the server; NAME alone refers to the one in your environment (repeatable)", {
      valueHint: "NAME=value",
      complete: "variable",
      ...repeatable,
    }),
    header: option("HTTP header to send with every request (repeatable)", { valueHint: "Name: value", ...repeatable }),
    secret: option(
      "Refer to this secret in the place of the variable of the same name, or else in a new variable; its value is asked for if it is not set yet (repeatable)",
      { valueHint: "name", complete: "secret", ...repeatable },
    ),
    set: option("Another key of the entry, as key=text or key:=json, such as cwd=./data (repeatable)", {
      valueHint: "key=value",
      ...repeatable,
    }),
    unset: option("Remove a key, a variable as env.NAME, or a header as headers.NAME (repeatable)", {
      valueHint: "key",
      ...repeatable,
    }),
    preview: flag("Only show the change of the file, without secrets, and start and write nothing"),
    "no-check": flag("Do not start the server"),
    trust: configArgs.trust,
    ...changeArgs,
  },
  examples: [
    "claudikins config server files --command /opt/node/bin/npx",
    "claudikins config server files -- npx -y another-file-server .",
    "claudikins config server mailer --secret MAIL_KEY",
    "claudikins config server docs --unset headers.X-Old",
    "claudikins config server files --set startTimeoutMs:=60000 --preview",
  ],
  json: either(
    named(
      "ChangedServer",
      record({
        config: text,
        server: text,
        changed,
        "tools?": number,
        "needs?": about("Variables that are not set; the server was not started", texts),
        "signIn?": about("The server requires a sign-in: claudikins auth login", exactly(true)),
      }),
    ),
    named(
      "PreviewedServer",
      record({ config: text, server: text, changed, diff: about("Secrets are shown as ***", text) }),
    ),
  ),
  async run(args, io) {
    const { name } = args;
    const answer = { flag: args.config, trust: args.trust, cwd: io.cwd, env: io.env };
    const which = whichConfig(args, io);
    if (!args.user && !isAnsweredFor(answer)) await askingForTrust(args, io, () => checkTrust(answer));
    const configFile = openConfigFile(which);
    const isTrusted = await isTrustedFile(configFile, io.env);
    const { file } = configFile;
    const before = configFile.entries.get(name) ?? {};
    const first = await plannedEntry(name, changesIn(args, before), configFile, io.env);
    const references = args.secret.flatMap((secret) => referringTo(secret, first.entry));
    const planned =
      references.length === 0
        ? first
        : await plannedEntry(name, [...changesIn(args, before), ...references], configFile, io.env);
    const answered = { config: file, server: name, changed: planned.changed };
    const note = isTrusted || args.config === undefined ? "" : `note: ${untrustedText(configFile)}\n`;
    if (args.preview) {
      const mask = maskOf([before, planned.entry]);
      const diff = unifiedDiff(file, mask(configFile.text), mask(planned.text));
      return { json: { ...answered, diff }, text: diff || `Unchanged: ${name} in ${file}\n`, note };
    }
    const secrets = await secretsOf(args.secret, io);
    if (planned.changed.length === 0 && secrets.every(({ value }) => value === undefined)) {
      if (givesNothing(args)) {
        throw new ClaudikinsError("USAGE", "Say what to change: see claudikins config server --help");
      }
      return { json: answered, text: `Unchanged: ${name} in ${file}\n`, note };
    }
    const { checked, notes } = await changeEntry(planned, {
      env: io.env,
      secrets,
      isChecked: !args["no-check"],
      signal: io.interrupted,
      open: (config) => appOf(config, io, { cwd: serverFolder(config.origin, io.cwd, io.env) }),
      onStart: (each, started) => saying(io.stderr, `Starting ${each}`, started),
    });
    const needs = checked && "needs" in checked ? checked.needs : undefined;
    const lines = [
      note,
      ...notes.map((each) => `note: ${each}\n`),
      ...(configFile.kind === "project" && haveSecrets([planned.entry])
        ? [`${warningLabel} ${file} contains a secret: keep it out of git, or replace the secret with \${VAR}\n`]
        : []),
      needs ? `The server was not started, because these variables are not set: ${needs.join(", ")}\n` : "",
      checked && "signIn" in checked ? `Sign in: claudikins auth login ${name}\n` : "",
    ];
    const works = checked?.tools === undefined ? "" : `. It works: ${counted(checked.tools, "tool")}`;
    return {
      json: { ...answered, ...checked },
      text: `Changed ${planned.changed.join(", ") || "the secret"} of ${name} in ${file}${works}\n`,
      note: lines.join(""),
    };
  },
});

interface GivenChanges {
  what: readonly string[];
  command?: string | undefined;
  url?: string | undefined;
  env: readonly string[];
  header: readonly string[];
  secret: readonly string[];
  set: readonly string[];
  unset: readonly string[];
}

function givesNothing({ what, command: program, url, env, header, secret, set, unset }: GivenChanges): boolean {
  return [what, env, header, secret, set, unset].every((each) => each.length === 0) && !program && !url;
}

/** Throws USAGE. */
function changesIn(given: GivenChanges, entry: PortableEntry): EntryChange[] {
  const { what, command: program, url, env, header, set, unset } = given;
  if (what.length > 0 && program !== undefined) {
    throw new ClaudikinsError("USAGE", "Give the command with --command or after --, not both");
  }
  const [first, ...rest] = what;
  const addressKey = addressKeys.find((key) => Object.hasOwn(entry, key)) ?? "url";
  const variables = parsePairs(env, "--env", { form: /^([A-Za-z_]\w*)(?:=([\s\S]*))?$/, shown: "NAME=value" });
  const headers = parsePairs(header, "--header", { form: /^([^\s:]+)\s*:\s*([\s\S]*)$/, shown: "'Name: value'" });
  return [
    ...unset.map((place): EntryChange => ({ at: placeIn(place) })),
    ...(first === undefined ? [] : [{ at: ["command"], value: first } as const]),
    ...(first === undefined || (rest.length === 0 && entry["args"] === undefined)
      ? []
      : [{ at: ["args"], value: rest } as const]),
    ...(program === undefined ? [] : [{ at: ["command"], value: program } as const]),
    ...(url === undefined ? [] : [{ at: [addressKey], value: url } as const]),
    ...[...variables].map(([name, value]): EntryChange => ({ at: ["env", name], value: value ?? `\${${name}}` })),
    ...[...headers].map(([name, value]): EntryChange => ({ at: ["headers", name], value: value ?? "" })),
    ...set.map(settingIn),
  ];
}

/** A name may have dots. */
function placeIn(text: string): EntryChange["at"] {
  const [, key, name] = /^(env|headers)\.([\s\S]+)$/.exec(text) ?? [];
  return key === undefined ? [text] : [key, name ?? ""];
}

/** Throws USAGE. */
function settingIn(word: string): EntryChange {
  const [, place = "", sign, value = ""] = /^([^=]+?)(:?=)([\s\S]*)$/.exec(word) ?? [];
  // No error has the value, which may be a secret.
  if (place === "") throw new ClaudikinsError("USAGE", "--set takes key=text or key:=json");
  if (sign === "=") return { at: placeIn(place), value };
  try {
    return { at: placeIn(place), value: JSON.parse(value) };
  } catch {
    throw new ClaudikinsError("USAGE", `The value of ${place} is not JSON`);
  }
}

/** Asks for the values of secrets that are not set. Throws USAGE and CANCELLED. */
async function secretsOf(names: readonly string[], io: Io): Promise<EntrySecret[]> {
  const missing = names.filter((name) => !storedSecret(name, io.env));
  if (missing.length > 1 && !canAsk(io)) {
    throw new ClaudikinsError("USAGE", `Only one secret can be read from stdin: ${missing.join(", ")}`, {
      hint: "Set them before: claudikins secrets set NAME",
    });
  }
  const secrets: EntrySecret[] = [];
  for (const name of names) {
    const read = () => secretValue(`Value of ${name}`, `claudikins secrets set ${name}`, io);
    secrets.push({ name, ...(missing.includes(name) ? { value: await read() } : {}) });
  }
  return secrets;
}
