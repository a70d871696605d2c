/** The exports of a skill are read from its text: typed signatures and comments. */
import { describe, expect, test } from "bun:test";
import { exportsOf } from "../../src/sandbox/code/skill-exports.ts";

test.each([
  ["export function f() {}", "f", "f()"],
  ["export function sum(a: number, b = 2): number { return a + b; }", "sum", "sum(a: number, b = 2): number"],
  ["export async function load(id: string) {}", "load", "load(id: string): Promise<unknown>"],
  [
    "export async function all(\n  ids: string[],\n): Promise<{ id: string }[]> {",
    "all",
    "all( ids: string[], ): Promise<{ id: string }[]>",
  ],
  [
    "export function shape(o: { a: { b: string } }): { n: number } {\n",
    "shape",
    "shape(o: { a: { b: string } }): { n: number }",
  ],
  [
    "export function* pages<T extends { id: string }>(all: T[]): Generator<T[]> {",
    "pages",
    "pages<T extends { id: string }>(all: T[]): Generator<T[]>",
  ],
  [
    "export function cb(f: (n: number) => string, s = ') {'): (x: string) => void {",
    "cb",
    "cb(f: (n: number) => string, s = ') {'): (x: string) => void",
  ],
  [
    "export function noted(a: string /* one :) */, b = 1 /* two */): void {",
    "noted",
    "noted(a: string /* one :) */, b = 1 /* two */): void",
  ],
  [
    "export function lined(\n  a: string, // one :)\n  b: number,\n): void {",
    "lined",
    "lined( a: string, // one :) b: number, ): void",
  ],
  ["export function is(x: unknown): x is string | number {", "is", "is(x: unknown): x is string | number"],
  ["export const double = (n: number): number => n * 2;", "double", "double(n: number): number"],
  ["export const wait = async (ms: number) => {};", "wait", "wait(ms: number): Promise<unknown>"],
  ["export const id = x => x;", "id", "id(x)"],
  ["export const rates: Record<string, number> = { a: 1 };", "rates", "rates: Record<string, number>"],
  ["export const limit = 3;", "limit", "limit"],
  ["export const grouped = (a + b) * 2;", "grouped", "grouped"],
  ["export class Report {}", "Report", "Report"],
  ["export enum Kind { A }", "Kind", "Kind"],
  ["export default function main(n?: number): void {}", "default", "main(n?: number): void"],
  ["export default (xs: number[]): number => xs.length;", "default", "default(xs: number[]): number"],
  ["export default async () => 1;", "default", "default(): Promise<unknown>"],
  ["export default { a: 1 };", "default", "default"],
  ["export default async function (n: number) {}", "default", "default(n: number): Promise<unknown>"],
])("exportsOf reads %s", (source, name, signature) => {
  expect(exportsOf(source)).toMatchObject([{ name, signature }]);
});

test("exportsOf returns comments as descriptions", () => {
  const source = `// Reports of the shop.
import { x } from "./x";

/**
 * Sums orders by month.
 * Cancelled ones are left out.
 * @param orders as list_orders gives them
 */
export function byMonth(orders: Order[]): Record<string, number> {}

// Only a line.
export const one = 1;

export function none() {}
`;
  expect(exportsOf(source).map(({ name, description }) => [name, description])).toEqual([
    ["byMonth", "Sums orders by month. Cancelled ones are left out."],
    ["one", "Only a line."],
    ["none", ""],
  ]);
  expect(exportsOf("// All of it.\nconst a = 1;\nexport const f = () => a;")).toMatchObject([
    { description: "All of it." },
  ]);
});

test("exportsOf returns what it can for invalid files, without hanging", () => {
  expect(exportsOf("const a = 1;")).toEqual([]);
  expect(exportsOf("export function broken(a: string")).toMatchObject([{ name: "broken", signature: "broken()" }]);
  expect(exportsOf(`export const deep = ${"(".repeat(50_000)}`)).toMatchObject([{ name: "deep" }]);
  expect(exportsOf(`export function long(${"a: string, ".repeat(1_000)}) {}`)[0]?.signature).toHaveLength(300);
});

describe("exportsOf is fast for", () => {
  const large = 250_000;
  const times = (text: string) => text.repeat(Math.ceil(large / text.length));
  test.each<[string, string]>([
    ["parentheses that are never closed", times("export function f(\n")],
    ["values whose type never ends", times("export const a: b\n")],
    ["types in brackets that are never closed", times("export const a: {\n")],
    ["comments that never end", `${times("/*")}\nexport const a = 1`],
    ["comments within comments before every export", times("/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/\nexport const a = 1\n")],
    ["blank lines in comments", `/*${times("\n")}*/\nexport const a = 1`],
    ["blank lines after export", `export${times("\n")}`],
    ["slashes", `${times("// /")}\nexport const a = 1`],
    ["backquotes", times("export function f(`\n")],
    ["generics that are never closed", times("export function f<T\n")],
  ])("%s", (_, source) => {
    const startedAt = performance.now();
    const found = exportsOf(source);
    // An earlier version took a minute or more for some of these.
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    expect(found.length).toBeLessThanOrEqual(100);
    for (const { signature, description } of found) {
      expect(signature.length).toBeLessThanOrEqual(300);
      expect(description.length).toBeLessThanOrEqual(4_000);
    }
  });
});
