/** `${secret:NAME}` and `${command:…}` in configs: what is a reference, where it may be, and what a command line means. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in configs
import { describe, expect, test } from "bun:test";
import { expand, variablesIn } from "../../src/config/expand.ts";
import { parsedConfig } from "../../src/config/plain-config.ts";
import { commandWords, referencesIn, withValues } from "../../src/config/secrets/references.ts";
import { withoutMistakes } from "../support/config-mistakes.ts";

const problemsOf = (config: object) =>
  parsedConfig(JSON.stringify(config), "claudikins.json")
    .then(withoutMistakes)
    .then(
      () => "",
      (error: Error) => error.message.split("\n").slice(1).join("\n"),
    );
const server = (entry: object) => ({ mcpServers: { far: { command: "far", ...entry } } });

describe("references", () => {
  test("are found in texts of any depth, each once, and filled in by their whole text", () => {
    const value = {
      env: { A: "x ${secret:ONE} ${secret:ONE}" },
      args: ["--key=${command:op read 'op://{a}/b c'}", "$X ${X}", "${kms:vault team/key vault:v1:a+b/c==}"],
    };
    expect([...referencesIn(value)]).toEqual([
      ["${secret:ONE}", { secret: "ONE" }],
      ["${command:op read 'op://{a}/b c'}", { command: "op read 'op://{a}/b c'" }],
      [
        "${kms:vault team/key vault:v1:a+b/c==}",
        { kms: { service: "vault", key: "team/key", text: "vault:v1:a+b/c==" } },
      ],
    ]);
    // Values are not filled in again, and `$&` in a value means nothing.
    const values = new Map([["${secret:ONE}", "$& ${secret:TWO}"]]);
    expect(withValues(value, values).env.A).toBe("x $& ${secret:TWO} $& ${secret:TWO}");
  });

  test("stay when variables are filled in, and can be their defaults", () => {
    const text = "${TOKEN:-${secret:TOKEN}} ${secret:TOKEN}";
    expect(expand(text, {}).value).toBe("${secret:TOKEN} ${secret:TOKEN}");
    expect(expand(text, { TOKEN: "mine" }).value).toBe("mine ${secret:TOKEN}");
    expect([...variablesIn(text)]).toEqual(["TOKEN"]);
  });

  test.each([
    [{ env: { A: "${secret:MY-KEY}" } }, "env: the name in ${secret:NAME} has at most 64 letters"],
    [{ env: { A: "${command:op ${X}}" } }, "env: write ${command:PROGRAM ARGUMENT …}"],
    [{ env: { A: '${command:op "${X}"}' } }, "env: write ${command:PROGRAM ARGUMENT …}"],
    [{ env: { A: "${command:op 'open}" } }, "env: write ${command:PROGRAM ARGUMENT …}"],
    [{ env: { A: "${kms:gcp k t}" } }, "env: write ${kms:SERVICE KEY TEXT} as claudikins secrets encrypt prints it"],
    [{ env: { A: "${kms:aws k}" } }, "env: write ${kms:SERVICE KEY TEXT} as claudikins secrets encrypt prints it"],
    [
      { description: "${secret:A}" },
      'description: "${secret:…}", "${command:…}" and "${kms:…}" can only be in command',
    ],
  ])("are problems of the config if they are wrong, as in %j", async (entry, problem) => {
    expect(await problemsOf(server(entry))).toContain(`mcpServers.far.${problem}`);
  });

  test("may be in the parts of the config that can read them, and in no other", async () => {
    const secret = "${secret:A}";
    expect(await problemsOf({ ...server({}), llm: { preset: "cerebras", apiKey: secret } })).toBe("");
    expect(await problemsOf({ ...server({}), registries: [{ url: "official", headers: { X: secret } }] })).toBe("");
    expect(await problemsOf({ ...server({}), workspace: secret })).toContain("workspace: ");
    const oidc = { issuer: "https://login.example.com", audience: "a", clientId: "c" };
    expect(await problemsOf({ ...server({}), auth: { oidc: { ...oidc, clientSecret: secret } } })).toBe("");
    expect(await problemsOf({ ...server({}), auth: { oidc: { ...oidc, clientId: secret } } })).toContain("auth: ");
    const asking = (more: object) => ({
      ...server({}),
      auth: { oidc: { ...oidc, introspection: { clientId: "api", ...more } } },
    });
    expect(await problemsOf(asking({ clientSecret: secret }))).toBe("");
    expect(await problemsOf(asking({ clientSecret: "s", url: secret }))).toContain("auth: ");
  });
});

test("quotes keep the words of a command together, and nothing else is special", () => {
  expect(commandWords(`op read "op://My Vault/x"`)).toEqual(["op", "read", "op://My Vault/x"]);
  expect(commandWords(`  sh -c 'a | b "c"'   --x="y z"w $HOME *`)).toEqual([
    ...["sh", "-c", 'a | b "c"', "--x=y zw", "$HOME", "*"],
  ]);
});
