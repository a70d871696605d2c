/** What install.sh says about PATH, so that the shell finds the program. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { fakeProgram, Machine, Release } from "./harness.ts";

async function advice(machine: Machine, env: Record<string, string> = {}): Promise<string> {
  await using release = new Release(fakeProgram("1.2.3"));
  const { stdout } = await machine.run({ env: { ...release.env, CLAUDIKINS_NO_DEMO: "1", ...env } });
  return stdout.split("\n\n").slice(2).join("\n\n");
}

const linux = '[ "$1" = -s ] && echo Linux || echo x86_64';
const macos = '[ "$1" = -s ] && echo Darwin || echo arm64';

test.each([
  ["/bin/bash", linux, "~/.bashrc", 'export PATH=~/.local/bin:"$PATH"'],
  ["/bin/bash", macos, "~/.bash_profile", 'export PATH=~/.local/bin:"$PATH"'],
  ["/usr/bin/zsh", linux, "~/.zshrc", 'export PATH=~/.local/bin:"$PATH"'],
  ["/opt/homebrew/bin/fish", macos, "~/.config/fish/config.fish", "fish_add_path ~/.local/bin"],
  ["", linux, "~/.profile", 'export PATH=~/.local/bin:"$PATH"'],
])("install.sh names the file and the line for %s", async (shell, uname, file, line) => {
  using machine = new Machine().fake("uname", uname);
  expect(await advice(machine, { SHELL: shell })).toBe(`~/.local/bin is not on your PATH.
Add this line to ${file}, then open a new terminal:
  ${line}

Next, import the MCP servers of your agents. To see what would change, without writing anything:
  ~/.local/bin/claudikins init --dry-run
To make the changes, and to undo them:
  ~/.local/bin/claudikins init
  ~/.local/bin/claudikins restore
`);
});

test.each(["", "/"])('install.sh says nothing about PATH if the folder is on it, ending in "%s"', async (end) => {
  using machine = new Machine();
  machine.path += `:${machine.home}/.local/bin${end}`;
  expect(
    await advice(machine),
  ).toBe(`Next, import the MCP servers of your agents. To see what would change, without writing anything:
  claudikins init --dry-run
To make the changes, and to undo them:
  claudikins init
  claudikins restore
`);
});

test("install.sh names another claudikins that comes first on PATH", async () => {
  using machine = new Machine().fake("claudikins", "exit 1");
  machine.path += `:${machine.home}/.local/bin`;
  expect(await advice(machine)).toStartWith(`Your shell finds another claudikins first: <root>/tools/claudikins
Add this line to `);
});

test.each(["sh", "bash", "zsh", "fish"].filter((shell) => Bun.which(shell)))(
  "the suggested line works in %s",
  async (shell) => {
    using machine = new Machine();
    const folder = join(machine.root, 'it\'s a $HOME of "programs"');
    const text = await advice(machine, { CLAUDIKINS_INSTALL: folder, SHELL: `/bin/${shell}` });
    const line = /^ {2}(.+)$/m.exec(text)![1]!.replaceAll("<root>", machine.root);
    const env = { PATH: process.env["PATH"], HOME: machine.home };
    const found = Bun.spawnSync([Bun.which(shell)!, "-c", `${line}\ncommand -v claudikins`], { env });
    expect(found.stdout.toString()).toBe(`${folder}/claudikins\n`);
  },
);
