/** Opens the file of sign-ins for the commands that use it. */
import { CredentialStore } from "../clients/auth/credentials.ts";
import { credentialsFile } from "../config/locations.ts";
import type { Io } from "./io.ts";

/** The sign-ins of all the user's projects. A damaged file is a warning, but not with `--json`. */
export function openCredentials(io: Io, { json }: { json?: boolean | undefined }): CredentialStore {
  const warn = (message: string) => void io.stderr.write(`warning: ${message}\n`);
  return new CredentialStore(credentialsFile(io.env), json ? undefined : warn);
}
