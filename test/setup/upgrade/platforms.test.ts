/** The platforms of releases: their names, and which one a machine is. */
import { expect, test } from "bun:test";
import { ownPlatform, platformOf, platforms } from "../../../src/setup/upgrade/platforms.ts";

test("there are seven platforms, with what Bun and npm call them", () => {
  expect(platforms.map(({ name, target, os, cpu, libc }) => [name, target, os, cpu, libc].join(" "))).toEqual([
    "linux-x64 bun-linux-x64 linux x64 glibc",
    "linux-arm64 bun-linux-arm64 linux arm64 glibc",
    "linux-x64-musl bun-linux-x64-musl linux x64 musl",
    "linux-arm64-musl bun-linux-arm64-musl linux arm64 musl",
    "darwin-x64 bun-darwin-x64 darwin x64 ",
    "darwin-arm64 bun-darwin-arm64 darwin arm64 ",
    "windows-x64 bun-windows-x64 win32 x64 ",
  ]);
});

test("only the executable for Windows has an extension", () => {
  const names = platforms.map(({ name, executable }) => [name, executable]);
  expect(names.filter(([, executable]) => executable !== "claudikins")).toEqual([["windows-x64", "claudikins.exe"]]);
});

test.each([
  ["linux", "x64", "glibc", "linux-x64"],
  ["linux", "x64", "musl", "linux-x64-musl"],
  ["linux", "arm64", "musl", "linux-arm64-musl"],
  ["darwin", "arm64", "glibc", "darwin-arm64"],
  ["win32", "x64", "musl", "windows-x64"],
  ["win32", "arm64", "glibc", undefined],
  ["freebsd", "x64", "glibc", undefined],
] as const)("%s %s with %s is %s", (platform, arch, libc, name) => {
  expect(platformOf({ platform, arch }, libc)?.name).toBe(name!);
});

test("from source, the platform is that of the machine", () => {
  expect(ownPlatform()).toEqual(platformOf(process)!);
});
