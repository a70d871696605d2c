/**
 * Reads `-v` and `--mount` of a published container. A registry never names a folder of this machine: a mount is a named or a new volume,
 * memory, or a folder that the user types. Only the simplest form of each option is accepted, so that Docker cannot interpret it in another
 * way.
 */
import { posix } from "node:path";
import { mountProblem, offersOf, RegistryRefusal, type Template, type Wanted } from "./templates.ts";

export const mountFlags: readonly string[] = ["-v", "--volume", "--mount"];

/** Returns the value of `-v` or `--volume`, `source:target:mode`, with the user's values marked. Throws RegistryRefusal. */
export function checkedVolume(value: Template): Template {
  const parts = withPlaces(value).split(":");
  // A single path is a new volume.
  const [source, target = "", modes] = parts.length === 1 ? [undefined, parts[0]] : parts;
  if (
    parts.length > 3 ||
    !isTarget(target) ||
    !(modes ?? "rw").split(",").every((mode) => volumeModes.includes(mode))
  ) {
    throw unknownForm();
  }
  return checkedValues(value, source);
}

const volumeModes = ["ro", "rw", "z", "Z", "cached", "delegated", "consistent", "nocopy"];

/** Returns the value of `--mount`, `type=bind,source=…,target=…`, with the user's values marked. Throws RegistryRefusal. */
export function checkedMount(value: Template): Template {
  const fields = new Map<string, string>();
  for (const part of withPlaces(value).split(",")) {
    const [name = "", ...rest] = part.split("=");
    const key = Object.hasOwn(mountKeys, name) ? mountKeys[name] : undefined;
    // Docker reads quotes, ignores case, and takes the last of several equal keys.
    if (key === undefined || fields.has(key) || rest.length > 1 || part.includes('"')) throw unknownForm();
    fields.set(key, rest[0] ?? "true");
  }
  const { type = "volume", source, target = "", readonly = "true" } = Object.fromEntries(fields);
  const isKnown = ["bind", "volume", "tmpfs"].includes(type) && ["true", "false"].includes(readonly);
  if (!isKnown || !isTarget(target) || (type === "tmpfs" && source !== undefined)) throw unknownForm();
  if (type === "bind" && source === undefined) throw unknownForm();
  return checkedValues(value, source);
}

/** The keys of `--mount` and their short forms. Others, such as `volume-opt`, can mount any folder indirectly. */
const mountKeys: Readonly<Record<string, string>> = {
  type: "type",
  source: "source",
  src: "source",
  target: "target",
  destination: "target",
  dst: "target",
  readonly: "readonly",
  ro: "readonly",
};

function unknownForm(): RegistryRefusal {
  return new RegistryRefusal("it mounts a folder into its container in a form that is not known");
}

/** The text with a mark for each of the user's values. Texts of a registry cannot contain the mark. */
function withPlaces(value: Template): string {
  return value.map((part, at) => (typeof part === "string" ? part : `\0${at}\0`)).join("");
}

function isTarget(target: string): boolean {
  return /^[/\0][^"\\]*$/.test(target);
}

/** At least two characters, so that no drive of Windows is one. */
const volumeName = /^[A-Za-z0-9][A-Za-z0-9_.-]+$/;

/** The source is a volume, or one value of the user. Throws RegistryRefusal. */
function checkedValues(value: Template, source: string | undefined): Template {
  const [, place] = /^\0(\d+)\0$/.exec(source ?? "") ?? [];
  if (source !== undefined && place === undefined && !volumeName.test(source)) throw givesFolder(shownSource(source));
  return value.map((part, at) => {
    if (typeof part === "string") return part;
    if (place !== undefined && at === Number(place)) return sourceOf(part);
    for (const offer of offersOf(part)) if (mountProblem(offer) !== undefined) throw unknownForm();
    return { ...part, isInMount: true };
  });
}

/** The user types the source. A registry's default is never used, and a folder of the system is not even shown as an example. */
function sourceOf(wanted: Wanted): Wanted {
  for (const offer of offersOf(wanted)) if (isOfSystem(offer)) throw givesFolder(plainPath(offer));
  return {
    ...wanted,
    default: undefined,
    choices: undefined,
    isVariable: false,
    format: "filepath",
    isTyped: true,
    isInMount: true,
  };
}

function shownSource(source: string): string {
  const text = source.replaceAll(/\0\d+\0/g, "…");
  return text.startsWith("/") ? plainPath(text) : text;
}

const plainPath = (path: string) => posix.normalize(path).replace(/(?<=.)\/+$/, "");

function givesFolder(path: string): RegistryRefusal {
  return new RegistryRefusal(`it gives its container ${path} of this machine`);
}

/** Whether a path is the whole disk, a folder of the system, or a socket that controls containers. */
export function isOfSystem(path: string): boolean {
  const plain = plainPath(path);
  const isSystem = /^\/(?:proc|sys|dev|etc|root|boot|run|var|var\/run)(?:\/|$)/.test(plain);
  return (
    plain === "/" || (isSystem && !plain.startsWith("/var/lib/")) || /(?:docker|containerd|podman)\.sock/.test(plain)
  );
}
