/** The entry of a server that people use with their own keys, as it is for one person. */
import { personKeysIn, usesOwn, withPersonKeys } from "../../config/credentials.ts";
import type { ServerConfig } from "../../config/load.ts";
import type { CredentialStore } from "../auth/credentials.ts";

/** The entry with the keys that the person has entered. References to keys that are missing stay. */
export function withOwnKeys<Server extends ServerConfig>(server: Server, own: CredentialStore | undefined): Server {
  const names = usesOwn(server) ? personKeysIn(server) : [];
  if (names.length === 0) return server;
  const keys = own?.read(server)?.keys ?? {};
  const filled = (texts: Record<string, string>) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, withPersonKeys(text, keys)]));
  // The redactor shows a key by its name, as it does with variables.
  const variables = { ...server.variables, ...keys };
  if (server.url === undefined) return { ...server, variables, env: filled(server.env) };
  const { headers, auth } = server;
  const ofSource =
    auth === undefined ? {} : { auth: typeof auth === "string" ? withPersonKeys(auth, keys) : filled(auth) };
  return { ...server, variables, headers: filled(headers), ...ofSource };
}
