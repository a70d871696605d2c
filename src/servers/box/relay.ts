/**
 * The process between bubblewrap and a server with a list of hosts. It listens on the loopback of the box and passes connections on to the socket of the
 * proxy, because programs know proxies by an address and not by a socket. It decides nothing.
 */

import script from "./relay.txt";

/** The port of the relay. The network of each box is its own, so that nothing else can have it. */
export const relayPort = 3_128;

/** The command of the relay, given the path of this executable inside of the box. It must run with `BUN_BE_BUN=1`, which makes it Bun. */
export function relayCommand(executable: string, socket: string, command: readonly string[]): string[] {
  // Settings in the working directory must not change what Bun does.
  const options = ["--no-env-file", "--config=/dev/null"];
  return [executable, ...options, "-e", script, "--", socket, `${relayPort}`, ...command];
}

/** The variables by which programs find a proxy. Node.js 22.21 and 24 read them because of the last one. */
export function proxyVariables(): Record<string, string> {
  const address = `http://127.0.0.1:${relayPort}`;
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
  return { ...Object.fromEntries(names.map((name) => [name, address])), NODE_USE_ENV_PROXY: "1" };
}
