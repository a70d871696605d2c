/**
 * The system's keychain: the Keychain of macOS, the Credential Manager of Windows, the Secret Service of Linux (GNOME Keyring, KWallet).
 * A keychain may ask the user to unlock it, so each request has a time limit.
 */
import { existsSync } from "node:fs";
import { messageOf } from "./errors.ts";

/** The name of claudikins' items in the keychain. */
const service = "claudikins";

/** Time for the system's keychain to answer. A person may have to unlock it, but an agent is waiting. */
const keychainMs = 20_000;

type Variables = Readonly<Record<string, string | undefined>>;

/** The keychain cannot be used. The message ends a sentence that begins with "the keychain". */
export class KeychainFailure extends Error {
  override readonly name = "KeychainFailure";
  /** It did not answer in time: perhaps a person must unlock it. */
  readonly isLate: boolean;

  constructor(message: string, { isLate = false } = {}) {
    super(message);
    this.isLate = isLate;
  }
}

/** Requests that were given up. They cannot be cancelled, and the system waits for them at the end of the process. */
let abandoned = 0;

/** Whether the process must be ended without waiting for the keychain. */
export function isKeychainStuck(): boolean {
  return abandoned > 0;
}

/** Undefined if the keychain has no such item, or if it is locked and cannot be unlocked. Throws KeychainFailure. */
export async function keychainItem(name: string, env: Variables): Promise<string | undefined> {
  return (await asked(env, () => Bun.secrets.get({ service, name }))) ?? undefined;
}

/** Throws KeychainFailure. */
export async function setKeychainItem(name: string, value: string, env: Variables): Promise<void> {
  await asked(env, () => Bun.secrets.set({ service, name, value }));
}

/** Throws KeychainFailure. */
export async function removeKeychainItem(name: string, env: Variables): Promise<void> {
  await asked(env, () => Bun.secrets.delete({ service, name }));
}

async function asked<T>(env: Variables, request: () => Promise<T>): Promise<T> {
  if (env["CLAUDIKINS_KEYCHAIN"] === "off") throw new KeychainFailure("is turned off by CLAUDIKINS_KEYCHAIN=off");
  if (process.platform === "linux") await findSessionBus(env);
  const late = Promise.withResolvers<never>();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    abandoned += 1;
    late.reject(new KeychainFailure(`did not answer within ${keychainMs / 1_000} s`, { isLate }));
  }, keychainMs);
  const answer = request()
    .catch((error: unknown) => {
      throw new KeychainFailure(`cannot be used: ${messageOf(error)}`);
    })
    .finally(() => {
      if (isLate) abandoned -= 1;
    });
  return Promise.race([answer, late.promise]).finally(() => clearTimeout(timer));
}

/**
 * The keychain is reached over the bus of the user's session. Some agents start claudikins without the variables that name it. Without a
 * bus, the library would try to start one.
 */
async function findSessionBus(env: Variables): Promise<void> {
  if (env["DBUS_SESSION_BUS_ADDRESS"]) return;
  const runtimeFolder = env["XDG_RUNTIME_DIR"] || `/run/user/${process.getuid?.()}`;
  const socket = `${runtimeFolder}/bus`;
  if (!existsSync(socket)) throw new KeychainFailure("cannot be reached: this session has no D-Bus");
  if (env["XDG_RUNTIME_DIR"]) return;
  const [{ FFIType }, { openLibrary }] = await Promise.all([import("bun:ffi"), import("./c-library.ts")]);
  const library = openLibrary({
    setenv: { args: [FFIType.cstring, FFIType.cstring, FFIType.i32], returns: FFIType.i32 },
  });
  // The library of the keychain reads the environment of the process, which `process.env` does not change.
  library?.symbols.setenv(Buffer.from("XDG_RUNTIME_DIR\0"), Buffer.from(`${runtimeFolder}\0`), 1);
}
