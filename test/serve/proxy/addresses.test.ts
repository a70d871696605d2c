/** Addresses of resources that several servers have. */
import { expect, test } from "bun:test";
import { mayBeOf, placeOf, schemeOf, shownAddresses, withServer } from "../../../src/serve/proxy/addresses.ts";

test("an address of one server is kept, and an address of several servers gets the server's name", () => {
  const shown = shownAddresses(
    new Map([
      ["one", ["file:///a", "memo://x?y=1#z"]],
      ["my server/ü", ["file:///a", "file:///b", "file:///b"]],
      ["three", ["claudikins://one/file:///a"]],
    ]),
  );
  expect([...shown].map(([server, uris]) => [server, ...uris.values()])).toEqual([
    ["one", "claudikins://one/file:///a", "memo://x?y=1#z"],
    ["my server/ü", "claudikins://my%20server%2F%C3%BC/file:///a", "file:///b"],
    // It would be taken for a resource of another server.
    ["three", "claudikins://three/claudikins://one/file:///a"],
  ]);
  const servers = [...shown.keys()];
  for (const [server, uris] of shown) {
    for (const [uri, address] of uris) {
      if (address !== uri) expect(placeOf(address, servers)).toEqual({ server, uri });
      expect(URL.canParse(address)).toBe(true);
    }
  }
});

test("only addresses of known servers are translated", () => {
  const servers = ["one", "one/two", "\ud800"];
  for (const uri of ["file:///a", "claudikins://other/x", "claudikins://one", "", "claudikins://"]) {
    expect(placeOf(uri, servers)).toBeUndefined();
  }
  expect(placeOf("claudikins://one%2Ftwo/x:y", servers)).toEqual({ server: "one/two", uri: "x:y" });
  expect(placeOf(withServer("one", ""), servers)).toEqual({ server: "one", uri: "" });
});

test.each([
  ["file:///{path}", "file:///a%2Fb", true],
  ["file:///{+path}", "file:///a/b", true],
  ["test://{id}/data", "test://7/data", true],
  ["test://{id}/data", "test://7/other", false],
  ["test://{id}/data", "other://7/data", false],
  ["test://{a}/x/{b}/y", "test://1/x/2/y", true],
  ["test://{a}/x/{b}/y", "test://1/2/y", false],
  // The end must not be used twice.
  ["test://{a}aa/aa", "test://aa", false],
  ["test://fixed", "test://fixed", true],
  ["test://fixed", "test://fixed/more", false],
  ["{all}", "anything", true],
  ["test://{broken", "test://{broken", true],
] as const)("the template %s matches the address %s: %p", (template, uri, fits) => {
  expect(mayBeOf(template, uri)).toBe(fits);
});

test("schemeOf returns the scheme in lower case, or an empty text", () => {
  expect(["FILE:///a", "a+b.c-1:x", "no scheme", ""].map(schemeOf)).toEqual(["file:", "a+b.c-1:", "", ""]);
});
