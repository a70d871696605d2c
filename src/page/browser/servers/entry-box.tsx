/** The sandbox of an entry in a form. */

import type { PageEntry } from "../../servers-contract.ts";
import { ChoiceField, LinesField } from "../field.tsx";

/** `usual`: as the config says for all servers. */
type Mode = "usual" | "off" | "on" | "open";

export interface BoxForm {
  mode: Mode;
  /** Lines. */
  read: string;
  write: string;
  network: "none" | "all" | "hosts";
  hosts: string;
}

const modes: Record<Mode, string> = {
  usual: "as the config says for all servers",
  off: "no sandbox: all of your rights",
  on: "a sandbox with its own files, and no network",
  open: "a sandbox with more",
};

export function boxForm(sandbox: PageEntry["sandbox"]): BoxForm {
  const none = { read: "", write: "", network: "none", hosts: "" } as const;
  if (typeof sandbox !== "object") {
    return { mode: sandbox === undefined ? "usual" : sandbox ? "on" : "off", ...none };
  }
  const { read, write, network } = sandbox;
  return {
    mode: "open",
    read: read.join("\n"),
    write: write.join("\n"),
    network: Array.isArray(network) ? "hosts" : network ? "all" : "none",
    hosts: Array.isArray(network) ? network.join("\n") : "",
  };
}

const linesOf = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** The value of `sandbox`. Undefined if the entry has none. */
export function boxValue({ mode, read, write, network, hosts }: BoxForm) {
  if (mode === "usual") return undefined;
  if (mode !== "open") return mode === "on";
  const [readable, writable] = [linesOf(read), linesOf(write)];
  return {
    ...(readable.length > 0 ? { read: readable } : {}),
    ...(writable.length > 0 ? { write: writable } : {}),
    ...(network === "none" ? {} : { network: network === "all" ? true : linesOf(hosts) }),
  };
}

const networks = { none: "none", hosts: "only some hosts", all: "all of it" } as const;

export function BoxFields({ form, onChange }: { form: BoxForm; onChange(form: BoxForm): void }) {
  const lines = (key: "read" | "write" | "hosts", title: string) => (
    <LinesField
      name={title}
      about="one a line"
      value={form[key]}
      onInput={(text) => onChange({ ...form, [key]: text })}
    />
  );
  return (
    <fieldset class="entry-rows">
      <legend>Sandbox</legend>
      <select
        aria-label="Sandbox"
        value={form.mode}
        onChange={(event) => onChange({ ...form, mode: event.currentTarget.value as Mode })}
      >
        {Object.entries(modes).map(([mode, words]) => (
          <option key={mode} value={mode}>
            {words}
          </option>
        ))}
      </select>
      {form.mode === "open" && (
        <>
          {lines("read", "It may read")}
          {lines("write", "It may read and write")}
          <ChoiceField
            name="Network"
            value={form.network}
            choices={networks}
            onChoose={(network) => onChange({ ...form, network })}
          />
          {form.network === "hosts" && lines("hosts", "Hosts")}
        </>
      )}
    </fieldset>
  );
}
