/** Figures, and tables with numbers of tools. */

/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { ToolName } from "./text.tsx";

export function Figures({ children }: { children: ComponentChildren }) {
  return <dl class="figures">{children}</dl>;
}

export function Figure({ name, value, more }: { name: string; value: string; more: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <strong>{value}</strong>
        <span>{more}</span>
      </dd>
    </div>
  );
}

interface ToolTableProps {
  caption?: string;
  /** The titles of the columns of numbers. */
  columns: string[];
  rows: { server: string; tool: string; numbers: string[] }[];
}

export function ToolTable({ caption, columns, rows }: ToolTableProps) {
  return (
    <table>
      {caption !== undefined && <caption>{caption}</caption>}
      <thead>
        <tr>
          {["Tool", ...columns].map((title) => (
            <th scope="col" key={title}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ server, tool, numbers }) => (
          <tr key={JSON.stringify([server, tool])}>
            <th scope="row">
              <ToolName server={server} tool={tool} />
            </th>
            {columns.map((title, place) => (
              <td key={title}>{numbers[place]}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
