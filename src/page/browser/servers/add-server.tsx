/** The form for a new server. The server is tried first, and is added only if it can be started. */
import { useEffect, useRef, useState } from "preact/hooks";
import { counted } from "../../../base/counted.ts";
import type { PageAdded, PageCatalogServer } from "../../servers-contract.ts";
import type { PageSecrets } from "../../system-contract.ts";
import { get, post } from "../client.ts";
import { CheckField, Field, LinesField, SubmitForm } from "../field.tsx";
import { Problem, type Reason, useAction, useNotices } from "../notice.tsx";
import { Panel } from "../panel.tsx";
import { Text } from "../text.tsx";
import {
  credentialRow,
  emptyRow,
  type NamedRow,
  NamedRows,
  namedChanges,
  SecretField,
  secretNames,
  unnamedChange,
} from "./entry-values.tsx";

const kinds = {
  catalog: {
    title: "Catalog",
    what: "Server",
    example: "github",
    help: "A well-known server. claudikins knows how it is started.",
  },
  address: {
    title: "Address",
    what: "Address",
    example: "https://mcp.example.com/mcp",
    help: "An MCP server on the network.",
  },
  command: {
    title: "Command",
    what: "Command",
    example: "npx -y @modelcontextprotocol/server-filesystem .",
    help: "A program on this machine. It runs with all of your rights.",
  },
  openapi: {
    title: "OpenAPI",
    what: "Document",
    example: "https://api.example.com/openapi.json",
    help: "A web API. The address or the path of its OpenAPI document.",
  },
  graphql: {
    title: "GraphQL",
    what: "Endpoint",
    example: "https://api.example.com/graphql",
    help: "A web API with a GraphQL endpoint.",
  },
  entry: {
    title: "Entry",
    what: "Entry",
    example: '{ "docs": { "url": "https://mcp.example.com/mcp" } }',
    help: "An entry from the settings of any agent, as JSON or TOML.",
  },
} as const;
type Kind = keyof typeof kinds;

/** The kinds that take a credential, and the ones that take variables or headers. */
const credentials: readonly Kind[] = ["openapi", "graphql"];
const rowTitles: Partial<Record<Kind, "Headers" | "Variables">> = { address: "Headers", command: "Variables" };

/** `scheme=credential`, for one security scheme of an OpenAPI document. Equals signs at the end belong to a credential. */
const ofScheme = /^([\w.-]+=)(?!=*$)(.+)$/s;

