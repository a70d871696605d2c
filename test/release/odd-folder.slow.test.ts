/** A checkout can be in a folder with any name: the source runs there, and it builds. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/claudikins.ts";
import { runProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(180_000);

test("a checkout in a folder with quotes, brackets, umlauts and a long name runs from source, and it builds", async () => {
  using folder = temporaryFolder();
  const checkout = join(folder.path, `Jürgen's "Größen" [1], #7 %20 & $HOME ${"x".repeat(150)}`, "clone");
  mkdirSync(join(checkout, "node_modules"), { recursive: true });
  for (const name of ["src", "registry", "scripts", "package.json", "tsconfig.json", "bun.lock"]) {
    cpSync(join(root, name), join(checkout, name), { recursive: true });
  }
  // Nothing that another checkout has made is used. The package is copied because its package.json has patterns of paths.
  for (const name of readdirSync(join(root, "node_modules"))) {
    const [from, to] = [join(root, "node_modules", name), join(checkout, "node_modules", name)];
    if (name === "core-js-pure") cpSync(from, to, { recursive: true });
    else if (name !== ".cache") symlinkSync(from, to);
  }
  const options = { cwd: folder.path, env: { HOME: folder.path } };
  const program = ["exec", "-e", 'return new URL("/a", "https://example.com").href'];
  const result = { exitCode: 0, stdout: "https://example.com/a\n" };

  expect(await runProgram([process.execPath, join(checkout, "src", "main.ts"), ...program], options)).toMatchObject(
    result,
  );
  const outfile = join(folder.path, "claudikins");
  const build = [process.execPath, join(checkout, "scripts", "build.ts"), "--outfile", outfile];
  expect(await runProgram(build, options)).toMatchObject({ exitCode: 0, stderr: "" });
  expect(await runProgram([outfile, ...program], options)).toMatchObject(result);
});
