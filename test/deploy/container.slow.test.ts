/**
 * The container image and the compose file. buildah builds the image where it is installed. What the image does is tried without an engine:
 * the steps of the Containerfile are run in an empty Debian in a folder, with the same user, variables and command, and with nothing writable but
 * the volumes.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { executable, root } from "../support/claudikins.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { sdkHost } from "../support/http-serve.ts";
import { processesLeft, runProgram, testEnvironment } from "../support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(300_000);

const deploy = join(root, "deploy");

/** The instructions of the Containerfile, in their order. */
const steps = readFileSync(join(deploy, "container", "Containerfile"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => ({ instruction: line.slice(0, line.indexOf(" ")), rest: line.slice(line.indexOf(" ") + 1) }));

const valuesOf = (wanted: string) => steps.filter(({ instruction }) => instruction === wanted).map(({ rest }) => rest);
const variablesOf = (lines: string[]) =>
  Object.fromEntries(
    lines.flatMap((line) => [...line.matchAll(/(\w+)=("[^"]*"|\S+)/g)].map(([, k, v]) => [k!, v!.replaceAll('"', "")])),
  );

const compose = Bun.YAML.parse(readFileSync(join(deploy, "compose", "compose.yaml"), "utf8")) as {
  services: { claudikins: { volumes: string[]; healthcheck: { test: string[] }; environment: Record<string, string> } };
};

/** The command of the health check, for another port. */
const healthcheckOf = (port: number) =>
  compose.services.claudikins.healthcheck.test
    .slice(1)
    .map((word) => word.replaceAll("4600", String(port)).replaceAll("$$", "$"));

const canRun = process.platform === "linux" && process.getuid?.() === 0 && Bun.which("debootstrap") !== null;
const note = canRun ? "" : " (skipped: needs Linux, root and debootstrap)";
const buildah = Bun.which("buildah");
const token = "0123456789abcdef0123456789abcdef";

describe.skipIf(!canRun)(`the image${note}`, () => {
  let folder: TemporaryFolder;
  let system: string;

  const path = { PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` };
  const run = async (...command: string[]) => {
    const { exitCode, stdout, stderr } = await runProgram(command, {
      env: { ...path, DEBIAN_FRONTEND: "noninteractive" },
    });
    expect({ command, exitCode, stderr: exitCode === 0 ? "" : `${stdout}${stderr}` }).toEqual({
      command,
      exitCode: 0,
      stderr: "",
    });
  };

  beforeAll(async () => {
    folder = temporaryFolder();
    system = join(folder.path, "system");
    await run("debootstrap", "--variant=minbase", "bookworm", system, "http://deb.debian.org/debian");
    if (buildah !== null) await run("cp", "-a", system, join(folder.path, "base"));
    for (const { instruction, rest } of steps) {
      if (instruction === "RUN")
        await run(
          "env",
          ...Object.entries(variablesOf(valuesOf("ARG"))).map((each) => each.join("=")),
          "chroot",
          system,
          "/bin/sh",
          "-c",
          rest,
        );
      if (instruction !== "COPY") continue;
      const [, target = ""] = rest.split(" ");
      copyFileSync(executable(), join(system, target));
      chmodSync(join(system, target), 0o755);
    }
    copyFileSync(join(deploy, "compose", "claudikins.json"), join(system, "etc", "claudikins", "claudikins.json"));
  });
  afterAll(() => folder?.[Symbol.dispose]());

  /** Runs a command as the image does: its user and variables, a root that is read-only, and the volume. */
  function inside(command: string[]) {
    const mounts = [
      'mount --bind "$0" "$0"',
      'mount -o remount,bind,ro "$0"',
      'mount -t proc proc "$0/proc"',
      'mount -t tmpfs tmpfs "$0/tmp"',
      'mount --bind "$1" "$0/data"',
      'mount --rbind /dev "$0/dev"',
    ];
    const [user = ""] = valuesOf("USER");
    const variables = {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      CLAUDIKINS_TOKEN: token,
      ...variablesOf(valuesOf("ENV")),
    };
    const words = Object.entries(variables).map((each) => each.join("="));
    const script = `${mounts.join(" && ")} && root=$0 user=$2 && shift 2 && exec chroot --userspec="$user" "$root" /usr/bin/env -i "$@"`;
    const data = join(folder.path, "data");
    if (!existsSync(data)) {
      mkdirSync(data, { mode: 0o700 });
      Bun.spawnSync(["chown", user, data]);
    }
    return Bun.spawn(
      [
        "unshare",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "sh",
        "-c",
        script,
        system,
        data,
        user,
        ...words,
        ...command,
      ],
      {
        env: testEnvironment(path),
        stdout: "pipe",
        stderr: "pipe",
      },
    );
  }

  test("is a Debian that is built and run as no root", () => {
    expect(valuesOf("FROM")).toEqual(["${BASE}"]);
    expect(variablesOf(valuesOf("ARG"))).toMatchObject({
      BASE: "docker.io/library/debian:12-slim",
      EXECUTABLE: "claudikins",
    });
    expect(valuesOf("USER")).toEqual(["10001:10001"]);
    expect(statSync(join(system, "data")).uid).toBe(10_001);
  });

  test.skipIf(buildah === null)(
    "is built by buildah, from another base and for a named executable (skipped without buildah)",
    async () => {
      const at = (name: string) => join(folder.path, name);
      const settings = {
        policy: folder.write("policy.json", { default: [{ type: "insecureAcceptAnything" }] }),
        registries: folder.write("registries.conf", "unqualified-search-registries = []\n"),
      };
      const store = ["--root", at("images"), "--runroot", at("running"), "--storage-driver", "vfs"];
      const build = (...words: string[]) => [buildah!, ...store, "--registries-conf", settings.registries, ...words];
      await run(...build("from", "--name", "base", "scratch"));
      await run(...build("add", "--quiet", "base", at("base"), "/"));
      await run(...build("commit", "--quiet", "--signature-policy", settings.policy, "base", "localhost/base"));
      mkdirSync(at("context"));
      copyFileSync(executable(), at("context/claudikins-amd64"));
      copyFileSync(join(deploy, "container", "Containerfile"), at("context/Containerfile"));
      const words = ["--isolation", "chroot", "--network", "host", "--signature-policy", settings.policy];
      const values = ["--build-arg", "BASE=localhost/base", "--build-arg", "EXECUTABLE=claudikins-amd64"];
      await run(...build("build", ...words, ...values, "--tag", "localhost/claudikins", at("context")));
      await run(
        ...build(
          "from",
          "--name",
          "built",
          "--pull-never",
          "--signature-policy",
          settings.policy,
          "localhost/claudikins",
        ),
      );
      const ended = await runProgram(
        build("run", "--isolation", "chroot", "built", "--", "sh", "-c", "id -u; claudikins --version"),
        { env: path },
      );
      expect(ended).toEqual({ exitCode: 0, stdout: `10001\n${manifest.version}\n`, stderr: "" });
    },
  );

  test("serves the config of the compose file, keeps what is written in its volume, and ends when it is asked to", async () => {
    const [entry = "", defaults = ""] = [...valuesOf("ENTRYPOINT"), ...valuesOf("CMD")];
    const port = freePort();
    const command = [...JSON.parse(entry), ...JSON.parse(defaults)].map((word: string) =>
      word.replace("0.0.0.0:4600", `127.0.0.1:${port}`),
    );
    expect(command).toContain(`127.0.0.1:${port}`);
    const child = inside(command);
    const url = `http://127.0.0.1:${port}/mcp`;
    try {
      await eventually(async () => {
        if (child.exitCode !== null) throw new Error(await child.stderr.text());
        return (await fetch(new URL("/readyz", url)).catch(() => undefined))?.status === 200;
      });
      expect(await inside(healthcheckOf(port)).exited).toBe(0);
      {
        const headers = { authorization: `Bearer ${token}` };
        await using host = await sdkHost(url, {}, { headers });
        const code = `await fs.writeFile("./workspace/kept.txt", "kept"); return (await demo.list_orders({ limit: 2 })).orders.length`;
        expect(await host.execute(`import fs from "node:fs/promises"; ${code}`)).toBe("2");
      }
      expect((await fetch(url, { method: "POST" })).status).toBe(401);
    } finally {
      for (const pid of await processesLeft(`127.0.0.1:${port}`, 0)) process.kill(pid, "SIGTERM");
    }
    await child.exited;
    expect(await processesLeft(`127.0.0.1:${port}`)).toEqual([]);
    expect(await inside(healthcheckOf(port)).exited).not.toBe(0);
    const kept = readdirSync(join(folder.path, "data"), { recursive: true }).map(String);
    expect(kept.filter((name) => name.endsWith("kept.txt"))).toHaveLength(1);
  });
});

test("the compose file uses the volume, the config and the token of the image", () => {
  const { volumes, environment } = compose.services.claudikins;
  expect(volumes.map((each) => each.split(":")[1])).toEqual([...valuesOf("VOLUME"), "/etc/claudikins/claudikins.json"]);
  expect(Object.keys(environment)).toEqual(["CLAUDIKINS_TOKEN"]);
  expect(valuesOf("CMD")[0]).toContain('"--token-env", "CLAUDIKINS_TOKEN"');
});

test("the compose file with two replicas has one port, one data folder, and a database that is ready first", () => {
  const read = (name: string) => readFileSync(join(deploy, "compose", name), "utf8");
  const { services, volumes } = Bun.YAML.parse(read("replicas.yaml").replace("!reset ", "")) as {
    services: Record<string, Record<string, unknown>>;
    volumes: object;
  };
  expect(services["claudikins"]).toEqual({
    extends: { file: "compose.yaml", service: "claudikins" },
    ports: [],
    environment: {
      CLAUDIKINS_DATABASE: "postgres://claudikins:${DATABASE_PASSWORD}@database/claudikins",
      CLAUDIKINS_SEALING_KEY: expect.stringMatching(/^\$\{CLAUDIKINS_SEALING_KEY:\?.*openssl rand -base64 32/),
      CLAUDIKINS_BUCKET: "${CLAUDIKINS_BUCKET:-}",
    },
    deploy: { replicas: 2 },
    depends_on: { database: { condition: "service_healthy" } },
  });
  expect(services["nginx"]).toMatchObject({ ports: ["127.0.0.1:4600:4600"] });
  expect(Object.keys(volumes)).toEqual(["data", "database"]);
  const nginx = read("nginx.conf");
  expect(nginx).toContain("set $replicas claudikins;");
  expect(nginx).toContain("proxy_pass http://$replicas:4600;");
  expect(nginx).toContain("proxy_buffering off;");
});
