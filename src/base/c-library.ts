/** Calls functions of the C library that no module offers. */
import { dlopen, type FFIFunction, type Library } from "bun:ffi";

/** Its names on macOS, glibc and musl. */
const names =
  process.platform === "darwin"
    ? ["libSystem.dylib"]
    : ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

/** Undefined if there is no C library under the usual names, as on Windows. */
export function openLibrary<Functions extends Record<string, FFIFunction>>(
  functions: Functions,
): Library<Functions> | undefined {
  for (const name of names) {
    try {
      return dlopen(name, functions);
    } catch {
      // The next name may be the one of this system.
    }
  }
  return undefined;
}

/** For messages. */
export const libraryNames = names.join(" or ");
