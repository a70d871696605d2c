/** A local npm registry, without any other behind it unless one is named. */
import { dirname, join } from "node:path";
import { root } from "../support/claudikins.ts";
import { freePort } from "../support/free-port.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

export class Registry implements AsyncDisposable {
  readonly folder: TemporaryFolder = temporaryFolder();
  readonly url: string;
  readonly #process: Bun.Subprocess;

  private constructor(port: number, upstream?: string) {
    this.url = `http://127.0.0.1:${port}/`;
    const ours = { access: "$all", publish: "$anonymous" };
    const config = {
      storage: join(this.folder.path, "storage"),
      packages: {
        claudikins: ours,
        "@claudikins/*": ours,
        "**": { ...ours, ...(upstream === undefined ? {} : { proxy: "upstream" }) },
      },
      uplinks: upstream === undefined ? {} : { upstream: { url: upstream, maxage: "1d", timeout: "60s" } },
      max_body_size: "500mb",
      web: { enable: false },
      log: { type: "stdout", format: "json", level: "error" },
    };
    const verdaccio = join(root, "node_modules", "verdaccio", "bin", "verdaccio");
    this.#process = Bun.spawn(
      ["node", verdaccio, "--config", this.folder.write("config.yaml", config), "--listen", this.url],
      {
        cwd: this.folder.path,
        env: { ...this.env(this.home("registry")), ...certificates(), NODE_ENV: "production", NODE_NO_WARNINGS: "1" },
        stdio: ["ignore", "ignore", "inherit"],
      },
    );
  }

  /** Packages that it does not have come from `upstream`, the address of another registry. */
  static async start(upstream?: string): Promise<Registry> {
    const registry = new Registry(freePort(), upstream);
    while (
      !(await fetch(`${registry.url}-/ping`)
        .then(({ ok }) => ok)
        .catch(() => false))
    ) {
      if (registry.#process.exitCode !== null) throw new Error("the registry does not start");
      await Bun.sleep(50);
    }
    return registry;
  }

  /** A home whose npm and Bun use this registry. It has nothing else. */
  home(name: string): string {
    const { host } = new URL(this.url);
    // npm refuses to publish without a token, and the registry accepts any.
    const settings = `registry=${this.url}\n//${host}/:_authToken=any\nupdate-notifier=false\nfund=false\naudit=false\n`;
    return dirname(this.folder.write(join("homes", name, ".npmrc"), settings));
  }

  env(home: string): Record<string, string> {
    return { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: home, NO_COLOR: "1", CLAUDIKINS_DAEMON: "off" };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill();
    await this.#process.exited;
    this.folder[Symbol.dispose]();
  }
}

/** The user's own certificates, which the way to another registry may need. */
function certificates(): Record<string, string> {
  const { NODE_EXTRA_CA_CERTS: file } = process.env;
  return file === undefined ? {} : { NODE_EXTRA_CA_CERTS: file };
}
