/** The text of a config file: accepted configs, and the problems of others. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are what is tested
import { describe, expect, test } from "bun:test";
import { ClaudikinsError } from "../../src/base/errors.ts";
import { defaultLimits } from "../../src/config/defaults.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { withoutMistakes } from "../support/config-mistakes.ts";

const times = { startTimeoutMs: 30_000, callTimeoutMs: 60_000, idleTimeoutMs: 300_000 };
const defaults = { args: [], env: {}, disabled: false, ...times, keepAlive: false, maxCallsInFlight: 100 };

const parse = (config: string | object) =>
  withoutMistakes(parseConfig(typeof config === "string" ? config : JSON.stringify(config, null, 2), "c.json"));

/** The message of the error for the text; its code and hint are always the same. */
function problems(config: string | object): string {
  try {
    parse(config);
  } catch (error) {
    expect(error).toBeInstanceOf(ClaudikinsError);
    expect(error).toMatchObject({
      code: "CONFIG_INVALID",
      exitCode: 2,
      hint: "Correct the file and run the command again. Nothing was started.",
    });
    return (error as Error).message;
  }
  throw new Error("nothing was wrong");
}

describe("accepted configs", () => {
  test("an empty object means no servers and the default values", () => {
    expect(parse("{}")).toEqual({
      servers: new Map(),
      mistakes: new Map(),
      extends: "user",
      check: "error",
      observe: true,
      surfaceLearns: true,
      mode: "code",
      prefix: "on-collision",
      directTokens: 4_000,
      stats: true,
      callLog: { keepDays: 90 },
      hooks: true,
      logs: true,
      upgradeHint: true,
      executeTask: false,
      askModel: false,
      record: "sizes",
      executions: { keepDays: 7, maxMb: 64, totalMb: 1_024 },
      approvals: { wait: true, expireHours: 24 },
      limits: defaultLimits,
    });
  });

  test("every key is read", () => {
    const server = {
      type: "stdio",
      command: "node",
      args: ["x.js", ""],
      env: { KEY: "" },
      cwd: "sub",
      disabled: true,
      category: "dev-tools",
      description: "Does it",
      startTimeoutMs: 1,
      callTimeoutMs: 600_000,
      idleTimeoutMs: 86_400_000,
      keepAlive: true,
      maxCallsInFlight: 1_000,
    };
    const executions = { answerAfterMs: false, keepDays: 1, maxMb: 1, totalMb: 16 };
    const limits = {
      timeoutMs: 600_000,
      cpuMs: 1,
      memoryMb: 16,
      stackKb: 32,
      calls: 1,
      callsInFlight: 1,
      argumentMb: 0.001,
      resultMb: 512,
      valueMb: 0.5,
      logMb: 1,
      outputChars: 1_000,
    };
    const llm = {
      preset: "openai",
      baseUrl: "https://a/v1",
      apiKey: "${K}",
      model: "m",
      timeoutMs: 9,
      headers: { "X-A": "b" },
    };
    expect(
      parse({
        $schema: "x",
        mcpServers: { all: server },
        extends: false,
        registry: "r",
        workspace: "w",
        check: "warn",
        observe: false,
        surfaceTokens: 900,
        surfaceLearns: false,
        mode: "auto",
        prefix: "never",
        directTokens: 0,
        stats: false,
        callLog: { keepDays: 0 },
        hooks: false,
        logs: false,
        upgradeHint: false,
        llm,
        executeTask: true,
        askModel: { calls: 5, maxTokens: 10 },
        record: false,
        executions,
        limits,
        approvals: { wait: false, expireHours: 720 },
      }),
    ).toEqual({
      mistakes: new Map(),
      servers: new Map([["all", server]]),
      extends: false,
      registry: "r",
      workspace: "w",
      check: "warn",
      observe: false,
      surfaceTokens: 900,
      surfaceLearns: false,
      mode: "auto",
      prefix: "never",
      directTokens: 0,
      stats: false,
      callLog: { keepDays: 0 },
      hooks: false,
      logs: false,
      upgradeHint: false,
      llm,
      executeTask: true,
      askModel: { calls: 5, maxTokens: 10 },
      record: false,
      executions,
      approvals: { wait: false, expireHours: 720 },
      limits,
    } as never);
  });

  test("comments, trailing commas, a byte order mark and Windows line endings are accepted", () => {
    const text = '\uFEFF// mine\r\n{ /* the\r\nservers */ "mcpServers": { "a": { "command": "x", }, }, }\r\n';
    expect(parse(text).servers).toEqual(new Map([["a", { command: "x", ...defaults }]]));
  });

  test("names such as __proto__, constructor and numbers are ordinary, and stay in the order of the file", () => {
    const text = `{ "mcpServers": {
      "zeta": {"command": "1"}, "__proto__": {"command": "2"}, "constructor": {"command": "3"},
      "10": {"command": "4"}, "9": {"command": "5"}, "über server": {"command": "6"} } }`;
    const { servers } = parse(text);
    expect([...servers].map(([name, { command }]) => [name, command])).toEqual([
      ["zeta", "1"],
      ["__proto__", "2"],
      ["constructor", "3"],
      ["10", "4"],
      ["9", "5"],
      ["über server", "6"],
    ]);
    expect(servers.get("zeta")).toEqual({ command: "1", ...defaults });
  });

  test("a key __proto__ does not change the prototype of an object", () => {
    const text = '{"mcpServers": {"a": {"__proto__": {"command": "x"}}}, "limits": {"__proto__": {"memoryMb": 64}}}';
    expect(problems(text)).toBe(
      "The config has a problem:\n  c.json:1:22  mcpServers.a.command: missing, expected a string",
    );
    expect(parse('{"limits": {"__proto__": {"memoryMb": 64}}}').limits.memoryMb).toBe(256);
  });

  test("keys of other agents are ignored", () => {
    const entry = {
      command: "npx",
      args: ["-y", "x"],
      // Cline, Codex, Gemini, VS Code, Zed, Goose and others
      timeout: 60,
      enabled: true,
      envFile: ".env",
      env_vars: [],
      alwaysAllow: [],
      autoApprove: ["a"],
      disabledTools: [],
      trust: true,
      cmd: "x",
      startup_timeout_sec: 5,
      comment: "mine",
      // Keys that people rename to disable them.
      _args: ["--other"],
      "//env": {},
    };
    expect(parse({ mcpServers: { a: entry }, inputs: [], theme: "dark", permissions: {} }).servers).toEqual(
      new Map([["a", { command: "npx", ...defaults, args: ["-y", "x"] }]]),
    );
  });
});

