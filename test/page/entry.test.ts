/** The entry of a server on the page: it is shown without secrets, changed after it was tried, and undone. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { readSecret, storedSecrets } from "../../src/config/secrets/store.ts";
import type { PageEntry, PageEntryChanged } from "../../src/page/servers-contract.ts";
import { auditLines } from "../support/audit.ts";
import { Page } from "../support/page.ts";
import { shellLine } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

const secrets = ["hunter2-of-the-mailer", "sk-of-the-header-123456", "t0p-secret-argument", "ab", "pass-in-url-9"];
const [ofEnv, ofHeader, ofArgument, short, ofAddress] = secrets as [string, string, string, string, string];
const echo = fixture("echo");
const evil = '<img src=x onerror="alert(1)">';
const text = `{
  "mcpServers": {
    "echo": {
      "command": "no-such-program", // to be repaired
      "args": ${JSON.stringify([...echo.args, "--token", ofArgument, `--api-key=${short}`])},
      "env": { "API_KEY": "${ofEnv}", "MODE": "${short}", "MAIL": "\${MAIL_KEY}", "OLD": "\${NOT_SET:-${ofEnv}}" } // keys
    },
    "docs": { "url": "https://u:${ofAddress}@docs.example/mcp", "headers": { "X-Key": "${ofHeader}" }, "oauth": { "clientSecret": "${ofEnv}" } },
    ${JSON.stringify(evil)}: { "command": "x", "env": { "__proto__": "${ofEnv}", ${JSON.stringify(evil)}: "1" } },
    "__proto__": { "command": "x" }
  }
}
`;

let scene: Scene;
let page: Page;
beforeEach(async () => {
  scene = await Scene.open({}, text);
  page = await Page.open(scene.url);
});
afterEach(() => scene[Symbol.asyncDispose]());

const config = () => readFileSync(scene.config, "utf8");
const read = async (server: string) =>
  (await (await page.get(`api/servers/entry?server=${encodeURIComponent(server)}`)).json()) as PageEntry;
interface Sent {
  changes?: { at: string[]; value?: unknown }[];
  secrets?: { name: string; value?: string }[];
  isChecked?: boolean;
  mark?: string;
}
const send = async (server: string, { mark, ...sent }: Sent) => {
  const body = { server, changes: [], secrets: [], isChecked: true, mark: mark ?? (await read(server)).mark, ...sent };
  const answer = await page.post("api/servers/edit", body);
  const got = await answer.text();
  return { status: answer.status, got, changed: JSON.parse(got) as PageEntryChanged & { error: string } };
};

test("an entry is shown with its references, and without its values, also short ones and ones in arguments and addresses", async () => {
  const entry = await read("echo");
  expect(entry).toMatchObject({
    kind: "program",
    texts: [{ key: "command", value: "no-such-program" }],
    env: [
      { name: "API_KEY" },
      { name: "MODE" },
      { name: "MAIL", shown: "${MAIL_KEY}", isMissing: true },
      { name: "OLD" },
    ],
    missing: ["MAIL_KEY"],
  });
  expect(entry.args).toEqual([...echo.args.map((each) => ({ text: each })), { text: "--token" }, {}, {}]);
  const docs = await read("docs");
  expect(docs).toMatchObject({ kind: "address", texts: [{ key: "url" }], headers: [{ name: "X-Key" }] });
  expect(docs.others).toEqual(["oauth"]);
  const answers = await Promise.all(
    [
      "state",
      "servers/entry?server=echo",
      "servers/entry?server=docs",
      "rules",
      "secrets",
      "policy/tools",
      "audit",
    ].map(async (path) => (await page.get(`api/${path}`)).text()),
  );
  for (const secret of [ofEnv, ofHeader, ofArgument, ofAddress]) expect(answers.join("")).not.toContain(secret);
  expect(answers.join("")).not.toContain(`"${short}"`);
});

test("names that servers and variables should not have are shown and changed as any other", async () => {
  expect((await read(evil)).env.map(({ name }) => name)).toEqual(["__proto__", evil]);
  const change = { changes: [{ at: ["env", evil] }, { at: ["env", "constructor"], value: "2" }], isChecked: false };
  expect((await send(evil, change)).changed.changed).toEqual([`env[${JSON.stringify(evil)}]`, "env.constructor"]);
  expect((await read(evil)).env.map(({ name }) => name)).toEqual(["__proto__", "constructor"]);
  expect((await send("__proto__", { changes: [{ at: ["command"], value: "y" }], isChecked: false })).status).toBe(200);
  expect((await read("__proto__")).texts).toEqual([{ key: "command", value: "y" }]);
  expect((await page.get("api/servers/entry?server=constructor")).status).toBe(422);
  expect(({} as Record<string, unknown>)["command"]).toBeUndefined();
});

test("a change is tried, written with all comments, recorded, and undone; arguments that are not shown are kept", async () => {
  const kept = echo.args.length;
  const args = [...echo.args, "--token", { keep: kept + 1 }, "last"];
  const changes = [
    { at: ["command"], value: echo.command },
    { at: ["args"], value: args },
  ];
  const secret = { name: "MAIL_KEY", value: "value-of-the-mail-key" };
  const { status, got, changed } = await send("echo", { changes, secrets: [secret] });
  expect([status, got]).toEqual([200, expect.not.stringContaining(secret.value)]);
  expect(changed).toMatchObject({ changed: ["command", "args", "env.MAIL"], tools: 1, notes: expect.any(Array) });
  const { mcpServers } = Bun.JSONC.parse(config()) as { mcpServers: Record<string, Record<string, unknown>> };
  expect(mcpServers["echo"]).toMatchObject({
    command: echo.command,
    args: [...echo.args, "--token", ofArgument, "last"],
    env: { API_KEY: ofEnv, MAIL: "${secret:MAIL_KEY}" },
  });
  expect(config()).toContain("// to be repaired");
  expect(config()).toContain("// keys");
  expect(storedSecrets(scene.env).map(({ name }) => name)).toEqual(["MAIL_KEY"]);
  expect(auditLines(scene.env).at(-1)).toMatchObject({ decision: "policy", by: { place: "page" } });
  expect(await read("echo")).toMatchObject({
    missing: [],
    env: expect.arrayContaining([{ name: "MAIL", shown: "${secret:MAIL_KEY}", isMissing: false }]),
  });
  expect((await page.post("api/policy/undo", { undo: changed.undo })).ok).toBe(true);
  expect(config()).toBe(text);
});

test("nothing changes if the server does not start, the entry is another one, or the change is refused", async () => {
  const secret = { name: "NEW_KEY", value: "value-of-the-new-key" };
  const failed = await send("echo", { changes: [{ at: ["env", "MAIL"], value: secret.value }], secrets: [secret] });
  expect([failed.status, failed.changed.error]).toEqual([422, expect.stringContaining("command not found")]);
  expect(storedSecrets(scene.env)).toEqual([]);
  const { mark } = await read("echo");
  const refusals: [sent: Sent, status: number][] = [
    [{ mark: `${mark}x`, changes: [{ at: ["command"], value: "y" }] }, 409],
    [{}, 400],
    [{ changes: [{ at: ["deny"], value: ["*"] }] }, 422],
    [{ changes: [{ at: ["disabled"], value: true }] }, 422],
    [{ changes: [{ at: ["env", "A"], value: 5 }] }, 422],
    [{ changes: [{ at: ["args"], value: [{ keep: 99 }] }] }, 400],
    [{ changes: [{ at: ["command"], value: "y" }], secrets: [{ name: "UNKNOWN" }] }, 422],
    [{ changes: [{ at: ["command"], value: "y" }], secrets: [{ name: "not a name", value: "1" }] }, 422],
  ];
  for (const [sent, status] of refusals) {
    const { status: got, got: answer } = await send("echo", { isChecked: false, ...sent });
    expect([sent, got]).toEqual([sent, status]);
    for (const value of [ofEnv, ofArgument]) expect(answer).not.toContain(value);
  }
  expect(config()).toBe(text);
});

const add = async (body: object) => {
  const answer = await page.post("api/servers/add", { values: {}, secrets: [], ...body });
  return { status: answer.status, got: await answer.text() };
};

test("the secrets of a new server are set before it is tried, and removed if it is not added; one that is set already stays", async () => {
  const name = "NEW_KEY";
  const given = {
    kind: "command",
    values: { KEY: `\${secret:${name}}` },
    secrets: [{ name, value: "value-of-the-new" }],
  };
  const failed = await add({ ...given, name: "new", what: "no-such-program" });
  expect([failed.status, failed.got]).toEqual([422, expect.stringContaining("command not found")]);
  expect([storedSecrets(scene.env), config()]).toEqual([[], text]);
  const what = shellLine([echo.command, ...echo.args]);
  const added = await add({ ...given, name: "new", what });
  expect([added.status, added.got]).toEqual([200, expect.not.stringContaining("value-of-the-new")]);
  expect(config()).not.toContain("value-of-the-new");
  expect(await readSecret(name, scene.env)).toBe("value-of-the-new");
  const again = await add({ ...given, name: "other", what, secrets: [{ name, value: "another-value" }] });
  expect([again.status, again.got]).toEqual([422, expect.stringContaining("There already is a secret")]);
  expect(await readSecret(name, scene.env)).toBe("value-of-the-new");
  const unused = { name: "UNUSED", value: "1" };
  expect((await add({ kind: "command", name: "third", what, secrets: [unused] })).status).toBe(200);
  expect(storedSecrets(scene.env).map((each) => each.name)).toEqual([name]);
});

test("another page can neither read nor change it, with the cookie or without", async () => {
  const { mark } = await read("echo");
  const url = new URL(scene.url);
  const token = url.hash.slice(1);
  url.hash = "";
  const own = { origin: url.origin, "content-type": "application/json", "claudikins-ui": "1" };
  const post = (path: string, body: object, headers: Record<string, string>) =>
    fetch(new URL(path, url), { method: "POST", headers, body: JSON.stringify(body) });
  const cookie = (await post("api/session", { token }, own)).headers.get("set-cookie")!.split(";")[0]!;
  const body = { server: "echo", mark, changes: [{ at: ["command"], value: "y" }], secrets: [], isChecked: false };
  const { "claudikins-ui": _, ...ofForm } = own;
  expect((await post("api/servers/edit", body, own)).status).toBe(401);
  expect((await post("api/servers/edit", body, { ...own, cookie, origin: "https://evil.example" })).status).toBe(403);
  expect((await post("api/servers/edit", body, { ...ofForm, cookie })).status).toBe(403);
  expect((await fetch(new URL("api/servers/entry?server=echo", url))).status).toBe(401);
  expect(config()).toBe(text);
  expect((await post("api/servers/edit", body, { ...own, cookie })).status).toBe(200);
});
