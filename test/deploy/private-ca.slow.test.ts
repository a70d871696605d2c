/** A certificate authority of a team, for its database and its provider, as the volume and the variables of the chart give it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, chownSync, statSync } from "node:fs";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { eventually } from "../support/eventually.ts";
import { httpServe, sdkHost } from "../support/http-serve.ts";
import { ownFolder } from "../support/own-folder.ts";
import { type PostgresFixture, password, postgresFixture, postgresNote } from "../support/postgres.ts";

setDefaultTimeout(60_000);

const note = Bun.which("openssl") === null ? " (skipped: needs openssl)" : postgresNote;

describe.skipIf(note !== "")(`a private certificate authority${note}`, () => {
  const folder = ownFolder({ isShared: true });
  const at = (name: string) => join(folder.path, name);
  let server: PostgresFixture;
  let provider: Bun.Server<undefined>;
  let database: string;
  let token: string;

  function openssl(...words: string[]) {
    const { exitCode, stderr } = Bun.spawnSync(["openssl", ...words], { cwd: folder.path });
    expect({ exitCode, stderr: exitCode === 0 ? "" : stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
  }

  beforeAll(async () => {
    const about = ["-newkey", "rsa:2048", "-nodes"];
    openssl("req", "-x509", ...about, "-days", "2", "-subj", "/CN=private", "-keyout", "ca.key", "-out", "ca.pem");
    openssl("req", ...about, "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr");
    folder.write("names", "subjectAltName=DNS:localhost\n");
    const signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"];
    openssl("x509", "-req", "-in", "server.csr", ...signed, "-out", "server.crt");

    server = await postgresFixture();
    const empty = await server.database();
    const [row] = await server.run(empty, "SHOW data_directory");
    const data = String(row!["data_directory"]);
    const { uid, gid } = statSync(data);
    for (const name of ["server.key", "server.crt"]) {
      await Bun.write(join(data, name), Bun.file(at(name)));
      chownSync(join(data, name), uid, gid);
      chmodSync(join(data, name), 0o600);
    }
    await server.run(empty, "ALTER SYSTEM SET ssl = on");
    await server.restart();
    const name = new URL(empty).pathname;
    database = `postgres://postgres:${encodeURIComponent(password)}@localhost:${server.port}${name}?sslmode=verify-full`;

    const { publicKey, privateKey } = await generateKeyPair("ES256");
    const key = { ...(await exportJWK(publicKey)), kid: "one", alg: "ES256", use: "sig" };
    provider = Bun.serve({
      port: 0,
      hostname: "localhost",
      tls: { key: Bun.file(at("server.key")), cert: Bun.file(at("server.crt")) },
      fetch(request) {
        const { pathname } = new URL(request.url);
        if (pathname === "/jwks") return Response.json({ keys: [key] });
        const jwks = `${issuer()}/jwks`;
        return Response.json({ issuer: issuer(), jwks_uri: jwks, id_token_signing_alg_values_supported: ["ES256"] });
      },
    });
    token = await new SignJWT({ groups: ["all"] })
      .setProtectedHeader({ alg: "ES256", kid: "one", typ: "at+jwt" })
      .setIssuer(issuer())
      .setAudience("https://tools.example.com")
      .setSubject("ann")
      .setIssuedAt()
      .setExpirationTime("5m")
      .sign(privateKey);
    folder.write("claudikins.json", {
      mcpServers: {},
      auth: { oidc: { issuer: issuer(), audience: "https://tools.example.com", doors: { mcp: ["all"] } } },
    });
  });
  afterAll(async () => {
    await provider?.stop(true);
    await server?.[Symbol.asyncDispose]();
  });
  const issuer = () => `https://localhost:${provider.port}`;

  test("is trusted for the database and for the provider with NODE_EXTRA_CA_CERTS", async () => {
    const env = { CLAUDIKINS_DATABASE: database, NODE_EXTRA_CA_CERTS: at("ca.pem"), CLAUDIKINS_LOG: "debug" };
    await using serve = await httpServe(folder, ["--lame-duck", "0s"], { env, token: "kept" });
    await eventually(async () => (await fetch(new URL("/readyz", serve.url))).status === 200);
    await using host = await sdkHost(serve.url, {}, { headers: { authorization: `Bearer ${token}` } });
    expect(await host.execute("return 6 * 7")).toBe("42");
    const [row] = await server.run(
      database.replace("verify-full", "require"),
      "SELECT count(*) FROM pg_stat_ssl WHERE ssl",
    );
    expect(Number(row!["count"])).toBeGreaterThan(1);
  });

  test("is trusted for the database alone with sslrootcert, and otherwise not at all", async () => {
    const start = (url: string) => httpServe(folder, ["--without-token"], { env: { CLAUDIKINS_DATABASE: url } });
    folder.write("claudikins.json", { mcpServers: {} });
    await using serve = await start(`${database}&sslrootcert=${encodeURIComponent(at("ca.pem"))}`);
    await eventually(async () => (await fetch(new URL("/readyz", serve.url))).status === 200);
    await expect(start(database)).rejects.toThrow("The database cannot be reached with TLS");
  });
});
