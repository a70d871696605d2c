/**
 * Two replicas of `serve --http` at one Postgres, with tokens and people at two doors. Everything that an owner gets, and everything that
 * reaches the servers, is searched for data of others.
 */

import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createLocalJWKSet, jwtVerify } from "jose";
import { personId } from "../../../../src/policy/people/claims.ts";
import { lastAnswersMs } from "../../../../src/serve/http/front-door.ts";
import { eventually } from "../../../../test/support/eventually.ts";
import { freePort } from "../../../../test/support/free-port.ts";
import { type HttpServe, httpServe, rawSession } from "../../../../test/support/http-serve.ts";
import { type OidcFixture, oidcFixture } from "../../../../test/support/oidc.ts";
import { type OwnAccounts, ownAccounts } from "../../../../test/support/own-accounts.ts";
import { type PostgresFixture, postgresFixture } from "../../../../test/support/postgres.ts";
import { runProgram } from "../../../../test/support/process.ts";
import type { Agent } from "../agents/agent.ts";
import type { Site } from "../site.ts";
import type { SocketPing, SocketPingAnswer } from "../socket-pings.ts";
import { ownersIn } from "./marks.ts";
import { Owner, sessionHeaders } from "./owner.ts";
import { openTrap, type Trap } from "./trap.ts";

/** An id that belongs to one owner, which others try. */
export interface Known {
  kind: "session" | "ended session" | "execution" | "task" | "approval" | "state" | "event";
  of: number;
  id: string;
  replica: number;
}

/** Older ids of the same kind are forgotten. */
const maxKnown = 50;

/** Time that running calls have after SIGTERM. */
const graceMs = 300;

/** Failures of one kind that are told. */
const maxToldOfKind = 2;

const audience = "https://tools.example.com";
const deskAudience = "https://desk.example.com";

/** Longer than any run of a process. */
const tokenSeconds = 7_200;

/** Owners by their numbers: tokens are undefined, people have groups. */
const people: readonly ({ groups: string[] } | undefined)[] = [
  undefined,
  undefined,
  undefined,
  { groups: ["qa-team"] },
  { groups: ["qa-team", "ops-team"] },
];
const doors = ["qa", "qa", "ops", "qa", "qa"];

/** Tables whose rows belong to one owner each, or to nobody. */
const tables = ["executions", "calls", "approvals", "audit", "records", "labels", "people"];

export class OwnersSite implements AsyncDisposable {
  readonly owners: Owner[] = [];
  /** The same tokens and people with further sessions, for hostile requests: these may end the sessions in which they are sent. */
  readonly attackers: Owner[] = [];
  readonly replicas: HttpServe[] = [];
  /** The replicas as processes that are pinged. */
  readonly agents = new Map<string, Replica>();
  readonly provider: OidcFixture;
  readonly trap: Trap;
  known: Known[] = [];
  /** From the moment in which the replicas are ended, honest requests may fail. */
  isEnding = false;
  readonly #site: Site;
  readonly #postgres: PostgresFixture;
  readonly #database: string;
  readonly #env: Record<string, string>;
  readonly #folder: string;
  readonly #closing: AsyncDisposableStack;
  readonly #told = new Map<string, number>();
  #readTo = 0;

  private constructor(site: Site, parts: Parts, closing: AsyncDisposableStack) {
    this.#site = site;
    this.#postgres = parts.postgres;
    this.#database = parts.database;
    this.#folder = parts.folder;
    this.#env = parts.env;
    this.provider = parts.provider;
    this.trap = parts.trap;
    this.#closing = closing;
  }

  static async open(site: Site): Promise<OwnersSite> {
    await using opened = new AsyncDisposableStack();
    const folder = join(site.folder.path, `owners-${crypto.randomUUID()}`);
    const port = freePort();
    const origin = `http://127.0.0.1:${port}`;
    const accounts = Object.fromEntries(people.flatMap((each, number) => (each ? [[subjectOf(number), each]] : [])));
    const [trap, postgres, provider] = await Promise.all([
      openTrap(),
      postgresFixture(),
      oidcFixture(accounts, [`${origin}/ui/signed-in`]),
    ]);
    for (const each of [trap, postgres, provider]) opened.use(each);
    provider.tokenSeconds = tokenSeconds;
    const desk = opened.use(await deskOf(provider));
    const config = join(folder, "claudikins.json");
    mkdirSync(folder);
    writeFileSync(join(folder, "token"), randomBytes(32).toString("hex"), { mode: 0o600 });
    site.folder.write(config.slice(site.folder.path.length + 1), configOf({ folder, provider, desk, origin }));
    const database = await postgres.database();
    const env = {
      ...site.env,
      HOME: folder,
      // A volume that all replicas mount.
      XDG_DATA_HOME: join(folder, "data"),
      CLAUDIKINS_DATABASE: database,
      CLAUDIKINS_SEALING_KEY: randomBytes(32).toString("base64"),
      PAGE_SECRET: "page-secret",
      EXCHANGE_SECRET: "exchanger-secret",
    };
    const made = new OwnersSite(site, { postgres, database, env, provider, trap, folder }, opened.move());
    try {
      await made.#start(config, [String(port), "0"]);
    } catch (error) {
      await made[Symbol.asyncDispose]();
      throw error;
    }
    return made;
  }

