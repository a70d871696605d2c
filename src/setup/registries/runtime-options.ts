/**
 * The options that a published server may give to the program that starts it (npx, uvx, docker or dnx). All others are refused. Many of
 * them start a package other than the one that is shown, or give a container administrator rights on this machine.
 */
import { checkedMount, checkedVolume } from "./mounts.ts";
import { offersOf, RegistryRefusal, type Template, wantedIn } from "./templates.ts";
import { checkSets } from "./variable-names.ts";

export type Runtime = "npx" | "uvx" | "docker" | "dnx";

/**
 * Whether an option takes a value. `given` options are left out, because claudikins gives them itself. A function returns the value as it
 * is passed on, or throws Refused.
 */
type Takes = "nothing" | "value" | "given" | ((value: Template, own: Own) => Template);

/** Checks each text that the value can have with the registry's proposals. Values that the user types are not checked here. */
function checking(check: (text: string, own: Own) => void): Takes {
  return (value, own) => {
    for (const text of proposed(value)) check(text, own);
    return value;
  };
}

/** The texts that the template can have with the registry's proposals, one proposal at a time. */
function proposed(value: Template): string[] {
  const text = (chosen?: number, offer = "x") =>
    value.map((part, at) => (typeof part === "string" ? part : at === chosen ? offer : (part.default ?? "x"))).join("");
  const others = value.flatMap((part, at) =>
    typeof part === "string" ? [] : offersOf(part).map((each) => text(at, each)),
  );
  return [text(), ...others];
}

/** The package that is started. */
interface Own {
  identifier: string;
  version: string | undefined;
}

