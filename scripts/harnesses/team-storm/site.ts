/** Everything around the replicas of a storm: the database, the provider with its people, the servers, the config and the balancer. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createLocalJWKSet, jwtVerify } from "jose";
import { personId } from "../../../src/policy/people/claims.ts";
import { freePort } from "../../../test/support/free-port.ts";
import { type NetworkFixture, networkFixture } from "../../../test/support/network.ts";
import { type Account, type OidcFixture, oidcFixture } from "../../../test/support/oidc.ts";
import { type OwnAccounts, ownAccounts } from "../../../test/support/own-accounts.ts";
import { type PostgresFixture, postgresFixture } from "../../../test/support/postgres.ts";
import { fixture } from "../../../test/support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../../../test/support/temporary.ts";
import { type Balancer, balancer } from "./balancer.ts";
import { type FarServer, farServer } from "./far-server.ts";

export interface Site extends AsyncDisposable {
  folder: TemporaryFolder;
  postgres: PostgresFixture;
  /** The address of the database. */
  database: string;
  provider: OidcFixture;
  far: FarServer;
  accounts: OwnAccounts;
  balancer: Balancer;
  /** Where replicas may listen. */
  ports: number[];
  env: Record<string, string>;
  /** The file of the server `near`, with a line for each call. */
  nearFile: string;
  personId(person: number): string;
}

export const subjectOf = (person: number) => `p${person}`;

/** People who approve calls and have no agents. */
export const approvers = ["lead0", "lead1"] as const;

/** Every third person uses the door `ops`, which has no server that knows people. */
export const doorOf = (person: number) => (person % 3 === 2 ? "ops" : "qa");

const audience = "https://tools.example.com";
const deskAudience = "https://desk.example.com";

/** Replicas that are added, and that start while others end. */
const sparePorts = 4;

/** An access token is renewed while it still has more time than any request takes. */
const tokenSeconds = 180;

/** The life of tokens of people at the server `own`, which are refreshed. */
const ownTokenSeconds = 15;

export async function openSite(people: number, replicas: number): Promise<Site> {
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(temporaryFolder());
  const port = freePort();
  const ports = Array.from({ length: replicas + sparePorts }, freePort);
  const front = opened.use(await balancer(port, ports));
  const postgres = opened.use(await postgresFixture());
  const provider = opened.use(await oidcFixture(accountsOf(people), [`${front.origin}/ui/signed-in`]));
  provider.tokenSeconds = tokenSeconds;
  const far = opened.use(farServer());
  const accounts = opened.use(await ownAccounts());
  accounts.tokenSeconds = ownTokenSeconds;
  const desk = opened.use(await deskOf(provider));
  const asker = opened.use(await networkFixture("http", { program: "protocol", args: ["asker of the storm"] }));
  const nearFile = join(folder.path, "calls-of-near");
  folder.write("claudikins.json", configOf({ folder, nearFile, far, accounts, desk, asker, provider, front }));
  const database = await postgres.database();
  const closing = opened.move();
  return {
    folder,
    postgres,
    database,
    provider,
    far,
    accounts,
    balancer: front,
    ports,
    nearFile,
    env: {
      // A volume that all replicas mount.
      XDG_DATA_HOME: join(folder.path, "data"),
      CLAUDIKINS_DATABASE: database,
      CLAUDIKINS_SEALING_KEY: randomBytes(32).toString("base64"),
      PAGE_SECRET: "page-secret",
      EXCHANGE_SECRET: "exchanger-secret",
    },
    personId: (person) => personId(provider.issuer, subjectOf(person)),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

function accountsOf(people: number): Record<string, Account> {
  // The last one begins the small programs of a trial.
  const agents = Array.from({ length: people + 1 }, (_, person): [string, Account] => {
    return [subjectOf(person), { groups: [`${doorOf(person)}-team`] }];
  });
  const leads = approvers.map((each): [string, Account] => [each, { groups: ["leads"] }]);
  return Object.fromEntries([...agents, ...leads]);
}

/** A server that gets a token of the provider for each person. Its tool `who` returns whose token a call has. */
function deskOf(provider: OidcFixture): Promise<OwnAccounts> {
  return ownAccounts(async (token) => {
    const keys = createLocalJWKSet({ keys: await provider.keys() });
    return (await jwtVerify(token, keys, { issuer: provider.issuer, audience: deskAudience })).payload;
  });
}

interface Parts {
  folder: TemporaryFolder;
  nearFile: string;
  far: FarServer;
  accounts: OwnAccounts;
  desk: OwnAccounts;
  asker: NetworkFixture;
  provider: OidcFixture;
  front: Balancer;
}

function configOf({ folder, nearFile, far, accounts, desk, asker, provider, front }: Parts): object {
  return {
    mcpServers: {
      // The folder is on its command line, so that a process that is left can be found.
      near: fixture("counted", nearFile, folder.path),
      far: { url: far.url },
      asker: { url: `http://127.0.0.1:${asker.port}/` },
      own: { url: accounts.url, credentials: "user" },
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
    // People answer questions of servers here, and are not asked where data may go.
    policy: { flow: "off", confirm: { "far.guarded": "always" } },
    doors: { qa: { servers: ["near", "far", "asker", "own", "desk"] }, ops: { servers: ["near", "far"] } },
    record: "contents",
    auth: {
      oidc: {
        issuer: provider.issuer,
        audience,
        address: front.origin,
        doors: { qa: ["qa-team"], ops: ["ops-team"] },
        approvers: ["leads"],
        clientId: "page",
        clientSecret: "${PAGE_SECRET}",
      },
    },
  };
}
