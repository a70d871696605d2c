/** The error of a store that has as much data as it may have. */
import { ClaudikinsError } from "../base/errors.ts";
import { megabyte } from "../base/units.ts";

export function storeIsFull(roomBytes: number): ClaudikinsError {
  const text = `The programs that wait have filled the ${Math.round(roomBytes / megabyte)} MB that they may take together`;
  return new ClaudikinsError("FILE_NOT_WRITABLE", text, {
    hint: "To see them: claudikins executions list. To end one: claudikins executions cancel <execution>. Or raise executions.totalMb in the config.",
  });
}
