/** A registry cannot give a container a folder of this machine: mounts in every form that Docker understands. */
import { expect, test } from "bun:test";
import { entryOf } from "../../../src/setup/registries/entry.ts";
import { publishedServer } from "../../../src/setup/registries/published.ts";
import { valueProblem } from "../../../src/setup/registries/templates.ts";
import type { Variant } from "../../../src/setup/registries/variant.ts";
import { variantsOf, wantedOfVariant } from "../../../src/setup/registries/variants.ts";

const named = (name: string, value?: string, more: object = {}) => ({ type: "named", name, value, ...more });
const positional = (value: string, more: object = {}) => ({ type: "positional", value, ...more });
const asked = { isRequired: true };

function container(runtimeArguments: object[], more: object = {}) {
  const image = { registryType: "oci", identifier: "acme/mcp:1", transport: { type: "stdio" }, runtimeArguments };
  const { server, problem } = publishedServer({
    name: "com.example/server",
    description: "A server",
    version: "1.0.0",
    packages: [{ ...image, ...more }],
  });
  if (!server) throw new Error(problem);
  return variantsOf(server);
}

test.each<[string, object[]]>([
  ["a relative path", [named("-v", "../../../..:/host")]],
  ["the working directory", [named("-v", ".:/host")]],
  ["a hidden folder", [named("-v", ".ssh:/host:ro")]],
  ["the home folder", [named("-v", "~:/host")]],
  ["a folder of the home folder", [named("--volume", "~/.ssh:/host")]],
  ["another user's home folder", [named("-v", "~root:/host")]],
  ["an absolute path", [named("-v", "/srv/data:/data")]],
  ["a path with a folder in the middle", [named("-v", "data/../..:/data")]],
  ["a drive of Windows", [named("-v", "C:\\Users:/data")]],
  ["a drive of Windows with slashes", [named("-v", "c:/Users:/data")]],
  ["a share of Windows", [named("-v", "\\\\host\\share:/data")]],
  ["a pipe of Windows", [named("-v", "\\\\.\\pipe\\docker_engine:/data")]],
  ["a value in the name of the option", [named("-v=../..:/host")]],
  ["a long option in one word", [positional("--volume=../..:/host")]],
  ["an option and its value as two words", [positional("-v"), positional("../..:/host")]],
  ["combined short options", [positional("-itv"), positional("../..:/host")]],
  ["a short option with its value attached", [positional("-v../..:/host")]],
  ["a mount with a relative source", [named("--mount", "type=bind,source=..,target=/host")]],
  ["a mount of the home folder", [named("--mount", "type=bind,src=~,dst=/host")]],
  ["a mount with the type last", [named("--mount", "src=../..,dst=/host,type=bind")]],
  ["a mount with two sources", [named("--mount", "type=bind,src=data,source=../..,dst=/host")]],
  ["a mount with a key in capitals", [named("--mount", "type=bind,Source=../..,dst=/host")]],
  ["a mount with a space before its key", [named("--mount", "type=bind, source=../..,dst=/host")]],
  ["a mount with quotes", [named("--mount", 'type=bind,"source=../..",dst=/host')]],
  ["a mount in one word", [named("--mount=type=bind,src=..,dst=/host")]],
  ["a mount of another type", [named("--mount", "type=npipe,src=x,dst=/host")]],
  ["a mount of an image", [named("--mount", "type=image,src=alpine,dst=/host")]],
  ["options of a volume", [named("--mount", "type=volume,dst=/x,volume-driver=local,volume-opt=device=/")]],
  [
    "another way to bind",
    [named("--mount", "type=bind,src={a},dst=/x,bind-propagation=rshared", { variables: { a: asked } })],
  ],
  ["a bind without a source", [named("--mount", "type=bind,dst=/host")]],
  ["a file with variables", [named("--env-file", ".env")]],
  ["a device", [named("--device", "/dev/sda")]],
  ["the volumes of another container", [named("--volumes-from", "db")]],
  ["the network of another container", [named("--network", "container:db")]],
  ["a path behind a value", [named("-v", "{a}/../..:/host", { variables: { a: asked } })]],
  ["a folder in front of a value", [named("-v", "../{a}:/host", { variables: { a: asked } })]],
  ["a folder out of two values", [named("-v", "{a}{b}:/host", { variables: { a: asked, b: asked } })]],
  ["a variable with a fixed value", [named("-v", "{a}:/host", { variables: { a: { value: "../../.." } } })]],
  [
    "two variables with fixed values",
    [named("-v", "{a}{b}:/host", { variables: { a: { value: "." }, b: { value: "../.." } } })],
  ],
  [
    "a target that is another source",
    [named("--mount", "type=bind,src={a},dst={b}", { variables: { a: asked, b: { default: "/x,source=/" } } })],
  ],
  [
    "a target to choose that is another source",
    [named("--mount", "type=bind,src={a},dst={b}", { variables: { a: asked, b: { choices: ["/x,source=/", "/y"] } } })],
  ],
  ["a type that is a value", [named("--mount", "type={t},src=x,dst=/x", { variables: { t: { default: "bind" } } })]],
  ["the whole disk as a default", [named("-v", "{a}:/host", { variables: { a: { default: "/" } } })]],
  [
    "the whole disk as a choice",
    [named("-v", "{a}:/host", { variables: { a: { isRequired: true, choices: ["/data", "/"] } } })],
  ],
  ["a whole mount as a default", [named("-v", undefined, { description: "Folders", default: "../..:/host" })]],
  ["a whole mount as a choice", [named("-v", undefined, { description: "Folders", choices: ["../..:/host"] })]],
])("%s is refused", (_, runtimeArguments) => {
  const { variants, refused } = container(runtimeArguments);
  expect([variants, refused.length]).toEqual([[], 1]);
});

