/** `claudikins disable`: switches servers and tools off, and keeps their entries. */
import { switchCommand } from "../switch-command.ts";

export default switchCommand(
  false,
  "Turn off servers or single tools in claudikins.json. They cannot be called, and agents do not see them. A server keeps its entry.",
  ["claudikins disable github", "claudikins disable github.delete_repository", "claudikins disable 'github.delete_*'"],
);
