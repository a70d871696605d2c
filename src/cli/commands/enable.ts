/** `claudikins enable`: switches servers and tools on again. */
import { switchCommand } from "../switch-command.ts";

export default switchCommand(
  true,
  "Turn servers or single tools back on in claudikins.json. The file keeps its comments and formatting.",
  ["claudikins enable github", "claudikins enable github.delete_repository"],
);
