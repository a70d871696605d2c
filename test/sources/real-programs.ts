/** Programs that others have made, as web APIs: a DNS server that publishes its document, and a package registry whose document a user has written. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/claudikins.ts";
import { freePort } from "../support/free-port.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

/** Sign-ins that the registry allows in a minute. */
export const signInsAMinute = 4;

const schemaOfDns = "/usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql";

export const hasPowerDns: boolean = Bun.which("pdns_server") !== null && Bun.which("sqlite3") !== null;

export const hasJupyter: boolean = Bun.which("jupyter-server") !== null;

/** `TEST_SERVERS` is a folder in which these npm packages were installed. */
const programIn = (name: string, file: string) => join(process.env["TEST_SERVERS"] ?? "", "node_modules", name, file);

export const hasUnleash: boolean = existsSync(programIn("unleash-server", "dist/server.js"));
export const hasPostGraphile: boolean = existsSync(programIn("postgraphile", "cli.js"));

/** A program in a folder of its own, which answers at `url`. */
export class RealProgram implements AsyncDisposable {
  readonly url: string;
  readonly #process: Bun.Subprocess;
  readonly #folder: TemporaryFolder;

  private constructor(url: string, process: Bun.Subprocess, folder: TemporaryFolder) {
    this.url = url;
    this.#process = process;
    this.#folder = folder;
  }

  /** PowerDNS, from Debian's `pdns-server` and `pdns-backend-sqlite3`. Its document is at `/api/docs`, behind the key. */
  static async powerDns(key: string): Promise<RealProgram> {
    const folder = temporaryFolder();
    const database = join(folder.path, "zones.sqlite3");
    Bun.spawnSync(["sqlite3", database], { stdin: Bun.file(schemaOfDns) });
    const [port, dnsPort] = [freePort(), freePort()];
    const settings = {
      daemon: "no",
      guardian: "no",
      "config-dir": folder.path,
      "socket-dir": folder.path,
      launch: "gsqlite3",
      "gsqlite3-database": database,
      "local-address": "127.0.0.1",
      "local-port": dnsPort,
      api: "yes",
      "api-key": key,
      webserver: "yes",
      "webserver-address": "127.0.0.1",
      "webserver-port": port,
      "webserver-allow-from": "127.0.0.1",
    };
    const flags = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
    return await RealProgram.#started(["pdns_server", ...flags], `http://127.0.0.1:${port}`, folder);
  }

  /** Verdaccio, with users that sign up, and a limit of sign-ins. */
  static async packageRegistry(): Promise<RealProgram> {
    const folder = temporaryFolder();
    const config = {
      storage: join(folder.path, "storage"),
      auth: { htpasswd: { file: join(folder.path, "users") } },
      packages: { "**": { access: "$all", publish: "$authenticated" } },
      uplinks: {},
      web: { enable: false },
      log: { type: "stdout", format: "json", level: "fatal" },
      userRateLimit: { windowMs: 60_000, max: signInsAMinute },
    };
    const url = `http://127.0.0.1:${freePort()}`;
    const verdaccio = join(root, "node_modules", "verdaccio", "bin", "verdaccio");
    const command = ["node", verdaccio, "--config", folder.write("config.yaml", config), "--listen", url];
    return await RealProgram.#started(command, url, folder);
  }

  /** Jupyter Server, from Debian's `jupyter-server`. Its document is at `/api/spec.yaml`. */
  static async jupyter(token: string): Promise<RealProgram> {
    const folder = temporaryFolder();
    const port = freePort();
    const settings = { token, port, ip: "127.0.0.1", root_dir: folder.path };
    const flags = Object.entries(settings).map(([name, value]) => `--ServerApp.${name}=${value}`);
    const command = ["jupyter-server", "--no-browser", "--allow-root", ...flags];
    return await RealProgram.#started(command, `http://127.0.0.1:${port}`, folder);
  }

  /** Unleash, which manages feature flags. Its document is at `/docs/openapi.json`. */
  static async unleash(database: string, token: string): Promise<RealProgram> {
    const port = freePort();
    const command = ["node", programIn("unleash-server", "dist/server.js")];
    return await RealProgram.#started(command, `http://127.0.0.1:${port}`, temporaryFolder(), {
      DATABASE_URL: database,
      DATABASE_SSL: "false",
      HTTP_HOST: "127.0.0.1",
      PORT: String(port),
      INIT_ADMIN_API_TOKENS: token,
      CHECK_VERSION: "false",
      SEND_TELEMETRY: "false",
    });
  }

  /** PostGraphile, which makes a GraphQL API of a database. */
  static async postGraphile(database: string): Promise<RealProgram> {
    const port = freePort();
    const command = ["node", programIn("postgraphile", "cli.js")];
    const flags = ["--connection", database, "--schema", "public", "--port", String(port), "--host", "127.0.0.1"];
    return await RealProgram.#started([...command, ...flags], `http://127.0.0.1:${port}`, temporaryFolder());
  }

  static async #started(
    command: string[],
    url: string,
    folder: TemporaryFolder,
    more: Record<string, string> = {},
  ): Promise<RealProgram> {
    const common = { PATH: Bun.env["PATH"] ?? "", HOME: folder.path, NODE_ENV: "production", NODE_NO_WARNINGS: "1" };
    const process = Bun.spawn(command, {
      cwd: folder.path,
      env: { ...common, ...more },
      stdio: ["ignore", "ignore", "ignore"],
    });
    const program = new RealProgram(url, process, folder);
    while (!(await fetch(url).catch(() => undefined))) {
      if (process.exitCode !== null) throw new Error(`${command[0]} does not start`);
      await Bun.sleep(50);
    }
    return program;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill();
    await this.#process.exited;
    this.#folder[Symbol.dispose]();
  }
}

const answer = (schema: object = {}) => ({ 200: { description: "", content: { "application/json": { schema } } } });
const text = { type: "string" };
const name = { name: "package", in: "path", required: true, schema: text };
const body = (schema: object) => ({ required: true, content: { "application/json": { schema } } });
const parts = { "dist-tags": {}, versions: {}, _attachments: {} };

/** The part of npm's protocol that a user may need. */
export const registryDocument: object = {
  openapi: "3.1.0",
  info: { title: "Packages", version: "1" },
  security: [{ token: [] }],
  paths: {
    "/{package}": {
      get: { operationId: "getPackage", parameters: [name], responses: answer() },
      put: {
        operationId: "publishPackage",
        parameters: [name],
        requestBody: body({ type: "object", properties: { _id: text, name: text, ...parts }, required: ["name"] }),
        responses: answer(),
      },
    },
    "/-/whoami": { get: { operationId: "whoAmI", responses: answer() } },
    "/-/user/org.couchdb.user:{user}": {
      put: {
        operationId: "signIn",
        security: [],
        parameters: [{ name: "user", in: "path", required: true, schema: text }],
        requestBody: body({
          type: "object",
          properties: { name: text, password: text },
          required: ["name", "password"],
        }),
        responses: answer(),
      },
    },
  },
  components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
};
