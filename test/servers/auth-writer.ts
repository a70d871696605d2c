/**
 * A process that writes sign-ins, `auth-writer.ts write <file> <name> <count>`, prints one, `auth-writer.ts read <file> <name>`, seals them,
 * `auth-writer.ts seal <file>`, or holds a lock, `auth-writer.ts hold <file>`.
 */

import { withLock } from "../../src/base/lock.ts";
import { CredentialStore } from "../../src/servers/auth/credentials.ts";
import { KeychainSeal } from "../../src/servers/auth/keychain-seal.ts";
import { serverOf } from "./auth-harness.ts";

const [, , what, file = "", name = "", count = "0"] = process.argv;
const warn = (message: string) => console.error(message);
const store = new CredentialStore(file, warn, { signInSeal: new KeychainSeal(process.env) });
const server = (each: string) => serverOf(each, { url: "https://example.com" });
if (what === "hold") {
  await withLock(file, "the sign-ins", async () => {
    console.log("held");
    await Bun.sleep(600_000);
  });
} else if (what === "read") {
  await store.ready();
  console.log(store.read(server(name))?.tokens?.access ?? "signed out");
} else if (what === "seal") {
  await store.sealAll();
} else {
  for (let number = 0; number < Number(count); number++) {
    const each = `${name}-${number}`;
    const tokens = { access: `access of ${each}`, scopes: [], since: 1, obtainedAt: 1 };
    await store.update(server(each), () => ({ server: each, tokens }));
  }
}
