/** Files in Google Drive. */
import type { CatalogServer } from "../../types.ts";

export const server = {
  name: "gdrive",
  category: "files",
  title: "Google Drive",
  description: "Finds files in Google Drive and reads them",
  server: {
    command: "npx",
    args: ["-y", "@modelcontextprotocol/server-gdrive"],
    env: { GDRIVE_CREDENTIALS_PATH: "${GDRIVE_CREDENTIALS_PATH}", GDRIVE_OAUTH_PATH: "${GDRIVE_OAUTH_PATH}" },
  },
  variables: [
    {
      name: "GDRIVE_OAUTH_PATH",
      required: true,
      what: "the key file of a desktop OAuth client, downloaded from Google",
      from: "https://console.cloud.google.com/apis/credentials",
    },
    { name: "GDRIVE_CREDENTIALS_PATH", required: true, what: "the file that the sign-in writes" },
  ],
  confined: {
    read: ["${GDRIVE_CREDENTIALS_PATH}", "${GDRIVE_OAUTH_PATH}"],
    network: ["www.googleapis.com", "oauth2.googleapis.com"],
  },
  session: "shared",
  signIn: "program",
  labels: {
    "*": ["untrusted", "private"],
  },
  goodFor: ["find a document in Google Drive", "read a Google Doc", "read a Google Sheet as CSV"],
  notes: [
    "Sign in first, with both variables set: `npx -y @modelcontextprotocol/server-gdrive auth`. It does not start before that.",
    "One tool; the files are resources. This is the old reference server: it works but is no longer maintained.",
  ],
  aliases: ["google-drive", "google drive", "server-gdrive"],
  homepage: "https://github.com/modelcontextprotocol/servers-archived/tree/main/src/gdrive",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
