/** `node:os`, with constants of a made-up machine. */

const gigabyte = 1_073_741_824;

export const os = {
  EOL: "\n",
  devNull: "/dev/null",
  platform: () => "linux",
  type: () => "Linux",
  arch: () => "x64",
  machine: () => "x86_64",
  release: () => "0.0.0",
  version: () => "",
  endianness: () => "LE",
  hostname: () => "sandbox",
  homedir: () => "/",
  /** The only folder that can be written to. */
  tmpdir: () => "/workspace",
  uptime: () => 0,
  loadavg: () => [0, 0, 0],
  totalmem: () => gigabyte,
  freemem: () => gigabyte / 2,
  /** One processor, because there is one thread. Programs divide their work by this number. */
  cpus: () => [{ model: "", speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }],
  availableParallelism: () => 1,
  networkInterfaces: () => ({}),
  userInfo: () => ({ uid: 1000, gid: 1000, username: "user", homedir: "/", shell: null }),
  constants: { signals: {}, errno: {} },
};