  originOf(replica: number): string {
    return new URL(this.replicas[replica]!.url).origin;
  }

  portOf(replica: number): number {
    return Number(new URL(this.replicas[replica]!.url).port);
  }

  /** Writes a failure down. Those of the same kind are told a few times. */
  fail(kind: string, more = ""): void {
    const count = (this.#told.get(kind) ?? 0) + 1;
    this.#told.set(kind, count);
    if (count <= maxToldOfKind) this.#site.oracle.failed(more === "" ? kind : `${kind}: ${more}`);
  }

  knows(known: Known): void {
    this.known.push(known);
    const ofKind = this.known.filter(({ kind }) => kind === known.kind);
    if (ofKind.length > maxKnown) this.known.splice(this.known.indexOf(ofKind[0]!), 1);
  }

  forget(id: string): void {
    this.known = this.known.filter((each) => each.id !== id);
  }

  /** Runs a command of the administrator. */
  async command(...argv: string[]): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
    const config = ["--config", join(this.#folder, "claudikins.json")];
    return await runProgram([...this.#site.command, ...argv, ...config], { cwd: this.#folder, env: this.#env });
  }

  /** The time of all open approvals is over. */
  async expireApprovals(): Promise<void> {
    const statement = `UPDATE claudikins.approvals SET expires_at = ${Date.now()} WHERE state = 'open'`;
    await this.#postgres.run(this.#database, statement);
  }

  /** Looks at what has reached the trap and the servers. */
  judge(): void {
    for (const each of this.trap.caught()) this.fail("a request arrived at the trap", JSON.stringify(each));
    for (const { tool, args = {} } of this.#calls()) {
      const marked = ownersIn(JSON.stringify(args));
      if (tool === "guarded") this.fail("a call arrived that nobody has approved", JSON.stringify(args));
      if ([...marked].some((each) => each !== args.caller)) {
        this.fail("a call arrived with data of another owner", JSON.stringify({ tool, args }));
      }
    }
  }

  /** Rows with data of several owners, when all runs are over. */
  async judgeRows(): Promise<void> {
    const ids = new Map(this.owners.map((each) => [each.id, each.number]));
    for (const table of tables) {
      const statement = `SELECT to_jsonb(each)::text AS text FROM claudikins.${table} each`;
      for (const { text } of (await this.#postgres.run(this.#database, statement)) as { text: string }[]) {
        const marked = ownersIn(text);
        for (const [id, number] of ids) if (text.includes(id)) marked.add(number);
        if (marked.size > 1) this.fail(`a row of ${table} has data of several owners`, text.slice(0, 600));
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.replicas.map((each) => each[Symbol.asyncDispose]()));
    for (const each of this.agents.values()) each.stop();
    await this.#closing[Symbol.asyncDispose]();
  }

  async #start(config: string, ports: string[]): Promise<void> {
    const [, ...more] = this.#site.command;
    if (more.length > 0) throw new Error("the replicas run from one file");
    for (const port of ports) {
      const leaving = ["--lame-duck", "0s", "--grace", `${graceMs}ms`];
      const flags = ["--config", config, ...leaving, "--token-file", join(this.#folder, "token")];
      this.replicas.push(
        await httpServe(this.#site.folder, flags, {
          port,
          token: "kept",
          command: [...this.#site.command],
          env: { ...this.#env, CLAUDIKINS_LOG: "error" },
        }),
      );
    }
    const tokens = await Promise.all(people.map((each, number) => this.#tokenOf(each !== undefined, number)));
    for (const [number, each] of tokens.entries()) {
      const options = { number, site: this, door: doors[number]!, ...each };
      this.owners.push(new Owner(options));
      this.attackers.push(new Owner(options));
    }
    const { token } = await this.#tokenOf(false, 0);
    for (const [index, { url, pid }] of this.replicas.entries()) {
      const authorization = `Bearer ${token}`;
      const open = () => rawSession(new URL("/qa", url).href, "2025-11-25", {}, "pings", { authorization });
      // A replica learns of a new token a moment later.
      const { id } = await eventually(() => open().catch(ifNotKnownYet));
      this.agents.set(`replica ${index}`, new Replica(this, index, pid, { authorization, ...sessionHeaders(id) }));
    }
  }

  async #tokenOf(isPerson: boolean, number: number): Promise<{ id: string; token: string; subject?: string }> {
    if (isPerson) {
      const subject = subjectOf(number);
      return { id: personId(this.provider.issuer, subject), token: await this.provider.token(subject), subject };
    }
    const added = await this.command("tokens", "add", "--json", "--door", doors[number]!);
    if (added.exitCode !== 0) throw new Error(added.stderr);
    return JSON.parse(added.stdout) as { id: string; token: string };
  }

  /** Only whole lines. */
  #calls(): { tool: string; args?: { caller?: number } }[] {
    const file = join(this.#folder, "calls");
    if (!existsSync(file)) return [];
    const bytes = readFileSync(file).subarray(this.#readTo);
    const whole = bytes.subarray(0, bytes.lastIndexOf("\n") + 1);
    this.#readTo += whole.length;
    return whole
      .toString()
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }
}

interface Parts {
  postgres: PostgresFixture;
  database: string;
  env: Record<string, string>;
  provider: OidcFixture;
  trap: Trap;
  folder: string;
}

const subjectOf = (number: number) => `p${number}`;

/** A server that gets a token of the provider for each person. */
function deskOf(provider: OidcFixture): Promise<OwnAccounts> {
  return ownAccounts(async (token) => {
    const keys = createLocalJWKSet({ keys: await provider.keys() });
    return (await jwtVerify(token, keys, { issuer: provider.issuer, audience: deskAudience })).payload;
  });
}

function configOf(parts: { folder: string; provider: OidcFixture; desk: OwnAccounts; origin: string }): object {
  const { folder, provider, desk, origin } = parts;
  const owned = join(import.meta.dir, "..", "servers", "owned.ts");
  return {
    mcpServers: {
      owned: {
        command: process.execPath,
        args: [owned, "owned", join(folder, "calls")],
        confirm: { guarded: "always" },
        // It only announces a change, and is called after a subscription, which counts as read.
        labels: { touch: [] },
      },
      desk: {
        url: desk.url,
        credentials: "exchange",
        exchange: {
          tokenUrl: `${provider.issuer}/token`,
          audience: deskAudience,
          clientId: "exchanger",
          clientSecret: "${EXCHANGE_SECRET}",
        },
      },
    },
    doors: { qa: { servers: ["owned", "desk"] }, ops: { servers: ["owned"] } },
    record: "contents",
    limits: { timeoutMs: 10_000, memoryMb: 128 },
    auth: {
      oidc: {
        issuer: provider.issuer,
        audience,
        address: origin,
        doors: { qa: ["qa-team"], ops: ["ops-team"] },
        clientId: "page",
        clientSecret: "${PAGE_SECRET}",
      },
    },
  };
}

/** One replica, which a further token pings. */
class Replica implements Agent, AsyncDisposable {
  readonly pid: number;
  readonly #site: OwnersSite;
  readonly #index: number;
  readonly #ping: SocketPing;
  readonly #pings = new Worker(new URL("../socket-pings.ts", import.meta.url).href);

  constructor(site: OwnersSite, index: number, pid: number, headers: Record<string, string>) {
    this.#site = site;
    this.#index = index;
    this.pid = pid;
    const port = site.portOf(index);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const all = { host: `127.0.0.1:${port}`, ...headers, "content-length": String(body.length), connection: "close" };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#ping = { to: { port, host: "127.0.0.1" }, request: `POST /qa HTTP/1.1\r\n${lines.join("")}\r\n${body}` };
  }

  ping(): Promise<number> {
    const answered = Promise.withResolvers<number>();
    this.#pings.onmessage = ({ data }: MessageEvent<SocketPingAnswer>) => {
      if (!data.isAnswered && !this.#site.isEnding) this.#site.fail(`replica ${this.#index} refused a ping`, data.head);
      answered.resolve(data.ms);
    };
    this.#pings.postMessage(this.#ping);
    return answered.promise;
  }

  call(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async terminate(): Promise<number> {
    this.#site.isEnding = true;
    const startedAt = performance.now();
    const replica = this.#site.replicas[this.#index]!;
    replica.signal("SIGTERM");
    const code = await replica.exited;
    if (code !== 0) this.#site.fail(`a replica has ended with ${code} after SIGTERM`, replica.stderr().slice(-1_000));
    // What a request takes that never arrives whole: the calls' time to finish, and the time of the last answers.
    return Math.max(0, performance.now() - startedAt - graceMs - lastAnswersMs);
  }

  stop(): void {
    this.#pings.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
  }
}

function ifNotKnownYet(error: Error): undefined {
  if (!error.message.startsWith("401")) throw error;
}
