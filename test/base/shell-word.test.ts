import { expect, test } from "bun:test";
import { posixWord, powerShellWord } from "../../src/base/shell-word.ts";

test.each([
  ["/usr/bin/x-1", "/usr/bin/x-1"],
  ["two words", "'two words'"],
  ["it's", "'it'\\''s'"],
  ["$HOME", "'$HOME'"],
  ["", "''"],
])("%p is %s in a POSIX shell", (word, written) => {
  expect(posixWord(word)).toBe(written);
  const { stdout } = Bun.spawnSync(["/bin/sh", "-c", `printf %s ${written}`]);
  expect(stdout.toString()).toBe(word);
});

test.each([
  ["C:\\tools\\x.exe", "C:\\tools\\x.exe"],
  ["C:\\Program Files", "'C:\\Program Files'"],
  ["it's", "'it''s'"],
  ["it\u2019s", "'it\u2019\u2019s'"],
  ["a,b", "'a,b'"],
  ["$env:X", "'$env:X'"],
  ["", "''"],
])("%p is %s in PowerShell", (word, written) => {
  expect(powerShellWord(word)).toBe(written);
});
