/** Doctor check for server sandboxes that root starts. */
import { outerServers } from "../../config/saved-programs.ts";
import { type CheckParts, type Finding, findingsOf } from "./finding.ts";

const { warning } = findingsOf("servers");

/** The checks of servers say whether a server sandbox can be made at all. */
export function boxFindings({ config }: CheckParts): Finding[] {
  const names = outerServers(config)
    .filter(({ box }) => box)
    .map(({ name }) => name);
  if (names.length === 0 || process.getuid?.() !== 0) return [];
  const text = `claudikins runs as root, which weakens the sandboxes of servers: ${names.join(", ")}`;
  return [
    warning("sandbox.root", text, "Run claudikins as another user. This is true of containers, too.", {
      details: [
        "files: a server reads those of root in what its entry opens, and can make files there that run with the rights of root",
        "devices: a server can change who may use /dev/null and its like",
        'sockets: what listens in the places that its entry opens, or with "network": true in abstract sockets, sees root',
      ],
    }),
  ];
}