/** An option for a package may only name the package itself, perhaps with extras. The next word then names the program in the package. */
const itself = checking((value, { identifier, version }) => {
  const [, name, extras = "", , exact] = /^(@?[^@=[\]]+)(\[[\w,-]+\])?(?:(@|==)(.+))?$/.exec(value) ?? [];
  const isOwn = name === identifier.replace(/\[.*$/, "") && extras.length < 200;
  if (!isOwn || (exact !== undefined && exact !== version)) {
    throw new RegistryRefusal("its options start another package than the one that it names");
  }
});

const pythonPackage = checking((value) => {
  if (!/^[A-Za-z0-9][\w.-]*(?:\[[\w,-]+\])?(?:(?:==|>=|<=|~=|<|>)[\w.!+*]+)?$/.test(value)) {
    throw new RegistryRefusal("its options start a package from an address or a folder");
  }
});

const pythonVersion = checking((value) => {
  if (!/^(?:python|cpython|pypy)?@?\d*(?:\.\d+)*$/i.test(value))
    throw new RegistryRefusal("it chooses a Python by its path");
});

/** The container's own network, or this machine's network, which gets a warning. */
const network = checking((value) => {
  if (!/^[A-Za-z0-9][\w.-]*$/.test(value)) throw new RegistryRefusal("it uses the network of another container");
});

/** `NAME` passes a variable on, and `NAME=value` sets it. The name is fixed, so that it can be checked. */
function variable(value: Template): Template {
  const [first = ""] = value;
  const [, name, sign] = (typeof first === "string" ? /^([A-Za-z_]\w*)(=|$)/.exec(first) : null) ?? [];
  const isProposed = wantedIn(value).some((each) => offersOf(each).length > 0);
  if (name === undefined || (sign === "" && value.length > 1)) {
    // The user types the whole value.
    if (value.length === 1 && typeof first !== "string" && !isProposed) return value;
    throw new RegistryRefusal("it names a variable of the container in a form that is not known");
  }
  const isTyped = value.length === 2 && first === `${name}=` && !isProposed;
  if (sign === "=" && !isTyped) checkSets(name);
  return value;
}

function oneOf(...allowed: string[]): Takes {
  return checking((value) => {
    if (allowed.includes(value)) return;
    throw new RegistryRefusal(`it passes "${value}" to an option where only ${allowed.join(" or ")} is accepted`);
  });
}

const options: Record<Runtime, Readonly<Record<string, Takes>>> = {
  npx: {
    "-y": "given",
    "--yes": "given",
    "-q": "nothing",
    "--quiet": "nothing",
    "--silent": "nothing",
    "--prefer-offline": "nothing",
    "--prefer-online": "nothing",
    "--package": itself,
  },
  uvx: {
    "-q": "nothing",
    "--quiet": "nothing",
    "--no-progress": "nothing",
    "--isolated": "nothing",
    "-n": "nothing",
    "--no-cache": "nothing",
    "--native-tls": "nothing",
    "--from": itself,
    "-p": pythonVersion,
    "--python": pythonVersion,
    "-w": pythonPackage,
    "--with": pythonPackage,
    "--prerelease": oneOf("allow", "disallow", "if-necessary", "explicit", "if-necessary-or-explicit"),
  },
  docker: {
    "-i": "given",
    "--interactive": "given",
    "--rm": "given",
    // A terminal would change line ends.
    "-t": "given",
    "--tty": "given",
    "-it": "given",
    "-ti": "given",
    "--init": "nothing",
    "--read-only": "nothing",
    "-e": variable,
    "--env": variable,
    "-v": checkedVolume,
    "--volume": checkedVolume,
    "--mount": checkedMount,
    "--tmpfs": "value",
    "--network": network,
    "--net": network,
    "--add-host": "value",
    "-p": "value",
    "--publish": "value",
    "-u": "value",
    "--user": "value",
    "-w": "value",
    "--workdir": "value",
    "--entrypoint": "value",
    "--name": "value",
    "--hostname": "value",
    "-l": "value",
    "--label": "value",
    "--platform": "value",
    "--pull": oneOf("always", "missing", "never"),
    "-m": "value",
    "--memory": "value",
    "--cpus": "value",
    "--pids-limit": "value",
    "--shm-size": "value",
    "--gpus": "value",
    "--cap-drop": "value",
    "--security-opt": oneOf("no-new-privileges", "no-new-privileges:true", "no-new-privileges=true"),
  },
  dnx: { "-y": "given", "--yes": "given", "--prerelease": "nothing" },
};

/** One word of a command line, or a word with the value after it. */
export interface RuntimeOption {
  /** The fixed word in front of the value. */
  flag?: string | undefined;
  value?: Template | undefined;
  /** The user's value, which is asked for if the option needs a value and no word follows. */
  asked?: Template | undefined;
}

/** Returns the options that may be passed on, without the ones that claudikins gives itself. Throws RegistryRefusal. */
export function checkedOptions(given: readonly RuntimeOption[], runtime: Runtime, own: Own): RuntimeOption[] {
  const checked: RuntimeOption[] = [];
  for (let at = 0; at < given.length; at++) {
    const { flag = "", value, asked } = asFlag(given[at]!);
    const program = flag === "" && checked.some(isSource) ? fixedText(value) : undefined;
    if (program !== undefined && /^[A-Za-z0-9][\w.-]*$/.test(program)) {
      checked.push({ value: [program] });
      continue;
    }
    const [name, inline] = split(flag);
    const takes = Object.hasOwn(options[runtime], name) ? options[runtime][name] : undefined;
    const next = given[at + 1];
    // Some publishers write an option and its value as two words.
    const isLacking = takes !== undefined && !isBare(takes) && inline === undefined && value === undefined;
    const isTaken = isLacking && next !== undefined && next.flag === undefined;
    const option = checkedOption({ flag, value: isTaken ? next.value : isLacking ? asked : value }, runtime, own);
    if (isTaken) at += 1;
    if (option) checked.push(option);
  }
  return checked;
}

/** Whether the option names the package. The program in the package must then be named too. */
export function isSource({ flag }: RuntimeOption): boolean {
  return flag === "--from" || flag === "--package";
}

const isBare = (takes: Takes) => takes === "nothing" || takes === "given";

/** Some publishers write options as words without a name. */
function asFlag(option: RuntimeOption): RuntimeOption {
  const text = option.flag === undefined ? fixedText(option.value) : undefined;
  return text?.startsWith("-") ? { flag: text } : option;
}

function checkedOption({ flag, value }: RuntimeOption, runtime: Runtime, own: Own): RuntimeOption | undefined {
  const text = fixedText(value);
  if (flag === "") return checkedWord(text, runtime);
  const [name, inline] = split(flag ?? "");
  const takes = Object.hasOwn(options[runtime], name) ? options[runtime][name] : undefined;
  if (takes === undefined) throw refused(name, runtime);
  if (isBare(takes)) {
    const isOn = inline ?? (value === undefined ? "" : text);
    if (isOn === undefined || !["", "true", "false"].includes(isOn)) throw refused(`${name} with a value`, runtime);
    return takes === "given" || isOn === "false" ? undefined : { flag: name };
  }
  const whole: Template | undefined = inline === undefined ? value : [inline];
  if (whole === undefined || (inline !== undefined && value !== undefined)) {
    throw refused(`${name} without a value`, runtime);
  }
  return { flag: name, value: typeof takes === "function" ? takes(whole, own) : whole };
}

/** Checks a word that is not an option. Such a word must name the package that is started. */
function checkedWord(text: string | undefined, runtime: Runtime): undefined {
  if (runtime === "docker" && text === "run") return undefined;
  throw refused(text === undefined ? "a word that you choose" : JSON.stringify(text), runtime);
}

/** The text of a value; undefined if there is none, or if a person chooses a part of it. */
function fixedText(value: Template | undefined): string | undefined {
  return value?.every((part) => typeof part === "string") ? value.join("") : undefined;
}

function split(flag: string): [string, string | undefined] {
  const at = flag.startsWith("-") ? flag.indexOf("=") : -1;
  return at === -1 ? [flag, undefined] : [flag.slice(0, at), flag.slice(at + 1)];
}

function refused(what: string, runtime: Runtime): RegistryRefusal {
  return new RegistryRefusal(`it passes ${what} to ${runtime}, which claudikins does not let a registry do`);
}
