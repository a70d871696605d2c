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
      what: "the file with the keys of an OAuth client of the desktop kind, downloaded from Google",
      from: "https://console.cloud.google.com/apis/credentials",
    },
    { name: "GDRIVE_CREDENTIALS_PATH", required: true, what: "the file that signing in writes" },
  ],
  signIn: "program",
  goodFor: ["find a document in Google Drive", "read a Google Doc", "read a Google Sheet as CSV"],
  notes: [
    "Sign in first, with both variables set: `npx -y @modelcontextprotocol/server-gdrive auth`. Without that it does not start.",
    "One tool; the files are resources. The old reference server: it works and is no longer maintained.",
  ],
  aliases: ["google-drive", "google drive", "server-gdrive"],
  homepage: "https://github.com/modelcontextprotocol/servers-archived/tree/main/src/gdrive",
  checked: { date: "2026-11-21", how: "started" },
} satisfies CatalogServer;
