/** The only way out of a box with a list of hosts: an HTTP proxy on a Unix socket that is shown inside. It knows CONNECT and nothing else. */

import { lookup } from "node:dns/promises";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, isIP, isIPv4, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kindOf } from "../../base/address-reach.ts";
import { messageOf } from "../../base/errors.ts";

/** Connections at once that one server may open through its proxy. */
const maxProxyConnections = 256;

/** The head of a request to the proxy. */
const maxProxyHeadBytes = 8_192;

/** Time to send the head of a request, and to connect to a host. */
const proxyConnectMs = 15_000;

/** Refused connections of one process that are logged. */
const maxProxyRefusals = 20;

export interface ProxyOptions {
  hosts: readonly string[];
  /** Called for a target that was refused, and why. Only the first refusals are reported. */
  refused: (target: string, why: string) => void;
  /** The addresses of a name. Tests replace it. */
  addressesOf?: (host: string) => Promise<string[]>;
}

const notListed = '"network" does not list the host and port';
const onlyPrivate = 'the name leads to a private address, which "network" does not list itself';

export class BoxProxy implements Disposable {
  readonly socket: string;
  readonly #folder: string;
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  readonly #options: ProxyOptions;
  #refusals = 0;

  private constructor(options: ProxyOptions) {
    this.#options = options;
    this.#folder = mkdtempSync(join(tmpdir(), "claudikins-box-"));
    chmodSync(this.#folder, 0o700);
    this.socket = join(this.#folder, "proxy.sock");
    this.#server = createServer((client) => this.#accept(client));
    this.#server.maxConnections = maxProxyConnections;
  }

  /** Resolves when the socket can be connected to. */
  static async listen(options: ProxyOptions): Promise<BoxProxy> {
    const proxy = new BoxProxy(options);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    proxy.#server.once("error", reject);
    proxy.#server.listen(proxy.socket, resolve);
    try {
      await promise;
    } catch (error) {
      proxy[Symbol.dispose]();
      throw error;
    }
    // It keeps no process alive: the server's process does.
    proxy.#server.unref();
    return proxy;
  }

  #accept(client: Socket): void {
    this.#hold(client);
    let head = Buffer.alloc(0);
    const late = setTimeout(() => client.destroy(), proxyConnectMs);
    const read = (chunk: Buffer) => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end === -1 && head.length <= maxProxyHeadBytes) return;
      client.off("data", read);
      client.pause();
      clearTimeout(late);
      if (end === -1) return answer(client, "431 Request Header Fields Too Large");
      const line = head.subarray(0, end).toString("latin1").split("\r\n")[0] ?? "";
      void this.#connect(client, line, head.subarray(end + 4));
    };
    client.on("data", read);
    client.once("close", () => clearTimeout(late));
  }

  async #connect(client: Socket, line: string, rest: Buffer): Promise<void> {
    const [, text = ""] = /^CONNECT (\S+) HTTP\/1\.[01]$/.exec(line) ?? [];
    const target = targetOf(text);
    try {
      if (!target || !isListed(target, this.#options.hosts)) return this.#refuse(client, text || line, notListed);
      const address = await this.#addressOf(target);
      if (address === undefined) return this.#refuse(client, text, onlyPrivate);
      if (client.destroyed) return;
      await this.#join(client, { host: address, port: target.port }, rest);
    } catch (error) {
      answer(client, `502 Bad Gateway`, `${text}: ${messageOf(error)}`);
    }
  }

  /** The name is resolved here, and the connection is made to the address that was checked. */
  async #addressOf({ host, port }: Target): Promise<string | undefined> {
    const { hosts, addressesOf = resolved } = this.#options;
    const addresses = isIP(host) === 0 ? await addressesOf(host) : [host];
    return addresses.find((address) => mayConnect(address, port, hosts));
  }

  async #join(client: Socket, { host, port }: Target, rest: Buffer): Promise<void> {
    const upstream = connect({ host, port });
    this.#hold(upstream);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    upstream.once("connect", resolve);
    upstream.once("error", reject);
    upstream.setTimeout(proxyConnectMs, () => reject(new Error("no answer in time")));
    try {
      await promise;
    } catch (error) {
      upstream.destroy();
      throw error;
    }
    upstream.setTimeout(0);
    client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    if (rest.length > 0) upstream.write(rest);
    client.once("close", () => upstream.destroy());
    upstream.once("close", () => client.destroy());
    client.pipe(upstream);
    upstream.pipe(client);
  }

  #refuse(client: Socket, target: string, why: string): void {
    if (++this.#refusals <= maxProxyRefusals) this.#options.refused(target.slice(0, 200), why);
    answer(client, "403 Forbidden", `The sandbox of this server refuses the connection: ${why}.`);
  }

  #hold(socket: Socket): void {
    this.#open.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => this.#open.delete(socket));
  }

  [Symbol.dispose](): void {
    for (const socket of this.#open) socket.destroy();
    this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function resolved(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

function answer(client: Socket, status: string, text = ""): void {
  const body = text === "" ? "" : `${text}\n`;
  client.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

interface Target {
  host: string;
  port: number;
}

const httpsPort = 443;

/** Parses the target of CONNECT, `host:port`. Undefined for everything that is not a plain name or an IPv4 address with a port. */
export function targetOf(text: string): Target | undefined {
  const [, host = "", digits = ""] = /^([a-z\d](?:[a-z\d.-]{0,251}[a-z\d])?):(\d{1,5})$/i.exec(text) ?? [];
  const port = Number(digits);
  const isName = host.split(".").every((label) => /^[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d])?$/i.test(label));
  if (!isName || port < 1 || port > 65_535) return undefined;
  // `127.1` and `0x7f000001` are addresses for some resolvers.
  if (/^(?:\d+|0x[\da-f]*)$/i.test(host.split(".").at(-1) ?? "") && !isIPv4(host)) return undefined;
  return { host: host.toLowerCase(), port };
}

/** Whether the list of an entry names the host: `host`, `*.host` for all names below it, or `host:port` for another port than 443. */
export function isListed({ host, port }: Target, hosts: readonly string[]): boolean {
  return hosts.some((entry) => {
    const [name = "", digits] = entry.toLowerCase().split(":");
    if (port !== (digits === undefined ? httpsPort : Number(digits))) return false;
    return name.startsWith("*.") ? isIP(host) === 0 && host.endsWith(name.slice(1)) : host === name;
  });
}

/** Whether an address that a name leads to may be used: public ones, and those that the list names themselves. */
export function mayConnect(address: string, port: number, hosts: readonly string[]): boolean {
  return (isIP(address) > 0 && kindOf(address) === "public") || isListed({ host: address, port }, hosts);
}
