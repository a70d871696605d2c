/** What the commands about sign-ins share: the file where these are kept. */
import { CredentialStore } from "../clients/auth/credentials.ts";
import { credentialsFile } from "../config/locations.ts";
import type { Io } from "./io.ts";

/** Of all projects of the user. That it is damaged is said to people alone. */
export function openCredentials(io: Io, { json }: { json?: boolean | undefined }): CredentialStore {
  const warn = (message: string) => void io.stderr.write(`warning: ${message}\n`);
  return new CredentialStore(credentialsFile(io.env), json ? undefined : warn);
}
