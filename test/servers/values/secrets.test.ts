/** Which values of an entry are secrets, in which forms they are recognised, and which values are not secret. */
import { describe, expect, test } from "bun:test";
import { ClaudikinsError } from "../../../src/base/errors.ts";
import { defaultServerTimes } from "../../../src/config/defaults.ts";
import type { ServerConfig } from "../../../src/config/load.ts";
import { ConnectionLost, ServerFailure, SignedOut } from "../../../src/servers/failures/server-failure.ts";
import { redactError, redactorOf, redactTexts } from "../../../src/servers/values/secrets.ts";

const base = { name: "s", disabled: false, needs: [], ...defaultServerTimes };

const redact = (entry: object, text: string) =>
  redactorOf({ ...base, command: "x", args: [], env: {}, ...entry } as ServerConfig)(text);

const redactUrl = (url: string, text: string, headers = {}) =>
  redactorOf({ ...base, url, headers, transport: "http" } as ServerConfig)(text);

describe("a secret is removed:", () => {
  test.each([
    ["the value of a variable", { variables: { MY_TOKEN: "q7w8e9r0" } }, "a q7w8e9r0 b", "a ${MY_TOKEN} b"],
    ["a value of env", { env: { A: "q7w8e9r0" } }, "a q7w8e9r0 b", "a *** b"],
    ["a word with a secret name", { env: { DB_PASSWORD: "sunshine" } }, "sunshine", "***"],
    ["a number with a secret name", { env: { PIN: "123456" } }, "123456", "***"],
    ["a value with a name in camel case", { env: { apiKey: "sunshine" } }, "sunshine", "***"],
    ["the value after a flag", { args: ["--token", "sunshine"] }, "sunshine", "***"],
    ["the value of a flag with =", { args: ["--api-key=sunshine"] }, "sunshine", "***"],
    ["a variable for docker", { args: ["run", "-e", "GITHUB_TOKEN=sunshine"] }, "sunshine", "***"],
    ["a header in an argument", { args: ["--header", "Authorization: Bearer sunshine"] }, "sunshine", "***"],
    ["a token with a known prefix", { args: ["ghp_0123456789abcdef"] }, "ghp_0123456789abcdef", "***"],
    ["a password in an address", { env: { DB: "pg://me:pa55@h/db" } }, "pg://me:pa55@h/db", "pg://***@h/db"],
    ["the longer of two secrets", { env: { A: "q7w8e9r0", B: "q7w8e9r0t1" } }, "q7w8e9r0t1 q7w8e9r0", "*** ***"],
    [
      "a secret that is the end of another one",
      { variables: { LONG: "a1b2c3q7w8e9r0t1u2", SHORT: "q7w8e9r0t1u2" } },
      "q7w8e9r0t1u2",
      "${SHORT}",
    ],
    ["text with special characters of regular expressions", { env: { A: "(a+)+$[x" } }, "(a+)+$[x", "***"],
    [
      "each line of a multi-line value",
      { env: { KEY: "-----BEGIN-----\nabcdef1\nabcdef2" } },
      "| abcdef1\n| abcdef2",
      "| ***\n| ***",
    ],
  ])("%s", (_, entry, text, expected) => expect(redact(entry, text)).toBe(expected));

  test("in an address, in a header, and in every form", () => {
    const url = "https://me:p%C3%A4ss%20word@host/a1b2c3d4e5f6a7b8c9d0/mcp?key=a%20b%2Bc%2F1&page=2&token=sunshine";
    const forms = ["me:päss word", "päss word", "p%C3%A4ss%20word", "p%c3%a4ss%20word", "p%C3%A4ss+word"];
    for (const form of [
      ...forms,
      Buffer.from("me:päss word").toString("base64"),
      "a b+c/1",
      "a%20b%2Bc%2F1",
      "a+b%2Bc%2F1",
    ]) {
      expect([form, redactUrl(url, `<${form}>`)]).toEqual([form, "<***>"]);
    }
    expect(redactUrl(url, url)).toBe("https://***@host/***/mcp?key=***&page=2&token=***");
    const headers = { Authorization: "Bearer sunshine", "X-Org": "acme-corp", Accept: "application/json, text/html" };
    expect(redactUrl("http://h/", "Bearer sunshine; sunshine; acme-corp; application/json", headers)).toBe(
      "Bearer ***; ***; acme-corp; application/json",
    );
    const basic = { Authorization: `Basic ${Buffer.from("me:sunshine").toString("base64")}` };
    expect(redactUrl("http://h/", `${basic.Authorization} sunshine`, basic)).toBe("Basic *** ***");
  });

  test("in OAuth settings", () => {
    const oauth = { clientId: "us", clientSecret: "sunshine", privateKey: "-----BEGIN-----\nmoonlight" };
    expect(redact({ url: "http://h/", headers: {}, oauth }, "us: sunshine moonlight")).toBe("us: *** ***");
    expect(redact({ url: "http://h/", headers: {}, oauth: false }, "sunshine")).toBe("sunshine");
  });

  test("in JSON", () =>
    expect(redact({ env: { A: 'q"7\\w8e9' } }, JSON.stringify({ a: 'q"7\\w8e9' }))).toBe('{"a":"***"}'));
});

