/** Drops the line that a person has begun at the terminal and not ended. Until it is ended, only the terminal has it. */
import { openLibrary } from "../../base/c-library.ts";

/** `TCIFLUSH` of termios.h: what was received and not read. */
const received = process.platform === "darwin" ? 1 : 0;

/** Does nothing where there is no C library, as on Windows. */
export function dropUnsentLine(fd: number): void {
  const library = openLibrary({ tcflush: { args: ["int", "int"], returns: "int" } });
  library?.symbols.tcflush(fd, received);
  library?.close();
}
