/** A server that requires a sign-in, for tests: test/fixtures/servers/oauth.ts as a process, until its `using` block ends. */
import type { Actions, Options, Stats } from "../fixtures/servers/oauth/options.ts";
import { fixture } from "./servers.ts";

export interface OAuthFixture extends AsyncDisposable {
  /** The address of the MCP server. */
  url: string;
  /** The address of the authorization server; with resourceMetadata "none", that of the MCP server. */
  issuer: string;
  stats(): Promise<Stats>;
  /** Every token, code, verifier and client secret so far. */
  secrets(): Promise<string[]>;
  change(changes: Partial<Options> & Actions): Promise<void>;
}

export async function oauthFixture(options: Partial<Options> = {}): Promise<OAuthFixture> {
  const { command, args } = fixture("oauth", JSON.stringify(options));
  const child = Bun.spawn([command, ...args], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  let first = "";
  const reader = child.stdout.getReader();
  while (!first.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) throw new Error("the server did not start");
    first += new TextDecoder().decode(value);
  }
  const { port, authorizationPort } = JSON.parse(first) as { port: number; authorizationPort: number };
  const origin = `http://127.0.0.1:${port}`;
  const asked = async <T>(path: string) => (await (await fetch(`${origin}/control${path}`)).json()) as T;
  const issuer = options.resourceMetadata === "none" ? origin : `http://127.0.0.1:${authorizationPort}`;
  return {
    url: `${origin}/mcp`,
    issuer: `${issuer}${options.issuerPath ?? ""}`,
    stats: () => asked<Stats>("/stats"),
    secrets: () => asked<string[]>("/secrets"),
    async change(changes) {
      await fetch(`${origin}/control`, { method: "POST", body: JSON.stringify(changes) });
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
