/** `claudikins secrets`: sets, lists and removes the values of `${secret:NAME}` in configs, and encrypts those of `${kms:…}`. */
import { randomBytes } from "node:crypto";
import { ageText } from "../../base/duration.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { about, either, list as listOf, nothing, oneOf, record, text, texts, time } from "../../base/json-shape.ts";
import { keyBytes } from "../../base/seal.ts";
import { secretsFile } from "../../config/locations.ts";
import { removeNamedSecrets, requireSecretName, setNamedSecret } from "../../config/secrets/change.ts";
import { type ListedSecret, listedSecrets } from "../../config/secrets/listed.ts";
import { kmsNames } from "../../config/secrets/references.ts";
import { command, flag, option, place, several } from "../command.ts";
import type { Io } from "../io.ts";
import { listAnswer } from "../output/nouns.ts";
import { secretValue } from "../terminal/prompt.ts";

const places = oneOf("keychain", "file");

export const list = command({
  description:
    "List the secrets that are set or that your configs name, where they are kept, and which servers use them. Values are never shown.",
  args: {
    config: option("List the servers of this config file, besides your own", { valueHint: "file", complete: "file" }),
  },
  examples: ["claudikins secrets", "claudikins secrets list --json"],
  json: record({
    secrets: listOf(
      record({
        name: text,
        place: about("null: it is not set", either(places, nothing)),
        "setAt?": time,
        servers: about("The servers of this config and of your own that use it", texts),
      }),
    ),
    file: about("The file with the names, and with the values that no keychain keeps", text),
  }),
  async run(args, io) {
    const secrets = await listedSecrets({ flag: args.config, cwd: io.cwd, env: io.env });
    return listAnswer(
      io,
      {
        json: { secrets, file: secretsFile(io.env) },
        rows: secrets,
        none: "There are no secrets. To set one: claudikins secrets set NAME\n",
        note: noteOf(secrets, io),
      },
      [
        ["name", ({ name }) => name],
        ["kept in", ({ place: where }) => where ?? "not set"],
        ["set", ({ setAt }) => (setAt === undefined ? "-" : ageText(Date.now() - setAt))],
        [{ text: "used by" }, ({ servers }) => servers.join(", ") || "-"],
      ],
    );
  },
});

function noteOf(secrets: readonly ListedSecret[], { env }: Io): string {
  const missing = secrets.find(({ place: where }) => where === null);
  const inFile = secrets.some(({ place: where }) => where === "file");
  const lines = [
    ...(inFile ? [`Kept in a file that only you can read: ${secretsFile(env)}\n`] : []),
    ...(missing ? [`To set one: claudikins secrets set ${missing.name}\n`] : []),
  ];
  return lines.join("");
}

export const set = command({
  description:
    "Set a secret. The value is read from a prompt without echo, or from stdin if that is not a terminal. It is never an argument, because other programs can read those.",
  args: {
    name: place("Name of the secret, as in ${secret:NAME}", {
      required: true,
      complete: "secret",
      unseen: "Give the value at the prompt or on stdin: other programs can read arguments",
    }),
    file: flag("Keep the value in a file that only you can read, not in the system's keychain"),
  },
  examples: ["claudikins secrets set GITHUB_TOKEN", "claudikins secrets set GITHUB_TOKEN < token.txt"],
  json: record({ name: text, place: places }),
  async run(args, io) {
    const { name } = args;
    requireSecretName(name);
    const value = await secretValue(`Value of ${name}`, `claudikins secrets set ${name}`, io);
    const { place: where, ...kept } = await setNamedSecret(name, value, {
      inFile: args.file,
      env: io.env,
    });
    const why = kept.note === undefined ? "" : `${kept.note}\n`;
    return {
      json: { name, place: where },
      text: `Set ${name} in ${kept.where}\n`,
      note: `${why}Servers use it when they start next: "\${secret:${name}}"\n`,
    };
  },
});

export const encrypt = command({
  description:
    "Encrypt a value with a key of a key management service, and print the reference for the config. The service decrypts it when it is needed, so the config has no " +
    "secret. The value is read from a prompt without echo, or from stdin if that is not a terminal.",
  args: {
    service: place("The service: aws, google, azure, or vault for its transit engine", {
      required: true,
      choices: kmsNames,
    }),
    key: place("The key, as the service names it", {
      required: true,
      unseen: "Give the value at the prompt or on stdin: other programs can read arguments",
    }),
    "new-key": flag("Encrypt a new random key of 32 bytes, for auth.sealingKey"),
  },
  examples: [
    "claudikins secrets encrypt aws alias/claudikins",
    "claudikins secrets encrypt vault claudikins --new-key",
    "claudikins secrets encrypt vault claudikins < token.txt",
  ],
  json: record({ reference: text }),
  async run({ service, key, "new-key": isNew }, io) {
    const found = kmsNames.find((each) => each === service);
    if (!found) throw new ClaudikinsError("USAGE", `There is no service "${service}": ${kmsNames.join(", ")}`);
    const line = `claudikins secrets encrypt ${service} ${key}`;
    const given = isNew ? randomBytes(keyBytes).toString("base64") : await secretValue("Value", line, io);
    const value = given.replace(/\r?\n$/, "");
    if (value === "") throw new ClaudikinsError("USAGE", "The value is empty");
    const [{ encrypted }, { ServiceFailure }] = await Promise.all([
      import("../../servers/values/kms/kms.ts"),
      import("../../base/service-request.ts"),
    ]);
    try {
      const reference = await encrypted(found, key, value, io.env);
      return { json: { reference }, text: `${reference}\n`, note: "Write it into the config, in place of the value\n" };
    } catch (error) {
      if (!(error instanceof ServiceFailure)) throw error;
      throw new ClaudikinsError("NEEDS_SECRET", `The value cannot be encrypted: ${error.message}`, {
        hint: error.hint,
      });
    }
  },
});

export const remove = command({
  description: "Remove secrets. Servers that use them do not start any more.",
  args: {
    names: place("Names of secrets", { required: true, complete: "secret", ...several }),
  },
  examples: ["claudikins secrets remove GITHUB_TOKEN"],
  json: record({ removed: texts }),
  async run(args, io) {
    const removed = [...new Set(args.names)];
    const why = await removeNamedSecrets(removed, io.env);
    return {
      json: { removed },
      text: removed.map((name) => `Removed ${name}\n`).join(""),
      note: why === undefined ? "" : `${why}\n`,
    };
  },
});
