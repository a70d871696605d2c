/** The command `/claudikins:setup`, which leads from an installed plugin to the servers of the user. */

import { npxWords } from "./about.ts";

export const setupDescription = "Import the MCP servers of your agents into claudikins";

export const setupPrompt = `Help the user to set up claudikins, which puts all their MCP servers behind two tools.
Use the shell. If it does not know the command \`claudikins\`, use \`${npxWords.join(" ")}\` in its place.

1. Run \`claudikins init --dry-run\`. It changes nothing. Tell the user which servers it found, and which files would change.
2. If it found servers, ask the user whether to import them. If they agree, run \`claudikins init --apply\`. It writes the servers into
   claudikins.json and takes them out of the agents' own settings. \`claudikins restore\` undoes this.
3. If two agents have different servers of the same name, the command says which options decide. Ask the user.
4. If it found no servers, ask the user which services they work with, and run \`claudikins add NAME\` for each.
5. If a server needs a sign-in, ask the user to run \`claudikins auth login NAME\`, which opens their browser.
6. Run \`claudikins list --check\`, and explain each problem that it shows. Then ask the user to restart their agents.

Never ask the user for a password or a token in this conversation. Values that servers need go into claudikins.json, which the user can
edit with \`claudikins config edit\`.
`;
