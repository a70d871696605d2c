/**
 * The program that the conformance suite drives: its last argument is a server, and the scenario's name is in the
 * environment. It uses the product's pool and sign-in; only the person at the browser is simulated.
 */
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { ClaudikinsError } from "../../src/base/errors.ts";
import { Seal } from "../../src/base/seal.ts";
import { defaultServerTimes } from "../../src/config/defaults.ts";
import type { NetworkServer } from "../../src/config/load.ts";
import { CredentialStore } from "../../src/servers/auth/credentials.ts";
import { sealingKeysOf } from "../../src/servers/auth/seal.ts";
import { beginSignIn } from "../../src/servers/auth/sign-in.ts";
import { Pool } from "../../src/servers/pool.ts";
import { toolValue } from "../../src/servers/result.ts";
import { temporaryFolder } from "../support/temporary.ts";

interface Context {
  /** The calls that a scenario wants to see, instead of one of each tool. */
  toolCalls?: { name: string; arguments: object }[];
  client_id?: string;
  client_secret?: string;
  private_key_pem?: string;
  signing_algorithm?: string;
  /** The company's provider, claudikins' client there, and the ID token of a person who has signed in. */
  idp_token_endpoint?: string;
  idp_client_id?: string;
  idp_id_token?: string;
}

const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Context;
const revision = process.env["MCP_CONFORMANCE_PROTOCOL_VERSION"];
const url = process.argv.at(-1) ?? "";

const log = (message: string) => console.error(message);

using folder = temporaryFolder();
const credentialsFile = `${folder.path}/credentials.json`;
const server: NetworkServer = {
  name: "tested",
  url,
  transport: "http",
  headers: {},
  disabled: false,
  needs: [],
  ...defaultServerTimes,
  oauth: oauthOf(context),
  ...companySignIn(context),
};
await using pool = new Pool(new Map([[server.name, server]]), {
  env: {},
  cwd: folder.path,
  log: { debug: log, info: log, warn: log },
  credentialsFile,
  // The suite names the revision to speak, as if the server had spoken it before.
  stored: () => ({ protocol: revision, tools: [] }),
  own: ownOf(context),
});
// A person who accepts an empty form: claudikins must add the defaults.
pool.setHost({
  responder: {
    capabilities: { elicitation: { form: { applyDefaults: true } } },
    elicit: async () => ({ action: "accept", content: {} }),
  },
});

const tools = await signedIn(() => pool.listTools(server.name));
const calls = context.toolCalls ?? tools.map(({ name }) => ({ name, arguments: argumentsOf(name) }));
// The server of this scenario has a tool that cannot be called.
for (const { name, arguments: args } of scenario === "json-schema-ref-no-deref" ? [] : calls) {
  const result = await signedIn(() => pool.callTool(server.name, name, args, { timeoutMs: 20_000 }));
  toolValue(result, name);
}
if (scenario === "http-standard-headers") await readEverything();

function argumentsOf(tool: string): object {
  if (tool === "add_numbers") return { a: 5, b: 3 };
  const wanted = tools.find(({ name }) => name === "json_schema_2020_12_tool");
  return tool === "json_schema_echo" ? { schema: wanted?.inputSchema } : {};
}

async function readEverything(): Promise<void> {
  for (const { uri } of await pool.listResources(server.name)) await pool.readResource(server.name, String(uri));
  for (const { name } of await pool.listPrompts(server.name)) await pool.getPrompt(server.name, String(name), {});
}

/** Signs in when told to, and tries again. A server may move to another authorization server meanwhile, but only once. */
async function signedIn<T>(work: () => Promise<T>, signInsLeft = 2): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ClaudikinsError) || error.code !== "AUTH_REQUIRED" || signInsLeft === 0) throw error;
    log(`${error.message}; ${error.hint}`);
    await signIn();
    return await signedIn(work, signInsLeft - 1);
  }
}

async function signIn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<URL>();
  const listener = createServer((request, response) => {
    response.end("done");
    resolve(new URL(request.url ?? "", redirectUrl));
  }).listen(0, "127.0.0.1");
  await new Promise((listening) => listener.once("listening", listening));
  const redirectUrl = new URL(`http://127.0.0.1:${(listener.address() as { port: number }).port}/callback`);
  try {
    const signal = AbortSignal.timeout(60_000);
    const begun = await beginSignIn(server, new CredentialStore(credentialsFile), { redirectUrl, signal });
    if (!begun) return;
    await (await fetch(begun.authorizationUrl)).text();
    await begun.finish(await promise);
  } finally {
    listener.closeAllConnections();
    listener.close();
  }
}

/** The part of the entry of a server to which people get access from the provider of their company. */
function companySignIn({ idp_token_endpoint: tokenUrl, idp_client_id: clientId }: Context): Partial<NetworkServer> {
  if (tokenUrl === undefined || clientId === undefined) return {};
  // The provider of the suite does not check the secret, which the config must have.
  const exchange = { kind: "id-jag", tokenUrl, clientId, clientSecret: "unchecked" } as const;
  return { credentials: "exchange", exchange };
}

/** The person's credentials, as an app of `serve --http` has them after the person has signed in to the page. */
function ownOf({ idp_id_token: token }: Context): CredentialStore | undefined {
  if (token === undefined) return undefined;
  const keys = sealingKeysOf({ keys: [randomBytes(32).toString("base64")], file: undefined, needs: [] });
  const owner = { name: "ann", seal: new Seal(keys, "ann"), tokenOf: () => token, pageFor: () => undefined };
  return new CredentialStore(`${folder.path}/person.json`, log, { owner });
}

function oauthOf({ client_id, client_secret, private_key_pem, signing_algorithm }: Context): NetworkServer["oauth"] {
  if (scenario === "auth/basic-cimd") {
    const clientMetadataUrl = "https://conformance-test.local/client-metadata.json";
    return { clientMetadataUrl, grant: "authorization_code" };
  }
  if (client_id === undefined) return undefined;
  return {
    clientId: client_id,
    clientSecret: client_secret,
    privateKey: private_key_pem,
    algorithm: signing_algorithm,
    grant: scenario.startsWith("auth/client-credentials-") ? "client_credentials" : "authorization_code",
  };
}
