/** A second user of the machine cannot reach the daemon's socket. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type GeneratedProject, generatedProject } from "../support/daemon.ts";
import { asOtherUser, asThisUser, otherUserNote, statusIn } from "../support/other-user.ts";

setDefaultTimeout(60_000);

const request = "GET /status HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

/** Starts the daemon. Everybody may pass through the folders above its own. */
async function socketOf(project: GeneratedProject): Promise<string> {
  expect((await project.claudikins("ui", "--json")).exitCode).toBe(0);
  const folder = join(project.path, "runtime", "claudikins");
  for (const above of [project.path, join(project.path, "runtime")]) chmodSync(above, 0o755);
  return join(folder, readdirSync(folder).find((name) => name.endsWith(".sock"))!);
}

describe.skipIf(otherUserNote !== "")(`another user of this machine${otherUserNote}`, () => {
  test("cannot connect to the socket, although its own mode would let everybody in", async () => {
    await using project = await generatedProject();
    const socket = await socketOf(project);
    chmodSync(socket, 0o777);
    expect(await asOtherUser({ to: { path: socket }, bytes: request })).toBe("EACCES\n");
    expect(statusIn(await asThisUser({ to: { path: socket }, bytes: request }))).toBe(200);
  });

  test("cannot connect after others could enter the folder, because the daemon closes it before it listens", async () => {
    await using project = await generatedProject();
    const folder = dirname(await socketOf(project));
    await project.claudikins("daemon", "stop");
    chmodSync(folder, 0o777);
    const socket = await socketOf(project);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(await asOtherUser({ to: { path: socket }, bytes: request })).toBe("EACCES\n");
  });
});
