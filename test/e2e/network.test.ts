/** The executable with servers on the network: beside one over stdio, through a proxy, and with a certificate of the user's own. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are what is tested
import { expect, setDefaultTimeout, test } from "bun:test";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { executable } from "../support/claudikins.ts";
import { networkFixture } from "../support/network.ts";
import { ownFolder } from "../support/own-folder.ts";
import { type Ended, runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";

// The first test builds the executable.
setDefaultTimeout(120_000);

const folder = ownFolder();

async function exec(mcpServers: object, code: string, env: Record<string, string> = {}): Promise<Ended> {
  folder.write("claudikins.json", { mcpServers });
  return runProgram([executable(), "exec", "--json", "-e", code], {
    cwd: folder.path,
    env: { CLAUDIKINS_LOG: "debug", ...env },
  });
}

/** The time from the report that the server is unavailable to the end of the process. */
async function msToExitAfterFailure(mcpServers: object, code: string): Promise<number> {
  folder.write("claudikins.json", { mcpServers });
  const child = Bun.spawn([executable(), "exec", "-e", code], {
    cwd: folder.path,
    env: testEnvironment(),
    stdin: "ignore",
    stderr: "pipe",
  });
  let stderr = "";
  let reportedAt: number | undefined;
  for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) {
    stderr += chunk;
    if (stderr.includes('"far"')) reportedAt ??= performance.now();
  }
  expect(await child.exited).toBe(4);
  if (reportedAt === undefined) throw new Error(`it did not name the server: ${stderr}`);
  return performance.now() - reportedAt;
}

const valueIn = ({ stdout, stderr }: Ended) => {
  if (stdout === "") throw new Error(stderr);
  return (JSON.parse(stdout) as { value: unknown }).value;
};

test("one execution uses servers over every transport, and the log contains no secret", async () => {
  await using http = await networkFixture("token");
  await using sse = await networkFixture("sse");
  await using socket = await networkFixture("websocket-token");
  const headers = { Authorization: "Bearer ${TOKEN}" };
  const ended = await exec(
    {
      near: fixture("odd"),
      http: { type: "http", url: `http://127.0.0.1:${http.port}/mcp?key=secret`, headers },
      sse: { url: `http://127.0.0.1:${sse.port}/sse` },
      socket: { url: `ws://127.0.0.1:${socket.port}`, headers },
      closed: { url: `http://me:secret@127.0.0.1:1/secret`, headers: { "X-Key": "secret" } },
    },
    `const failed = await closed.echo({}).catch((error) => error.code);
     return [failed, ...await Promise.all([near["get-thing"](), http.echo({ a: 1 }), sse.echo({ b: 2 }), socket.echo({ c: 3 })])];`,
    { TOKEN: "right" },
  );
  expect(valueIn(ended)).toEqual(["SERVER_UNAVAILABLE", "dash", { a: 1 }, { b: 2 }, { c: 3 }]);
  expect(ended.stderr).toContain("http is ready");
  expect(ended.stderr).not.toMatch(/secret|right/i);
  await socket.saw("closed");
  expect(http.lines).toContain("DELETE Bearer right");
});

test.each(["http", "sse", "websocket"])("a server over %s that dies does not delay the end of exec", async (mode) => {
  await using server = await networkFixture(mode);
  const url = `${mode === "websocket" ? "ws" : "http"}://127.0.0.1:${server.port}/mcp`;
  // An EventSource would try again after three seconds.
  expect(await msToExitAfterFailure({ far: { url } }, 'return far["end-process"]({})')).toBeLessThan(2_900);
});

test.each(["http", "ws"])("a server over %s that never answers does not delay the end of exec", async (scheme) => {
  await using server = await networkFixture("silent");
  const far = { url: `${scheme}://127.0.0.1:${server.port}`, startTimeoutMs: 100 };
  expect(await msToExitAfterFailure({ far }, "return far.echo({})")).toBeLessThan(2_900);
});

test("a server that needs a sign-in makes exec exit with code 3", async () => {
  await using server = await networkFixture("token");
  const url = `http://127.0.0.1:${server.port}/mcp`;
  const { exitCode, stderr } = await exec({ far: { url } }, "return far.echo({})");
  expect(exitCode).toBe(3);
  expect(stderr).toContain('Server \\"far\\" cannot be used: it needs a sign-in (401)');
});

test("servers on the network are reached through HTTP_PROXY, except those in NO_PROXY", async () => {
  await using server = await networkFixture("http");
  const seen: string[] = [];
  const proxy = createServer((incoming, outgoing) => {
    const { pathname, host } = new URL(incoming.url ?? "");
    seen.push(host);
    const { method, headers } = incoming;
    const onward = request({ host: "127.0.0.1", port: server.port, path: pathname, method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
    outgoing.on("close", () => onward.destroy());
    onward.on("error", () => outgoing.destroy());
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => proxy.once("listening", resolve));
  const HTTP_PROXY = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`;
  try {
    const behind = await exec({ far: { url: "http://behind.invalid/mcp" } }, "return far.echo({ a: 1 })", {
      HTTP_PROXY,
    });
    expect(valueIn(behind)).toEqual({ a: 1 });
    expect(new Set(seen)).toEqual(new Set(["behind.invalid"]));
    const count = seen.length;
    const url = `http://127.0.0.1:${server.port}/mcp`;
    const direct = await exec({ far: { url } }, "return far.echo({ b: 2 })", { HTTP_PROXY, NO_PROXY: "127.0.0.1" });
    expect(valueIn(direct)).toEqual({ b: 2 });
    expect(seen.length).toBe(count);
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
});

test("a self-signed certificate is accepted only with NODE_EXTRA_CA_CERTS", async () => {
  const [key, cert] = [join(folder.path, "key.pem"), join(folder.path, "cert.pem")];
  const made = Bun.spawnSync(
    `openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout ${key} -out ${cert}`.split(
      " ",
    ),
  );
  expect(made.exitCode).toBe(0);
  await using server = await networkFixture("http", { args: [key, cert] });
  const far = { url: `https://127.0.0.1:${server.port}/mcp` };
  const refused = await exec({ far }, "return far.echo({})");
  expect(refused.exitCode).toBe(4);
  expect(refused.stderr).toContain(
    `the certificate of https://127.0.0.1:${server.port} is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)`,
  );
  const trusted = await exec({ far }, "return far.echo({ a: 1 })", { NODE_EXTRA_CA_CERTS: cert });
  expect(valueIn(trusted)).toEqual({ a: 1 });
});