describe("redaction", () => {
  test.each([
    ["", "x"],
    ["LEVEL", "debug"],
    ["MODE", "production"],
    ["TOKEN", "true"],
    ["TOKEN", "short"],
    ["PORT", "808080"],
    ["MAX_TOKENS", "100000"],
    ["AUTHOR", "Ada Lovelace"],
    ["REGION", "us-east-1"],
    ["HOST", "db.example.com:5432"],
    ["NAME", "Ada Lovelace"],
    ["ROOT", "/home/me/projects/x"],
    ["TOKEN_FILE", "/run/secrets/token1"],
    ["WINDOWS", "C:\\Users\\me"],
    ["BASE_URL", "https://api.example.com/v1"],
  ])("keeps the harmless value %s=%s", (name, value) => {
    expect(redact({ env: { [name]: value }, variables: { [name]: value } }, `a ${value} b`)).toBe(`a ${value} b`);
  });

  test("keeps an argument after a harmless flag", () => {
    const args = ["-y", "@scope/server-memory@1.2.3", "--root", "/data/1", "--name", "q7w8e9r0", "https://h/mcp"];
    expect(redact({ args }, args.join(" "))).toBe(args.join(" "));
  });

  const token = "ghx_4fK9pQz2Lw8RtY7uVb3N";
  const hidden = (text: string) => redact({ env: { TOKEN: token } }, text);
  const bytes = Buffer.from(token);

  test.each([
    ["base64", bytes.toString("base64")],
    ["base64, one character after the beginning", Buffer.from(`:${token}`).toString("base64")],
    ["base64, two characters after the beginning", Buffer.from(`me${token}!`).toString("base64")],
    ["base64url in a header", `Basic ${Buffer.from(`user?~:${token}`).toString("base64url")}`],
    ["hexadecimal digits", bytes.toString("hex")],
    ["capital hexadecimal digits", bytes.toString("hex").toUpperCase()],
    ["percent-encoding of every byte", bytes.toString("hex").replace(/../g, "%$&")],
    ["escapes of every character", token.replace(/./g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)],
    ["its first half", `cut here: ${token.slice(0, token.length / 2)}`],
    ["its second half", `${token.slice(token.length / 2)} is the rest`],
    ["its middle", `…${token.slice(5, 19)}…`],
    ["the first half of its base64", bytes.toString("base64").slice(0, 18)],
  ])("finds a secret in the form of %s", (_, text) => {
    const shown = hidden(text);
    expect(shown).toContain("***");
    for (let at = 0; at + 11 < text.length; at++) {
      const part = text.slice(at, at + 12);
      if (/^[\w+/%\\-]+$/.test(part) && (token.includes(part) || bytes.toString("hex").includes(part.toLowerCase())))
        expect(shown).not.toContain(part);
    }
  });

  test("keeps the name of a variable that is not set", () => {
    const text = 'needs NOT_SET_TOKEN, as in "${NOT_SET_TOKEN}"';
    expect(redact({ env: { TOKEN: "${NOT_SET_TOKEN}" } }, text)).toBe(text);
  });

  test("keeps the first few characters of a secret, which occur elsewhere", () => {
    expect(hidden(`see ${token.slice(0, 8)}`)).toBe(`see ${token.slice(0, 8)}`);
  });

  test("is quick for a text of 4 MB with a hundred secrets", () => {
    const env = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [`TOKEN_${i}`, `s3cr3t-${i}-${"x9".repeat(10)}${i}`]),
    );
    const text = `${"lorem ipsum s3cr3 dolor ".repeat(170_000)}${env["TOKEN_7"]}`;
    expect(redact({ env }, text).endsWith("dolor ***")).toBe(true);
  }, 20_000);

  test("is as quick for a long secret as for a short one", () => {
    const long = `${"a1".repeat(5_000)}${"1".repeat(50_000)}!`;
    expect(redact({ env: { A: long } }, long)).toBe("***");
  });
});

describe("redactError", () => {
  const hide = (text: string) => text.replaceAll("secret", "***");

  test("keeps the kind of an error, and removes a cause that contains a secret", () => {
    const cause = new Error("the secret");
    const lost = redactError(
      new ConnectionLost("a secret", { hint: "no secret", why: "a secret", cause, sent: false }),
      hide,
    );
    expect(lost).toMatchObject({ message: "a ***", hint: "no ***", sent: false });
    expect((lost as Error).cause).toBeUndefined();
    expect(lost).toBeInstanceOf(ConnectionLost);
    const busy = redactError(
      new ServerFailure("SERVER_UNAVAILABLE", "a secret", { why: "a secret", cause, retryAfterMs: 5 }),
      hide,
    );
    expect(busy).toBeInstanceOf(ServerFailure);
    expect(busy).toMatchObject({ message: "a ***", retryAfterMs: 5 });
    const stands = () => true;
    const signedOut = redactError(new SignedOut("a secret", { why: "the secret expired", stands }), hide);
    expect(signedOut).toBeInstanceOf(SignedOut);
    expect(signedOut).toMatchObject({ code: "AUTH_REQUIRED", why: "the *** expired", stands });
    const ours = redactError(new ClaudikinsError("PROTOCOL_ERROR", "fine", { cause }), hide);
    expect(ours).toMatchObject({ code: "PROTOCOL_ERROR", message: "fine" });
    expect((ours as Error).cause).toBeUndefined();
    expect(redactError(cause, hide)).toMatchObject({ message: "the ***" });
  });

  test("returns an error without secrets unchanged", () => {
    const error = new ClaudikinsError("CANCELLED", "stopped", { cause: new Error("why") });
    expect(redactError(error, hide)).toBe(error);
  });
});

test("redactTexts replaces texts in a value, but not names of fields", () => {
  const hide = (text: string) => text.replaceAll("secret", "***");
  const value = { secret: ["a secret", { b: "secret", c: 1, d: null, e: true }] };
  expect(redactTexts(value, hide)).toEqual({ secret: ["a ***", { b: "***", c: 1, d: null, e: true }] });
});
