/** Shared by the tests of sign-ins: a pool with its own file of sign-ins, a person at a browser, and errors as text. */
import { expect } from "bun:test";
import { statSync } from "node:fs";
import { ClaudikinsError } from "../../src/base/errors.ts";
import { defaultServerTimes } from "../../src/config/defaults.ts";
import type { NetworkServer } from "../../src/config/load.ts";
import { entryReferencesOf } from "../../src/config/secrets/references.ts";
import { CredentialStore } from "../../src/servers/auth/credentials.ts";
import { beginSignIn } from "../../src/servers/auth/sign-in.ts";
import { Pool, type PoolOptions } from "../../src/servers/pool.ts";
import { toolValue } from "../../src/servers/result.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

export type Entry = Partial<NetworkServer> & { url: string };

export function serverOf(name: string, entry: Entry): NetworkServer {
  const defaults = { transport: "auto" as const, headers: {}, disabled: false, needs: [] };
  return {
    ...defaults,
    ...defaultServerTimes,
    startTimeoutMs: 20_000,
    callTimeoutMs: 20_000,
    ...entry,
    ...entryReferencesOf(entry, "/"),
    name,
  };
}

const env = { CLAUDIKINS_KEYCHAIN: "off" };

const redirectUrl = new URL("http://127.0.0.1:9/callback");

export class AuthHarness implements AsyncDisposable {
  readonly folder: TemporaryFolder = temporaryFolder();
  readonly file = `${this.folder.path}/data/credentials.json`;
  readonly store = new CredentialStore(this.file);
  /** Every printed or logged text. */
  readonly said: string[] = [];
  readonly pool: Pool;

  constructor(entries: Record<string, Entry>, more: Partial<PoolOptions> = {}) {
    const write = (line: string) => void this.said.push(line);
    const servers = Object.entries(entries).map(([name, entry]) => [name, serverOf(name, entry)] as const);
    this.pool = new Pool(new Map(servers), {
      env,
      cwd: "/",
      log: { debug: write, info: write, warn: write },
      credentialsFile: this.file,
      ...more,
    });
  }

  server(name = "far"): NetworkServer {
    return this.pool.servers.get(name) as NetworkServer;
  }

  async call(tool = "echo", args: object = {}, name = "far"): Promise<unknown> {
    const value = toolValue(await this.pool.callTool(name, tool, args), tool);
    return "json" in value ? JSON.parse(value.json) : value;
  }

  /** Signs in like `claudikins auth login`, with a person who agrees. */
  async signIn(name = "far", change: (redirect: URL) => void = () => {}): Promise<void> {
    const options = { redirectUrl, env, signal: AbortSignal.timeout(60_000) };
    const begun = await beginSignIn(this.server(name), this.store, options);
    if (!begun) return;
    const page = await fetch(begun.authorizationUrl, { redirect: "manual" });
    const redirect = new URL(page.headers.get("location") ?? redirectUrl);
    change(redirect);
    await begun.finish(redirect);
  }

  /** The error as shown to people, without ports, which differ between runs. */
  async failure(of: Promise<unknown>): Promise<string> {
    const error = await of.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof ClaudikinsError)) throw new Error(`no failure of ours: ${Bun.inspect(error)}`);
    this.said.push(Bun.inspect(error, { depth: 10 }), JSON.stringify(error.cause));
    const text = `${error.code}: ${error.message}${error.hint === undefined ? "" : `\nhint: ${error.hint}`}`;
    return text.replaceAll(/127\.0\.0\.1:\d+/g, "HOST");
  }

  /** Expects no secrets in the printed texts and the states. */
  expectSecrecy(secrets: string[]): void {
    const all = [...this.said, Bun.inspect(this.pool.states(), { depth: 10 })].join("\n");
    expect(secrets.filter((secret) => all.includes(secret))).toEqual([]);
  }

  /** The modes of the file and its folder. */
  modes(): string[] {
    return [this.file, `${this.folder.path}/data`].map((path) => (statSync(path).mode & 0o777).toString(8));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pool.close();
    this.folder[Symbol.dispose]();
  }
}