describe("servers on the network", () => {
  const url = "https://example.com/mcp";
  const network = { headers: {}, disabled: false, ...times, keepAlive: false, maxCallsInFlight: 100 };

  test.each([
    [{ url }, "auto"],
    [{ serverUrl: url }, "auto"],
    [{ httpUrl: url }, "auto"],
    [{ type: "remote", url }, "auto"],
    [{ type: "http", url }, "http"],
    [{ type: "streamable-http", url }, "http"],
    [{ type: "streamableHttp", serverUrl: url }, "http"],
    [{ type: "streamable_http", url }, "http"],
    [{ type: "sse", url }, "sse"],
    // The type decides if both are present.
    [{ type: "http", url, command: "x" }, "http"],
  ])("%j has the expected transport", (entry, transport) => {
    const { servers } = parse({ mcpServers: { far: { ...entry, description: "Far" }, near: { command: "x" } } });
    expect(servers).toEqual(
      new Map<string, object>([
        ["far", { ...network, url, transport, description: "Far" }],
        ["near", { command: "x", ...defaults }],
      ]) as never,
    );
  });

  test.each([
    [{ url: "wss://example.com" }],
    [{ type: "ws", url: "wss://example.com" }],
    [{ type: "websocket", url: "wss://example.com" }],
  ])("%j is a WebSocket", (entry) => {
    expect(parse({ mcpServers: { far: entry } }).servers.get("far")).toEqual({
      ...network,
      url: "wss://example.com",
      transport: "websocket",
    });
  });

  test("every key is read", () => {
    const entry = {
      headers: { Authorization: "Bearer ${TOKEN}", "X-Empty": "" },
      disabled: true,
      category: "dev-tools",
      description: "Does it",
      startTimeoutMs: 1,
      callTimeoutMs: 600_000,
      idleTimeoutMs: 1,
      keepAlive: true,
      maxCallsInFlight: 7,
      oauth: {
        clientId: "me",
        clientSecret: "${SECRET}",
        clientMetadataUrl: "https://example.com/client.json",
        scopes: ["read", "${MORE}"],
        callbackPort: 8_090,
        grant: "client_credentials" as const,
        privateKey: "${KEY}",
        algorithm: "ES256",
      },
    };
    // Keys that other agents write beside it, and unknown addresses.
    const { servers } = parse({
      mcpServers: { a: { type: "http", url: "${BASE}/mcp", ...entry, timeout: 5, auth: "oauth", env: {} } },
    });
    expect(servers.get("a")).toEqual({ url: "${BASE}/mcp", transport: "http", env: {}, ...entry });
  });

  test.each([
    [{ oauth: false }, false],
    [{ oauth: {} }, { grant: "authorization_code" }],
    [{ oauth: { scope: "read write" } }, { scopes: ["read write"], grant: "authorization_code" }],
    [{ oauth: { scopes: ["read"], scope: "write" } }, { scopes: ["read"], grant: "authorization_code" }],
    [
      { oauth: { clientId: "me", privateKeyFile: "key.pem" } },
      { clientId: "me", privateKeyFile: "key.pem", grant: "authorization_code" },
    ],
    // Cursor's spelling; ours has precedence.
    [
      { auth: { CLIENT_ID: "me", CLIENT_SECRET: "${SECRET}", scopes: ["read"] } },
      { clientId: "me", clientSecret: "${SECRET}", scopes: ["read"], grant: "authorization_code" },
    ],
    [{ auth: { CLIENT_ID: "me" } }, { clientId: "me", grant: "authorization_code" }],
    [{ auth: { CLIENT_ID: "me" }, oauth: false }, false],
    // A key with another meaning elsewhere.
    [{ auth: { type: "basic" } }, undefined],
    [{ auth: null }, undefined],
  ])("settings for signing in are read: %j", (entry, oauth) => {
    const { oauth: found } = parse({ mcpServers: { far: { url, ...entry } } }).servers.get("far") as {
      oauth?: unknown;
    };
    expect(found).toEqual(oauth);
  });

  test("all problems of a sign-in are reported at once, without secrets", () => {
    const server = (oauth: unknown, more = {}) => ({ url, oauth, ...more });
    const text = problems({
      mcpServers: {
        truth: server(true),
        text: server("secret"),
        shapes: server({
          clientId: 1,
          clientSecret: 2,
          scopes: { a: 1 },
          callbackPort: 0,
          grant: "password",
          privateKey: 5,
        }),
        algorithm: server({ clientId: "a", privateKey: "secret", algorithm: "HS256" }),
        "two keys": server({ clientId: "a", privateKey: "secret", privateKeyFile: "key.pem" }),
        nobody: server({ clientSecret: "secret" }),
        "no proof": server({ clientId: "a", grant: "client_credentials" }),
        document: server({ clientMetadataUrl: "http://example.com/x" }),
        misspelt: server({ clientID: "a", client_secret: "secret", redirectUri: "" }),
        cursor: server(undefined, { auth: { CLIENT_ID: 1, CLIENT_SECRET: 2 } }),
      },
    });
    expect(text).not.toContain('"secret"');
    expect(text.replace(/c\.json:\d+:\d+ /g, "")).toMatchInlineSnapshot(`
      "The config has 17 problems:
         mcpServers.truth.oauth: expected an object
         mcpServers.text.oauth: expected an object
         mcpServers.shapes.oauth.clientId: expected a string, found 1
         mcpServers.shapes.oauth.clientSecret: expected a string
         mcpServers.shapes.oauth.scopes: expected a string or an array of strings, found { "a": 1 }
         mcpServers.shapes.oauth.callbackPort: must be at least 1, found 0
         mcpServers.shapes.oauth.grant: expected "authorization_code" or "client_credentials", found "password"
         mcpServers.shapes.oauth.privateKey: expected a string
         mcpServers.algorithm.oauth.algorithm: expected "RS256" or "RS384" or "RS512" or "PS256" or "PS384" or "PS512" or "ES256" or "ES384" or "ES512" or "EdDSA", found "HS256"
         mcpServers["two keys"].oauth.privateKeyFile: "privateKey" already gives the key, found "key.pem"
         mcpServers.nobody.oauth.clientId: missing: a secret or a key needs a client ID
         mcpServers["no proof"].oauth.grant: needs a "clientSecret", a "privateKey" or a "privateKeyFile", found "client_credentials"
         mcpServers.document.oauth.clientMetadataUrl: expected an address that starts with https:// and has a path, found "http://example.com/x"
         mcpServers.misspelt.oauth.clientID: unknown key, did you mean "clientId"?
         mcpServers.misspelt.oauth.client_secret: unknown key, did you mean "clientSecret"?
         mcpServers.cursor.auth.CLIENT_ID: expected a string, found 1
         mcpServers.cursor.auth.CLIENT_SECRET: expected a string"
    `);
  });

  test('type "stdio" decides for the command if the entry also has an address', () => {
    expect(parse({ mcpServers: { a: { type: "stdio", command: "x", url } } }).servers.get("a")).toEqual({
      type: "stdio",
      command: "x",
      ...defaults,
    });
  });

  test("all problems are reported at once, without values that may contain a token", () => {
    const text = `{
  "mcpServers": {
    "both": { "command": "x", "url": "https://u:secret@x/?key=secret" },
    "twice": { "url": "https://x", "httpUrl": "https://secret" },
    "no address": { "url": "secret", "disabled": "yes" },
    "scheme": { "url": "ftp://u:secret@x" },
    "not a socket": { "type": "ws", "url": "https://x/secret" },
    "not http": { "type": "http", "url": "wss://x/secret" },
    "type": { "type": "htpp", "url": "https://x" },
    "none": { "type": "sse" },
    "shapes": { "url": ["https://secret"], "headers": { "A": 1, "B": null, "C D": "secret", "E": "a\\nsecret" } },
    "list": { "url": "https://x", "headers": ["secret"] },
    "spelling": { "uri": "https://x", "header": {} },
    "empty": { "url": "", "startTimeoutMs": 0, "category": "A B" }
  }
}`;
    expect(problems(text)).toMatchInlineSnapshot(`
      "The config has 20 problems:
        c.json:3:38  mcpServers.both.url: the entry also has a "command": remove one of them, or choose with "type"
        c.json:4:47  mcpServers.twice.httpUrl: "url" already gives the address
        c.json:5:28  mcpServers["no address"].url: expected an address that starts with http://, https://, ws:// or wss://
        c.json:5:50  mcpServers["no address"].disabled: expected true or false, found "yes"
        c.json:6:24  mcpServers.scheme.url: expected an address that starts with http://, https://, ws:// or wss://
        c.json:7:44  mcpServers["not a socket"].url: expected an address that starts with ws:// or wss://
        c.json:8:42  mcpServers["not http"].url: expected an address that starts with http:// or https://
        c.json:9:23  mcpServers.type.type: expected "http" or "streamable-http" or "streamableHttp" or "streamable_http" or "sse" or "ws" or "websocket" or "remote", found "htpp"
        c.json:10:13  mcpServers.none.url: missing, expected a string
        c.json:11:24  mcpServers.shapes.url: expected a string
        c.json:11:62  mcpServers.shapes.headers.A: expected a string
        c.json:11:70  mcpServers.shapes.headers.B: expected a string
        c.json:11:83  mcpServers.shapes.headers["C D"]: not a valid header name
        c.json:11:98  mcpServers.shapes.headers.E: must be one line
        c.json:12:46  mcpServers.list.headers: expected an object
        c.json:13:19  mcpServers.spelling.uri: unknown key, did you mean "url"?
        c.json:13:39  mcpServers.spelling.header: unknown key, did you mean "headers"?
        c.json:14:23  mcpServers.empty.url: expected an address that starts with http://, https://, ws:// or wss://
        c.json:14:45  mcpServers.empty.startTimeoutMs: must be at least 1, found 0
        c.json:14:60  mcpServers.empty.category: use lower-case letters, digits and dashes, found "A B""
    `);
  });
});

