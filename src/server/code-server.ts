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
  ResourceNotFoundError,
  Server,
  type ServerCapabilities,
  type ServerOptions,
} from "@modelcontextprotocol/server";
import { capabilitiesFor, serverInfo, skillCapabilities } from "./surface.ts";

/** Any execution can change the skills of the workspace. */
const cache = { ttlMs: 0, cacheScope: "private" as const };

export class CodeServer extends Server {
  /** The host's capabilities, where the SDK does not know them: over stdio, with revision 2026-07-28. */
  host: object | undefined;

  /** `skills` returns the text of each skill by its URI. */
  constructor(skills: () => ReadonlyMap<string, string>, options: ServerOptions) {
    super(serverInfo, { ...options, capabilities: skillCapabilities });
    this.setRequestHandler("resources/list", async () => {
      const { resourceOf } = await import("./skills/entries.ts");
      return { resources: await Promise.all([...skills()].map((each) => resourceOf(...each))), ...cache };
    });
    this.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [], ...cache }));
    this.setRequestHandler("resources/read", ({ params: { uri } }) => {
      const text = skills().get(plain(uri));
      if (text === undefined) throw new ResourceNotFoundError(uri);
      return { contents: [{ uri, mimeType: "text/markdown", text }], ...cache };
    });
    this.setRequestHandler(SKILLS_LIST_METHOD, { params: ListSkillsRequestParamsSchema }, async () => {
      const { entryOf } = await import("./skills/entries.ts");
      return { skills: await Promise.all([...skills()].map((each) => entryOf(...each))), ...cache };
    });
    this.setRequestHandler(SKILLS_GET_METHOD, { params: GetSkillRequestParamsSchema }, async ({ uri }) => {
      const text = skills().get(plain(uri));
      if (text === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no skill ${uri}`);
      const { entryOf } = await import("./skills/entries.ts");
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