export function AddServer({ onAdded }: { onAdded(name: string): void }) {
  const notices = useNotices();
  const { isRunning, run } = useAction();
  const heading = useRef<HTMLHeadingElement>(null);
  const [kind, setKind] = useState<Kind>("catalog");
  const [name, setName] = useState("");
  const [what, setWhat] = useState("");
  const [credential, setCredential] = useState(() => credentialRow("", { value: "", isSecret: true }));
  const [rows, setRows] = useState<Partial<Record<Kind, NamedRow[]>>>({});
  const [variables, setVariables] = useState<Record<string, NamedRow>>({});
  const [secrets, setSecrets] = useState<string[]>([]);
  const [keysAsSecrets, setKeysAsSecrets] = useState(true);
  const [problem, setProblem] = useState<Reason>();
  const [catalog, setCatalog] = useState<PageCatalogServer[]>([]);
  useEffect(() => {
    heading.current?.focus();
    get<PageCatalogServer[]>("servers/catalog").then(setCatalog, setProblem);
    get<PageSecrets>("secrets").then(
      (found) => setSecrets(found.secrets.flatMap((each) => (each.place === null ? [] : each.name))),
      setProblem,
    );
  }, []);
  const found = kind === "catalog" ? catalog.find((each) => each.name === what.trim().toLowerCase()) : undefined;
  const isNamed = kind !== "catalog" && kind !== "entry";
  const around = { server: name.trim() || found?.name || "", secrets };
  const variableRow = (variable: string) => variables[variable] ?? emptyRow(variable);
  /** The values as the entry gets them, and the secrets that it refers to. */
  const typedValues = () => {
    const taken = new Set(secrets);
    const typed = found?.variables.map((each) => variableRow(each.name)) ?? rows[kind] ?? [];
    const named = namedChanges("env", typed, secretNames(typed, around.server, taken));
    const values = Object.fromEntries(named.changes.map(({ at: [, key = ""], value }) => [key, value]));
    if (!credentials.includes(kind)) return { values, secrets: named.secrets };
    const { value } = credential;
    const [, scheme = "", bare = value] = (kind === "openapi" && ofScheme.exec(value)) || [];
    const own = unnamedChange(credentialRow(name.trim(), { ...credential, value: bare }), around.server, taken);
    return { values, ...(value === "" ? {} : { auth: scheme + own.value }), secrets: own.secrets };
  };
  const add = () =>
    run(async () => {
      setProblem(undefined);
      const own = { ...(name === "" ? {} : { name }), ...(kind === "entry" ? { keysAsSecrets } : {}) };
      const given = { kind, what: what.trim(), ...own, ...typedValues() };
      try {
        const { added, movedTo } = await post<PageAdded>("servers/add", given);
        if (movedTo !== undefined) {
          location.assign(movedTo);
          return;
        }
        notices.changed(added.map(addedText).join(" "), added.flatMap(({ notes }) => notes).join(" ") || undefined);
        onAdded(added[0]?.server ?? name);
      } catch (error) {
        setProblem(error as Reason);
      }
    });
  const { title: _, what: title, example, help } = kinds[kind];
  const rowTitle = rowTitles[kind];
  return (
    <Panel id="server" title="Add a server" heading={heading}>
      <div class="kinds" role="radiogroup" aria-label="What the server is">
        {(Object.keys(kinds) as Kind[]).map((each) => (
          <label key={each} class={each === kind ? "kind is-chosen" : "kind"}>
            <input
              type="radio"
              name="kind"
              checked={each === kind}
              onChange={() => {
                setKind(each);
                setProblem(undefined);
              }}
            />
            {kinds[each].title}
          </label>
        ))}
      </div>
      <p class="about">{help}</p>
      <SubmitForm class="form" onSubmit={add}>
        {kind === "entry" ? (
          <LinesField name={title} rows={7} example={example} value={what} onInput={setWhat} />
        ) : (
          <Field name={title} value={what} example={example} onInput={setWhat} />
        )}
        {kind === "catalog" && <Catalog catalog={catalog} what={what} onChoose={setWhat} />}
        {found?.variables.map(({ name: variable, required, what: about }) => (
          <SecretField
            key={variable}
            title={variable}
            about={required ? "required" : "optional"}
            help={about}
            example={`\${${variable}}`}
            row={variableRow(variable)}
            around={around}
            onChange={(row) => setVariables({ ...variables, [variable]: row })}
          />
        ))}
        <Field
          name="Name"
          about={isNamed ? "for the config and for code" : "(optional)"}
          example="docs"
          value={name}
          onInput={setName}
        />
        {rowTitle !== undefined && (
          <NamedRows
            title={rowTitle}
            rows={rows[kind] ?? []}
            around={around}
            onChange={(changed) => setRows({ ...rows, [kind]: changed })}
          />
        )}
        {credentials.includes(kind) && (
          <SecretField
            title="Credential"
            about="optional"
            row={credentialRow(name.trim(), credential)}
            around={around}
            onChange={setCredential}
          />
        )}
        <p class="about">
          {kind === "entry" ? (
            <>
              <CheckField isChecked={keysAsSecrets} onChange={setKeysAsSecrets}>
                Keep keys as secrets
              </CheckField>
              Values that look like keys are not written into the config. It refers to them. References such as{" "}
              <code>{"${NAME}"}</code> and <code>{"${secret:NAME}"}</code> stay.
            </>
          ) : (
            <>
              A key that you type is kept as a secret, and not in the config. Or write <code>{"${NAME}"}</code>, which
              refers to your environment, or <code>{"${secret:NAME}"}</code> for a secret that is set.
            </>
          )}
        </p>
        {problem && <Problem reason={problem} />}
        <div class="actions">
          <button
            type="submit"
            class="primary"
            disabled={isRunning || what.trim() === "" || (isNamed && name.trim() === "")}
          >
            {isRunning ? "Trying it …" : "Try it and add it"}
          </button>
        </div>
      </SubmitForm>
    </Panel>
  );
}

/** Servers of the catalog that fit what was typed. */
function Catalog({
  catalog,
  what,
  onChoose,
}: {
  catalog: PageCatalogServer[];
  what: string;
  onChoose(name: string): void;
}) {
  const wanted = what.trim().toLowerCase();
  const isExact = catalog.some(({ name }) => name === wanted);
  const text = ({ name, title, description }: PageCatalogServer) => `${name} ${title} ${description}`.toLowerCase();
  const fitting = catalog.filter((each) => text(each).includes(wanted));
  if (isExact || catalog.length === 0) return null;
  return (
    <ul class="choices" aria-label="Servers of the catalog">
      {fitting.slice(0, 8).map(({ name, title, description }) => (
        <li key={name}>
          <button type="button" onClick={() => onChoose(name)}>
            <Text in="strong">{title}</Text>
            <Text in="span" class="about">
              {description}
            </Text>
          </button>
        </li>
      ))}
      {fitting.length > 8 && (
        <li class="about">{counted(fitting.length - 8, "more server")}: type a part of the name</li>
      )}
      {fitting.length === 0 && <li class="about">The catalog has no such server.</li>}
    </ul>
  );
}

function addedText({ server, tools, needs, signIn }: PageAdded["added"][number]): string {
  if (needs !== undefined) return `Added ${server}. It needs ${needs.join(", ")}.`;
  if (signIn) return `Added ${server}. It needs a sign-in.`;
  return `Added ${server}: ${counted(tools ?? 0, "tool")}.`;
}
