/** The SDK's server in code mode, for every revision of the protocol. Agents that read skills get them from it. */
import {
  GetSkillRequestParamsSchema,
  ListSkillsRequestParamsSchema,
  SKILLS_GET_METHOD,
  SKILLS_LIST_METHOD,
} from "@modelcontextprotocol/core/ext/skills";
import {
  ProtocolError,
  ProtocolErrorCode,
  type Resource,
  ResourceNotFoundError,
  Server,
  type ServerCapabilities,
  type ServerOptions,
} from "@modelcontextprotocol/server";
import type { Skill } from "@modelcontextprotocol/server/ext/skills";
import { pathOf } from "./skills/served-skills.ts";
import { capabilitiesFor, serverInfo, skillCapabilities } from "./surface/surface.ts";

/** Any execution can change the skills of the workspace. */
const cache = { ttlMs: 0, cacheScope: "private" as const };

export class CodeServer extends Server {
  /** The host's capabilities, where the SDK does not know them: over stdio, with revision 2026-07-28. */
  host: object | undefined;

  /** `skills` returns the text of each skill by its URI. */
  constructor(skills: () => ReadonlyMap<string, string>, options: ServerOptions) {
    super(serverInfo, { ...options, capabilities: skillCapabilities });
    this.setRequestHandler("resources/list", async () => ({
      resources: await Promise.all([...skills()].map((each) => resourceOf(...each))),
      ...cache,
    }));
    this.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [], ...cache }));
    this.setRequestHandler("resources/read", ({ params: { uri } }) => {
      const text = skills().get(plain(uri));
      if (text === undefined) throw new ResourceNotFoundError(uri);
      return { contents: [{ uri, mimeType: "text/markdown", text }], ...cache };
    });
    this.setRequestHandler(SKILLS_LIST_METHOD, { params: ListSkillsRequestParamsSchema }, async () => ({
      skills: await Promise.all([...skills()].map((each) => entryOf(...each))),
      ...cache,
    }));
    this.setRequestHandler(SKILLS_GET_METHOD, { params: GetSkillRequestParamsSchema }, async ({ uri }) => {
      const text = skills().get(plain(uri));
      if (text === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no skill ${uri}`);
      return { skill: await entryOf(plain(uri), text), ...cache };
    });
  }

  /** The capabilities that the host gets. */
  override getCapabilities(): ServerCapabilities {
    return capabilitiesFor(this.host ?? this.getClientCapabilities());
  }
}

/** The usual spelling of a URI. */
function plain(uri: string): string {
  return URL.parse(uri)?.href ?? uri;
}

/** The entry of a skill, with the digest and the size of its file. */
async function entryOf(address: string, text: string): Promise<Skill> {
  const { skillEntry } = await import("@modelcontextprotocol/server/ext/skills");
  return skillEntry(pathOf(address), { "SKILL.md": text });
}

/** The skill's file as an agent lists it among resources. */
async function resourceOf(address: string, text: string): Promise<Resource> {
  const { name, description } = (await entryOf(address, text)).frontmatter;
  return { uri: address, name, description, mimeType: "text/markdown", size: Buffer.byteLength(text) };
}
