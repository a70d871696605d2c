/** A folder with hostile files: whatever a runtime may read from a working directory, with a mark for each file that runs. */
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TemporaryFolder, temporaryFolder } from "./temporary.ts";

export interface HostileFolder extends TemporaryFolder {
  /** The working directory, below a folder that is as hostile. */
  cwd: string;
  /** The user's own home. */
  home: string;
  /** The marks of files that ran, one word each; empty if none did. */
  marks(): string[];
}

const programs = ["bun", "node", "npx", "sh", "bash", "env", "grep", "sleep", "git", "claudikins", "xdg-open", "open"];
const packages = ["ajv", "acorn", "zod", "consola", "citty", "openai", "quickjs-emscripten-core", "ws", "claudikins"];

export function hostileFolder(): HostileFolder {
  const folder = temporaryFolder();
  const marked = join(folder.path, "marks");
  const code = (mark: string) =>
    `require("node:fs").appendFileSync(${JSON.stringify(marked)}, ${JSON.stringify(`${mark}\n`)});\n`;
  for (const at of ["", "parent/", "parent/cwd/", "parent/cwd/workspace/outputs/"]) {
    const write = (name: string, content: string | object) => folder.write(at + name, content);
    write("evil.cjs", code(`${at}preload`));
    write("worker.ts", code(`${at}worker`));
    write("sandbox/worker/worker.ts", code(`${at}sandbox/worker`));
    write("main.ts", code(`${at}main`));
    const bunfig = 'preload = ["./evil.cjs"]\n[run]\nbun = true\n[test]\npreload = ["./evil.cjs"]\n';
    write("bunfig.toml", bunfig);
    write(".bunfig.toml", bunfig);
    const evilServer = { command: "/bin/sh", args: ["-c", `echo ${at}server >> '${marked}'`] };
    write("evil.json", { mcpServers: { evil: evilServer } });
    write("evil-home/claudikins/claudikins.json", { mcpServers: { evil: evilServer } });
    const variables = [
      "NODE_TLS_REJECT_UNAUTHORIZED=0",
      "CLAUDIKINS_CONFIG=evil.json",
      `CLAUDIKINS_EXECUTABLE=${folder.path}/evil-program`,
      "CLAUDIKINS_LOG=debug",
      "NODE_OPTIONS=--require=./evil.cjs",
      "BUN_OPTIONS=--preload=./evil.cjs",
      "BUN_INSPECT_PRELOAD=./evil.cjs",
      "XDG_CONFIG_HOME=$PWD/evil-home",
      "XDG_DATA_HOME=$PWD/evil-home",
      "XDG_RUNTIME_DIR=$PWD/evil-home",
      "LOADED_FROM_DOTENV=yes",
    ];
    for (const name of [".env", ".env.local", ".env.development", ".env.production", ".env.test"]) {
      write(name, `${variables.join("\n")}\n`);
    }
    write("package.json", {
      name: "evil",
      main: "./evil.cjs",
      imports: { "#x": "./evil.cjs" },
      scripts: { start: "./sh" },
    });
    const paths = Object.fromEntries(
      ["*", "node:*", "fs", "node:fs", "node:path"].map((name) => [name, ["./evil.cjs"]]),
    );
    write("tsconfig.json", { compilerOptions: { baseUrl: ".", paths, jsxImportSource: "evil" } });
    write("jsconfig.json", { compilerOptions: { baseUrl: ".", paths } });
    for (const name of packages) {
      write(`node_modules/${name}/package.json`, { name, main: "index.js" });
      write(`node_modules/${name}/index.js`, code(`${at}${name}`));
    }
    for (const name of programs) {
      chmodSync(write(name, `#!/bin/sh\necho ${at}${name} >> '${marked}'\n`), 0o755);
      chmodSync(write(`bin/${name}`, `#!/bin/sh\necho ${at}bin/${name} >> '${marked}'\n`), 0o755);
    }
  }
  chmodSync(folder.write("evil-program", `#!/bin/sh\necho evil-program >> '${marked}'\n`), 0o755);
  return {
    ...folder,
    cwd: join(folder.path, "parent", "cwd"),
    home: join(folder.path, "home"),
    marks: () => (existsSync(marked) ? readFileSync(marked, "utf8").trim().split("\n") : []),
  };
}