const source = { folder: { description: "Folder", isRequired: true } };

test.each<[string, string, string, object]>([
  ["-v", "{folder}:/data:ro", "/home/me:/data:ro", source],
  [
    "--mount",
    "type=bind,src={folder},dst={at}",
    "type=bind,src=/home/me,dst=/project",
    { ...source, at: { default: "/project" } },
  ],
  ["-v", "{folder}:{folder}", "/home/me:/home/me", source],
])("a folder that the person types may be mounted by %s %s", (flag, value, made, variables) => {
  const { variants, refused } = container([named(flag, value, { isRequired: true, variables })]);
  expect(refused).toEqual([]);
  const entry = entryOf(
    variants[0] as Variant,
    new Map([
      ["folder", ["/home/me"]],
      ["at", ["/project"]],
    ]),
  );
  expect(entry["args"]).toEqual(["run", "-i", "--rm", flag, made, "acme/mcp:1"]);
});

test.each([
  ["-v", "cache:/cache"],
  ["-v", "/cache"],
  ["--mount", "type=volume,source=my_cache,target=/c,readonly"],
  ["--mount", "type=tmpfs,dst=/t"],
])("a volume may be mounted by %s %s", (flag, value) => {
  expect(container([named(flag, value)]).refused).toEqual([]);
});

test("a folder that a registry proposes for a mount is not taken, and no variable of the environment is", () => {
  const variables = { folder: { isRequired: true, default: "data", choices: ["data", ".."] } };
  const { variants } = container([named("-v", "{folder}:/data", { variables })]);
  expect(wantedOfVariant(variants[0] as Variant)).toMatchObject([
    { name: "folder", default: undefined, choices: undefined, format: "filepath", isTyped: true },
  ]);
});

test.each(["default", "choices"])("a variable of the same name cannot give a mount its %s", (key) => {
  const folder = { name: "folder", isRequired: true, [key]: key === "default" ? "/" : ["/"] };
  const argument = { type: "positional", valueHint: "folder", description: "Folder", [key]: folder[key] };
  for (const more of [{ environmentVariables: [folder] }, { packageArguments: [argument] }]) {
    const { variants, refused } = container([named("-v", "{folder}:/host", { variables: source })], more);
    const wanted = variants.flatMap((variant) => wantedOfVariant(variant)).filter(({ name }) => name === "folder");
    // The variable may be refused; if it is not, it is the value that the person types.
    expect([
      wanted.every((each) => each.isTyped && !each.default && !each.choices),
      wanted.length + refused.length,
    ]).toEqual([true, 1]);
  }
});

test.each(["/a:/etc", "/a,source=/", '/a"', "/a\nb", "", "${HOME}/../..", "${A:-/}"])(
  "%j cannot be typed as a folder, because Docker reads more in it",
  (text) => {
    const { variants } = container([named("-v", "{folder}:/data", { variables: source })]);
    expect(valueProblem(wantedOfVariant(variants[0] as Variant)[0]!, text)).toStartWith("must not");
  },
);
