/** One agent of a person: an official client, of either era. */
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { modernVersion } from "../../../test/support/modern-host.ts";

/** "2026": without sessions. "2025": the same client with sessions. "older": the client of before. */
export const eras = ["2026", "2025", "older"] as const;
export type Era = (typeof eras)[number];

export interface CallOptions {
  signal?: AbortSignal;
  onprogress?: (progress: object) => void;
}

export interface Answer {
  /** The text of the first block, without its receipt. */
  text: string;
  isError: boolean;
}

export interface Agent {
  era: Era;
  execute(args: object, options?: CallOptions): Promise<Answer>;
  /** Ends the session, or only the connection with `drops`. */
  leave(drops: boolean): Promise<void>;
}

interface AgentOptions {
  url: string;
  era: Era;
  /** Whether servers can ask the person. If so, the agent has processes of its own of servers that are programs. */
  canBeAsked: boolean;
  /** Sends requests as the person. */
  fetch: typeof fetch;
  /** Answers a question: to a form with the value of its one field, to a link after it was opened. */
  answer(question: { message: string; url?: string | undefined }): Promise<string>;
}

/** Longer than any answer takes. Agents that ask again are answered after 50 s. */
const patienceMs = { usual: 30_000, resume: 60_000 };

export async function openAgent({ url, era, canBeAsked, fetch, answer }: AgentOptions): Promise<Agent> {
  const capabilities = canBeAsked ? { elicitation: { form: {}, url: {} } } : {};
  const name = { name: "storm", version: "1" };
  const elicit = async ({ params }: { params: { message: string } }) => {
    const mark = await answer({ message: params.message, ...("url" in params ? { url: String(params.url) } : {}) });
    return { action: "accept" as const, ...("url" in params ? {} : { content: { mark } }) };
  };
  if (era === "older") {
    const client = new Client(name, { capabilities });
    if (canBeAsked) client.setRequestHandler(ElicitRequestSchema, elicit);
    const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: fetch as never });
    return connected(era, client as never, transport as never);
  }
  const mode = era === "2026" ? { pin: modernVersion } : ("legacy" as const);
  const client = new NewClient(name, { capabilities, versionNegotiation: { mode } });
  if (canBeAsked) client.setRequestHandler("elicitation/create", elicit as never);
  return connected(era, client as never, new NewTransport(new URL(url), { fetch: fetch as never }) as never);
}

/** What both clients have in common. */
interface AnyClient {
  connect(transport: AnyTransport): Promise<void>;
  callTool(params: object, ...options: unknown[]): Promise<unknown>;
  close(): Promise<void>;
}
interface AnyTransport {
  terminateSession(): Promise<void>;
}

async function connected(era: Era, client: AnyClient, transport: AnyTransport): Promise<Agent> {
  await client.connect(transport);
  return {
    era,
    async execute(args, more = {}) {
      const options = { timeout: "resume" in args ? patienceMs.resume : patienceMs.usual, ...more };
      const params = { name: "execute_code", arguments: args };
      const called = era === "older" ? client.callTool(params, undefined, options) : client.callTool(params, options);
      const { content, isError } = (await called) as { content: { text: string }[]; isError?: boolean };
      return { text: content[0]!.text.replace(/\n\n\[[^\n]*\]$/, ""), isError: isError === true };
    },
    async leave(drops) {
      if (!drops) await transport.terminateSession().catch(() => {});
      await client.close().catch(() => {});
    },
  };
}
