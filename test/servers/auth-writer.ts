/** A process that writes sign-ins, `auth-writer.ts write <file> <name> <count>`, or holds a lock, `auth-writer.ts hold <file>`. */

import { withLock } from "../../src/base/lock.ts";
import { CredentialStore } from "../../src/servers/auth/credentials.ts";
import { serverOf } from "./auth-harness.ts";

const [, , what, file = "", name = "", count = "0"] = process.argv;
if (what === "hold") {
  await withLock(file, "the sign-ins", async () => {
    console.log("held");
    await Bun.sleep(600_000);
  });
} else {
  const store = new CredentialStore(file);
  for (let number = 0; number < Number(count); number++) {
    const server = serverOf(`${name}-${number}`, { url: "https://example.com" });
    await store.update(server, () => ({ server: server.name }));
  }
}
