/** A real keychain for programs that tests start: GNOME Keyring on a bus of its own. Debian has it in `dbus` and `gnome-keyring`. */
import { type TemporaryFolder, temporaryFolder } from "./temporary.ts";

/** Undefined if this machine has it; otherwise why tests are skipped. */
export const noKeychain = ["dbus-daemon", "gnome-keyring-daemon"].every((name) => Bun.which(name) !== null)
  ? undefined
  : "needs dbus-daemon and gnome-keyring-daemon";

export interface TestKeychain extends AsyncDisposable {
  /** For the environment of programs that use it. */
  address: string;
}

/** `locked`: nobody unlocks it. */
export async function startKeychain({ locked = false } = {}): Promise<TestKeychain> {
  const folder: TemporaryFolder = temporaryFolder();
  const bus = Bun.spawn(["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address"], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    env: { PATH: process.env["PATH"], HOME: folder.path },
  });
  const address = (await firstLine(bus.stdout)).trim();
  const keyring = locked ? undefined : unlocked(address, folder.path);
  if (keyring) await firstLine(keyring.stdout);
  return {
    address,
    async [Symbol.asyncDispose]() {
      keyring?.kill("SIGKILL");
      bus.kill("SIGTERM");
      await Promise.all([keyring?.exited, bus.exited]);
      folder[Symbol.dispose]();
    },
  };
}

function unlocked(address: string, home: string) {
  const child = Bun.spawn(["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
    env: { PATH: process.env["PATH"], HOME: home, XDG_RUNTIME_DIR: home, DBUS_SESSION_BUS_ADDRESS: address },
  });
  child.stdin.write("a password\n");
  void child.stdin.end();
  return child;
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  let text = "";
  while (!text.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) break;
    text += new TextDecoder().decode(value);
  }
  reader.releaseLock();
  return text;
}

/** A bus whose keychain never answers, such as one that waits for a person. */
export async function startSilentKeychain(): Promise<TestKeychain> {
  const folder = temporaryFolder();
  folder.write(
    "services/org.freedesktop.secrets.service",
    "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/bin/sleep 60\n",
  );
  const config = folder.write(
    "bus.conf",
    `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <servicedir>${folder.path}/services</servicedir>
  <limit name="service_start_timeout">120000</limit>
  <policy context="default"><allow send_destination="*"/><allow own="*"/></policy>
</busconfig>
`,
  );
  const bus = Bun.spawn(["dbus-daemon", `--config-file=${config}`, "--nofork", "--nopidfile", "--print-address"], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const address = (await firstLine(bus.stdout)).trim();
  return {
    address,
    async [Symbol.asyncDispose]() {
      bus.kill("SIGTERM");
      await bus.exited;
      folder[Symbol.dispose]();
    },
  };
}
