/**
 * A balancer in front of the replicas, which sends each request to any of those that are ready: HAProxy if it is installed, otherwise a few
 * lines of Bun. Neither sends a request again that may have reached a replica.
 */
import { type TemporaryFolder, temporaryFolder } from "../../../test/support/temporary.ts";

export interface Balancer extends AsyncDisposable {
  origin: string;
  kind: "HAProxy" | "a balancer of the harness";
}

/** How often a replica is asked whether it is ready. */
const lookMs = 500;

/** A replica that has not answered such a question for this time takes no requests. */
const answersWithinMs = 2_000;

/** Without a sign of life on a connection for this time, the replica is taken to be gone. Streams have one every ten seconds. */
const silenceMs = 22_000;

/** `ports` are those at which replicas may listen. */
export async function balancer(port: number, ports: readonly number[]): Promise<Balancer> {
  const haproxy = Bun.which("haproxy");
  return haproxy === null ? ownBalancer(port, ports) : haproxyBalancer(haproxy, port, ports);
}

const originOf = (port: number) => `http://127.0.0.1:${port}`;

async function haproxyBalancer(program: string, port: number, ports: readonly number[]): Promise<Balancer> {
  const folder: TemporaryFolder = temporaryFolder();
  const servers = ports.map((each) => `  server r${each} 127.0.0.1:${each}`).join("\n");
  const config = folder.write(
    "haproxy.cfg",
    `global
  maxconn 4000
defaults
  mode http
  timeout connect 1s
  timeout client 10m
  timeout server ${silenceMs}ms
  timeout check ${answersWithinMs}ms
  retries 3
  retry-on conn-failure
  option redispatch 1
  option abortonclose
frontend all
  bind 127.0.0.1:${port}
  default_backend replicas
backend replicas
  balance random
  option httpchk
  http-check send meth GET uri /readyz hdr Host 127.0.0.1
  default-server check inter ${lookMs}ms fall 2 rise 1
${servers}
`,
  );
  const child = Bun.spawn([program, "-f", config, "-db"], { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  for (let tries = 0; tries < 500; tries++) {
    // It answers 503 as long as no replica is ready.
    const isThere = await fetch(originOf(port)).then(
      () => true,
      () => false,
    );
    if (isThere) break;
    if (child.exitCode !== null) throw new Error(`HAProxy has ended: ${await child.stderr.text()}`);
    await Bun.sleep(20);
  }
  return {
    origin: originOf(port),
    kind: "HAProxy",
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await child.exited;
      folder[Symbol.dispose]();
    },
  };
}

function ownBalancer(port: number, ports: readonly number[]): Balancer {
  const ready = new Set<number>();
  const look = setInterval(() => {
    for (const each of ports) {
      void fetch(`${originOf(each)}/readyz`, { signal: AbortSignal.timeout(answersWithinMs) }).then(
        ({ ok }) => (ok ? ready.add(each) : ready.delete(each)),
        () => ready.delete(each),
      );
    }
  }, lookMs);
  const pass = async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url);
    const body = request.body === null ? null : await request.arrayBuffer();
    const { method, headers, signal } = request;
    const untried = [...ready].sort(() => Math.random() - 0.5);
    for (const each of untried) {
      try {
        const to = `${originOf(each)}${pathname}${search}`;
        return await fetch(to, { method, headers, body, signal, redirect: "manual", decompress: false } as RequestInit);
      } catch (error) {
        const isUnsent = (error as { code?: string }).code === "ConnectionRefused";
        if (!isUnsent) return new Response("the replica has ended", { status: 502 });
      }
    }
    return new Response("no replica is ready", { status: 503 });
  };
  const server = Bun.serve({ port, hostname: "127.0.0.1", idleTimeout: 0, fetch: pass });
  return {
    origin: originOf(port),
    kind: "a balancer of the harness",
    [Symbol.asyncDispose]: async () => {
      clearInterval(look);
      await server.stop(true);
    },
  };
}
