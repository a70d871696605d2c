/** What it takes to share a workspace. */
import type { Log } from "../../base/log.ts";
import type { WorkspaceFolder } from "../../sandbox/host/workspace-folder.ts";
import type { FileRows, SharedPlace } from "../../store/files.ts";
import type { KnownFiles } from "./known-files.ts";

export interface WorkspaceParts {
  files: FileRows;
  place: SharedPlace;
  folder: WorkspaceFolder;
  known: KnownFiles;
  log: Log;
  /** Writes a problem to the log, once. Returns whether it is new. */
  tell(problem: string): boolean;
}
