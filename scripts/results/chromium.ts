/** Chromium for servers that drive a browser. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export const chromium = "/usr/bin/chromium";

/** Writes a program that starts Chromium without its sandbox, which does not work for root. For servers that take no flags. */
export function writeChromium(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\nexec ${chromium} --headless --no-sandbox "$@"\n`);
  chmodSync(path, 0o755);
}
