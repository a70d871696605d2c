/** The form for a new server. The server is tried first, and is added only if it can be started. */
import { useEffect, useRef, useState } from "preact/hooks";
import { counted } from "../../../base/counted.ts";
import type { PageAdded, PageCatalogServer } from "../../servers-contract.ts";
import { get, post } from "../client.ts";
import { Field } from "../field.tsx";
import { useAction, useNotices } from "../notice.tsx";
import { Panel } from "../panel.tsx";
import { Problem, type Reason } from "../problem.tsx";
import { Text } from "../text.tsx";

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
const valueTitles: Partial<Record<Kind, [title: string, example: string]>> = {
  address: ["Headers", "Authorization: Bearer ${DOCS_TOKEN}"],
  command: ["Variables", "API_KEY=${API_KEY}"],
};

export function AddServer({ onAdded }: { onAdded(name: string): void }) {
  const notices = useNotices();
  const { isRunning, run } = useAction();
  const heading = useRef<HTMLHeadingElement>(null);
  const [kind, setKind] = useState<Kind>("catalog");
  const [name, setName] = useState("");
  const [what, setWhat] = useState("");
  const [auth, setAuth] = useState("");
  const [lines, setLines] = useState("");
  const [variables, setVariables] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState<Reason>();
  const [catalog, setCatalog] = useState<PageCatalogServer[]>([]);
  useEffect(() => {
    heading.current?.focus();
    get<PageCatalogServer[]>("servers/catalog").then(setCatalog, setProblem);
  }, []);
  const found = kind === "catalog" ? catalog.find((each) => each.name === what.trim().toLowerCase()) : undefined;
  const isNamed = kind !== "catalog" && kind !== "entry";
  const add = () =>
    run(async () => {
      setProblem(undefined);
      const typed = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ""));
      const values = kind === "catalog" ? typed : pairsIn(lines, kind);
      const given = {
        kind,
        what: what.trim(),
        values,
        ...(name === "" ? {} : { name }),
        ...(auth === "" ? {} : { auth }),
      };
      try {
        const { added, movedTo } = await post<PageAdded>("servers/add", given);
        if (movedTo !== undefined) {
          location.assign(movedTo);
          return;
        }
        notices.say(added.map(addedText).join(" "), added.flatMap(({ notes }) => notes).join(" ") || undefined);
        onAdded(added[0]?.server ?? name);
      } catch (error) {
        setProblem(error as Reason);
      }
    });
  const { title: _, what: title, example, help } = kinds[kind];
  const [valuesTitle, valuesExample] = valueTitles[kind] ?? [];
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
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        {kind === "entry" ? (
          <label class="field">
            <span>{title}</span>
            <textarea
              rows={7}
              spellcheck={false}
              placeholder={example}
              value={what}
              onInput={(event) => setWhat(event.currentTarget.value)}
            />
          </label>
        ) : (
          <Field name={title} value={what} example={example} onInput={setWhat} />
        )}
        {kind === "catalog" && <Catalog catalog={catalog} what={what} onChoose={setWhat} />}
        {found?.variables.map((variable) => (
          <Field
            key={variable.name}
            name={variable.name}
            about={variable.required ? "required" : "optional"}
            help={variable.what}
            example={`\${${variable.name}}`}
            value={variables[variable.name] ?? ""}
            onInput={(value) => setVariables({ ...variables, [variable.name]: value })}
          />
        ))}
        <Field
          name="Name"
          about={isNamed ? "for the config and for code" : "if it is to be another one"}
          example="docs"
          value={name}
          onInput={setName}
        />
        {valuesTitle !== undefined && (
          <label class="field">
            <span>
              {valuesTitle} <span class="about">one a line, optional</span>
            </span>
            <textarea
              rows={2}
              spellcheck={false}
              placeholder={valuesExample ?? ""}
              value={lines}
              onInput={(event) => setLines(event.currentTarget.value)}
            />
          </label>
        )}
        {credentials.includes(kind) && (
          <Field name="Credential" about="optional" example="${API_KEY}" value={auth} onInput={setAuth} />
        )}
        <p class="about">
          Write keys as <code>{"${NAME}"}</code>, which refers to your environment, or as{" "}
          <code>{"${secret:NAME}"}</code> after <code>claudikins secrets set NAME</code>.
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
      </form>
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
            <strong>
              <Text>{title}</Text>
            </strong>
            <span class="about">
              <Text>{description}</Text>
            </span>
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

/** Lines as `NAME=value`, or as headers. */
function pairsIn(lines: string, kind: Kind): Record<string, string> {
  const sign = kind === "address" ? ":" : "=";
  const pairs = lines
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const at = line.indexOf(sign);
      if (at < 1) throw new Error(`Each line needs a name and a "${sign}": ${line}`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()] as const;
    });
  return Object.fromEntries(pairs);
}

function addedText({ server, tools, needs, signIn }: PageAdded["added"][number]): string {
  if (needs !== undefined) return `Added ${server}. It needs ${needs.join(", ")}.`;
  if (signIn) return `Added ${server}. It needs a sign-in.`;
  return `Added ${server}: ${counted(tools ?? 0, "tool")}.`;
}
