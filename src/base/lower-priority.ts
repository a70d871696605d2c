/** Lets other threads go first. */
import { openLibrary } from "./c-library.ts";
import { loweredPriority } from "./limits.ts";

/** Lowers the priority of this thread for good, because a user may not raise it again. Only Linux has priorities of threads. */
export function lowerPriority(): void {
  if (process.platform !== "linux") return;
  // 0 is the kind "process", which on Linux means one thread, and then this thread.
  openLibrary({ setpriority: { args: ["int", "int", "int"], returns: "int" } })?.symbols.setpriority(
    0,
    0,
    loweredPriority,
  );
}