describe("refused configs", () => {
  test("all problems are reported at once, in the order of the file, each with its position, path and value", () => {
    const text = `{
  // a comment, so that lines count
  "mcpServers": {
    "wrong types": { "command": 1, "args": "x", "env": { "A": 1, "B": null }, "cwd": [] },
    "empty": { "command": "", "cwd": "" },
    "missing": {},
    "numbers": { "command": "x", "startTimeoutMs": 0, "callTimeoutMs": 1.5 },
    "words": { "command": "x", "category": "Dev Tools", "disabled": "no", "type": "stdout", "args": ["a", 2] },
    "": { "command": "x" },
    "null": null,
    "list": []
  },
  "limits": { "timeoutMs": 600001, "memoryMb": "256" },
  "registry": "",
  "workspace": { "a": "a value that is so long that it would not fit on one line of a terminal" }
}`;
    expect(problems(text)).toMatchInlineSnapshot(`
      "The config has 21 problems:
        c.json:4:33  mcpServers["wrong types"].command: expected a string, found 1
        c.json:4:44  mcpServers["wrong types"].args: expected a list
        c.json:4:63  mcpServers["wrong types"].env.A: expected a string
        c.json:4:71  mcpServers["wrong types"].env.B: expected a string
        c.json:4:86  mcpServers["wrong types"].cwd: expected a string, found []
        c.json:5:27  mcpServers.empty.command: must not be empty, found ""
        c.json:5:38  mcpServers.empty.cwd: must not be empty, found ""
        c.json:6:16  mcpServers.missing.command: missing, expected a string
        c.json:7:52  mcpServers.numbers.startTimeoutMs: must be at least 1, found 0
        c.json:7:72  mcpServers.numbers.callTimeoutMs: expected a whole number, found 1.5
        c.json:8:44  mcpServers.words.category: use lower-case letters, digits and dashes, found "Dev Tools"
        c.json:8:69  mcpServers.words.disabled: expected true or false, found "no"
        c.json:8:83  mcpServers.words.type: expected "stdio" or "local", found "stdout"
        c.json:8:107  mcpServers.words.args[1]: expected a string
        c.json:9:9  mcpServers[""]: a server needs a name
        c.json:10:13  mcpServers.null: expected an object, found null
        c.json:11:13  mcpServers.list: expected an object, found []
        c.json:13:28  limits.timeoutMs: must be at most 600000, found 600001
        c.json:13:48  limits.memoryMb: expected a number, found "256"
        c.json:14:15  registry: must not be empty, found ""
        c.json:15:16  workspace: expected a string, found { "a": "a value that is so long that it would not fit on ..."
    `);
  });

  test("misspelt keys are reported once, at every level", () => {
    const text = `{
  "mcpServer": {},
  "Registry": "x",
  "mcpServers": {
    "a": { "comand": "x", "arg": [], "ENV": {}, "call_timeout_ms": 5, "startTimeout": 1 },
    "b": { "command": "x", "commmand": "y" }
  },
  "limits": { "timeout": 1, "memoryMB": 64 }
}`;
    expect(problems(text)).toMatchInlineSnapshot(`
      "The config has 10 problems:
        c.json:2:3  mcpServer: unknown key, did you mean "mcpServers"?
        c.json:3:3  Registry: unknown key, did you mean "registry"?
        c.json:5:12  mcpServers.a.comand: unknown key, did you mean "command"?
        c.json:5:27  mcpServers.a.arg: unknown key, did you mean "args"?
        c.json:5:38  mcpServers.a.ENV: unknown key, did you mean "env"?
        c.json:5:49  mcpServers.a.call_timeout_ms: unknown key, did you mean "callTimeoutMs"?
        c.json:5:71  mcpServers.a.startTimeout: unknown key, did you mean "startTimeoutMs"?
        c.json:6:28  mcpServers.b.commmand: unknown key, did you mean "command"?
        c.json:8:15  limits.timeout: unknown key, did you mean "timeoutMs"?
        c.json:8:29  limits.memoryMB: unknown key, did you mean "memoryMb"?"
    `);
  });

  test('the key "servers" of another agent is reported as a misspelling of "mcpServers"', () => {
    expect(problems({ servers: { a: { command: "x" } } })).toMatchInlineSnapshot(`
      "The config has a problem:
        c.json:2:3  servers: unknown key, did you mean "mcpServers"?"
    `);
  });

  test("duplicate keys are reported", () => {
    const text = `{
  "mcpServers": {
    "a": { "command": "x", "command": "y" },
    "a": { "command": "z" }
  },
  "limits": {},
  "limits": {}
}`;
    expect(problems(text)).toMatchInlineSnapshot(`
      "The config has 3 problems:
        c.json:3:28  mcpServers.a.command: appears twice
        c.json:4:5  mcpServers.a: appears twice
        c.json:7:3  limits: appears twice"
    `);
  });

  test.each(["", " \n", "// nothing\n"])("%j: the file is empty", (text) => {
    expect(problems(text)).toEndWith('  the file is empty: it needs at least {"mcpServers": {}}');
  });

  test.each([
    ["[]", "1:1  the file: expected an object, found []"],
    ["null", "1:1  the file: expected an object, found null"],
    ['"x"', '1:1  the file: expected an object, found "x"'],
    ['{"mcpServers": []}', "1:16  mcpServers: expected an object, found []"],
    ['{"limits": 5}', "1:12  limits: expected an object, found 5"],
    // The first place where it is not valid JSON.
    ['{"mcpServers": {"a": {"command" "x"}}}', "1:33  not valid JSON: colon expected"],
    ['{"mcpServers": {"a": {"command": "x"}', "1:38  not valid JSON: close brace expected"],
    ['{\n  "registry": "x"\n  "workspace": "y"\n}', "3:3  not valid JSON: comma expected"],
    ["{'a': 1}", "1:2  not valid JSON: invalid symbol"],
    ["{} {}", "1:4  not valid JSON: end of file expected"],
    ["mcpServers: {}", "1:1  not valid JSON: invalid symbol"],
    ['\uFEFF{"limits": 5}', "1:12  limits: expected an object, found 5"],
  ])("%j is refused with its problem", (text, problem) => {
    expect(problems(text)).toBe(`The config has a problem:\n  c.json:${problem}`);
  });
});
