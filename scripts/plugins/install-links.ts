/** Links that add claudikins to an editor with one click. */
import { name, npxWords } from "./about.ts";

const [command, ...words] = npxWords;

/** What the links add: the newest claudikins, through npx. */
export const linkedEntry = { command, args: [...words, "serve"] };

const cursorQuery = new URLSearchParams({ name, config: btoa(JSON.stringify(linkedEntry)) });

export const installLinks = {
  cursor: `cursor://anysphere.cursor-deeplink/mcp/install?${cursorQuery}`,
  vscode: `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name, ...linkedEntry }))}`,
};

/** Web pages that lead to the links, because GitHub shows no links to programs. */
export const webLinks = {
  cursor: `https://cursor.com/en/install-mcp?${cursorQuery}`,
  vscode: `https://insiders.vscode.dev/redirect?url=${encodeURIComponent(installLinks.vscode)}`,
};
