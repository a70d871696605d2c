/** The examples for HAProxy and nginx, run as they are printed but for addresses: with replicas that leave and that stand still. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { executeRequest, type HttpServe, rawSession, type SdkHost, sdkHost } from "../support/http-serve.ts";
import { nameServer } from "../support/name-server.ts";
import { ownFolder } from "../support/own-folder.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../support/postgres.ts";
import { openReplicas } from "../support/replicas.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(180_000);

const root = join(import.meta.dir, "../..");
const folder = ownFolder();
const hostOf = ({ url }: HttpServe) => new URL(url).host;

/** nginx would start its workers as another user, which may not connect without a token. */
const asOwnUser = process.getuid?.() === 0 ? "user root;" : "";

/** The id of a program that is not done yet. */
const idIn = (answer: string) => /{"resume": "(\w+)"}/.exec(answer)?.[1];

interface Example {
  name: "haproxy" | "nginx";
  file: string;
  /** The file with the addresses of the replicas, a free port, and the port of a name server that knows the replicas. */
  filled: (text: string, hosts: readonly string[], port: number, dns: number) => string;
  command: (config: string) => string[];
}

const examples: Example[] = [
  {
    name: "haproxy",
    file: "deploy/haproxy/haproxy.cfg",
    filled: (text, [one, two], port) =>
      text
        .replace("10.0.0.7:4600", one!)
        .replace("10.0.0.8:4600", two!)
        .replace("bind :4600", `bind 127.0.0.1:${port}`),
    command: (config) => ["haproxy", "-q", "-db", "-f", config],
  },
  {
    name: "nginx",
    file: "deploy/compose/nginx.conf",
    filled: (text, [one], port, dns) =>
      text
        .replace("127.0.0.11", `127.0.0.1:${dns}`)
        .replace("$replicas:4600", `$replicas:${new URL(`http://${one}`).port}`)
        .replace("listen 4600;", `listen 127.0.0.1:${port};`),
    command: (config) => ["nginx", "-c", config, "-e", "stderr", "-g", `${asOwnUser} daemon off; pid ${config}.pid;`],
  },
];

describe.skipIf(postgresNote !== "").each(examples)(`the example for $name${postgresNote}`, (example) => {
  const { name, file, filled, command } = example;
  const program = Bun.which(name);
  const note = program === null ? ` (skipped: needs ${name}, which is not installed)` : "";
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const text = readFileSync(join(root, file), "utf8");

  async function open(flags: string[], count = 2) {
    folder.write("claudikins.json", { mcpServers: { asker: fixture("protocol", "stdio", folder.path) } });
    const shared = freePort();
    // Replicas of compose have the same port at different addresses.
    const hosts = ["127.0.0.2", "127.0.0.3"].map((host) => `${host}:${shared}`);
    const set = await openReplicas(folder, server, count, { flags, hosts });
    const names = await nameServer("claudikins", () => set.all.map(({ url }) => new URL(url).hostname));
    const port = freePort();
    const config = folder.write(`${name}.conf`, filled(text, set.all.map(hostOf), port, names.port));
    const child = Bun.spawn(command(config), { stdin: "ignore", stdout: "ignore", stderr: "ignore" });
    const url = `http://127.0.0.1:${port}/mcp`;
    const isUp = () =>
      fetch(new URL("/readyz", url)).then(
        ({ status }) => status === 200,
        () => false,
      );
    await eventually(isUp);
    return {
      set,
      url,
      [Symbol.asyncDispose]: async () => {
        // nginx must end its workers.
        child.kill("SIGTERM");
        await child.exited;
        names[Symbol.dispose]();
        await set[Symbol.asyncDispose]();
      },
    };
  }

  test.skipIf(program === null)(
    `a replica leaves: no session is lost, and no running request breaks${note}`,
    async () => {
      await using door = await open(["--lame-duck", "4s"]);
      const hosts = await Promise.all(Array.from({ length: 6 }, () => sdkHost(door.url)));
      const ids = hosts.map(({ transport }) => transport.sessionId);
      let isDone = false;
      let answered = 0;
      const problems: string[] = [];
      // On a slow machine, a program may not be done when its replica leaves. Another one continues it.
      const outcomeOf = async (host: SdkHost) => {
        let answer = await host.execute(`await sleep(200); return "ok"`);
        for (let id = idIn(answer); id !== undefined; id = idIn(answer)) answer = await host.resume(id);
        return answer;
      };
      const working = hosts.map(async (host) => {
        while (!isDone) {
          const outcome = await outcomeOf(host).catch(String);
          if (outcome === "ok") answered += 1;
          else problems.push(outcome);
        }
      });
      const [a] = door.set.all as [HttpServe, HttpServe];
      await eventually(() => answered > 12);
      a.signal("SIGTERM");
      expect(await a.exited).toBe(0);
      const before = answered;
      await eventually(() => answered > before + 24);
      isDone = true;
      await Promise.all(working);
      // nginx does not ask for health, and may send a request to a replica that takes no more.
      const isExpected = (problem: string) => name === "nginx" && problem.includes("accepts no new requests");
      expect(problems.filter((problem) => !isExpected(problem))).toEqual([]);
      expect(hosts.map(({ transport }) => transport.sessionId)).toEqual(ids);
      for (const { client } of hosts) await client.close();
    },
  );

  test.skipIf(program === null || name !== "haproxy")(
    `a replica stands still: its connections are closed, and others take the requests${note}`,
    async () => {
      await using door = await open([]);
      const [a, b] = door.set.all as [HttpServe, HttpServe];
      const sessions = await Promise.all(Array.from({ length: 4 }, () => rawSession(door.url)));
      // Each replica has some of them.
      const streams = await Promise.all(
        sessions.map((session) => session.post(executeRequest(1, "await sleep(120_000)"))),
      );
      const ends = streams.map((stream) =>
        stream
          .text()
          .then(() => performance.now())
          .catch(() => performance.now()),
      );
      const stoodAt = performance.now();
      process.kill(a.pid, "SIGSTOP");
      try {
        // Some of the requests have come to the other one, which waits for the lease of the first to end.
        expect((await Promise.race(ends)) - stoodAt).toBeLessThan(10_000);
        await eventually(async () => (await rawSession(door.url).catch(() => undefined)) !== undefined);
        const own = await rawSession(b.url);
        expect((await own.post(executeRequest(2, "return 2"))).status).toBe(200);
        const last = await fetch(new URL("/readyz", door.url));
        expect(last.status).toBe(200);
      } finally {
        process.kill(a.pid, "SIGCONT");
      }
    },
  );

  test.skipIf(program === null || name !== "nginx")(`a new replica is found while nginx runs${note}`, async () => {
    await using door = await open([], 1);
    await rawSession(door.url);
    const added = await door.set.start();
    const begun = () => [...added.stderr().matchAll(/session \S+ started/g)].length;
    await eventually(async () => {
      await rawSession(door.url);
      return begun() > 0;
    });
  });

  test("is printed in the documentation as it is", () => {
    if (name === "haproxy") expect(readFileSync(join(root, "docs/database.md"), "utf8")).toContain(text);
    else expect(readFileSync(join(root, "docs/database.md"), "utf8")).toContain(file);
  });
});
