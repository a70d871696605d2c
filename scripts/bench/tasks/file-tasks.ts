/** Tasks with files: reading and filtering, writing another server's results, changing one place. */
import { ask, read, type Task, well } from "./task.ts";
import { failedByRoute, notes } from "./world.ts";

const filteredLog: Task = {
  name: "filter a log of 1 MB",
  request: "How many requests failed with 500 in access.jsonl, by route?",
  answer: failedByRoute,
  async direct(agent) {
    const text = well(await ask(agent, "files", "read_text_file", { path: "access.jsonl" }));
    const counts: Record<string, number> = {};
    for (const line of text.trim().split("\n")) {
      const { status, route } = JSON.parse(line);
      if (status === 500) counts[route] = (counts[route] ?? 0) + 1;
    }
    return counts;
  },
  async code(agent) {
    if (!agent.shows("files.read_text_file")) await agent.search(["read a text file"]);
    const found = await agent.execute(`
const { content } = await files.read_text_file({ path: "access.jsonl" });
const lines = content.split("\\n").filter(Boolean);
const counts: Record<string, number> = {};
for (const line of lines) {
  const e = JSON.parse(line);
  const route = e.route ?? e.path ?? e.url;
  if (Number(e.status) === 500) counts[route] = (counts[route] ?? 0) + 1;
}
return { counts, sample: lines[0] };`);
    return (found as { counts: unknown }).counts;
  },
};

const copiedExport: Task = {
  name: "copy an export into a file",
  request: "Save the export of all orders as orders.csv, and tell me how many lines it has.",
  answer: 2_401,
  async direct(agent) {
    const content = well(await ask(agent, "demo", "export-orders", { format: "csv" }));
    well(await ask(agent, "files", "write_file", { path: "orders.csv", content }));
    return content.trim().split("\n").length;
  },
  async code(agent) {
    if (!agent.shows("demo.export_orders")) await agent.search(["export all orders as CSV"], "demo");
    return agent.execute(`
const csv = await servers.demo["export-orders"]({ format: "csv" });
await files.write_file({ path: "orders.csv", content: csv });
return csv.trim().split("\\n").length;`);
  },
};

const months = { from: "2025-01-01", to: "2025-12-31", group_by: "month" };
const countries = { ...months, group_by: "country" };
type ReportRow = { key: string; orders: number; revenue_cents: number };
const tableOf = (title: string, rows: ReportRow[]) =>
  [
    `## By ${title}`,
    "",
    `| ${title} | orders | EUR |`,
    "| --- | --- | --- |",
    ...rows.map(({ key, orders, revenue_cents }) => `| ${key} | ${orders} | ${(revenue_cents / 100).toFixed(2)} |`),
    "",
  ].join("\n");

const writtenReport: Task = {
  name: "write a report file",
  request:
    "Write sales-2025.md: a table of orders and revenue by month and one by country. How many characters does it have?",
  answer: 717,
  async direct(agent) {
    const [byMonth, byCountry] = (
      await agent.turn(["demo", "sales_report", months], ["demo", "sales_report", countries])
    ).map(read);
    const content = ["# Sales 2025", "", tableOf("month", byMonth.rows), tableOf("country", byCountry.rows)].join("\n");
    well(await ask(agent, "files", "write_file", { path: "sales-2025.md", content }));
    return content.length;
  },
  async code(agent) {
    if (!agent.shows("demo.sales_report", "files.write_file"))
      await agent.search(["sales report by month", "revenue by country", "write a file"]);
    return agent.execute(`
const period = { from: "2025-01-01", to: "2025-12-31" };
const [byMonth, byCountry] = await Promise.all([
  demo.sales_report({ ...period, group_by: "month" }),
  demo.sales_report({ ...period, group_by: "country" }),
]);
const table = (title: string, rows) =>
  [
    \`## By \${title}\`,
    "",
    \`| \${title} | orders | EUR |\`,
    "| --- | --- | --- |",
    ...rows.map((r) => \`| \${r.key} | \${r.orders} | \${(r.revenue_cents / 100).toFixed(2)} |\`),
    "",
  ].join("\\n");
const content = ["# Sales 2025", "", table("month", byMonth.rows), table("country", byCountry.rows)].join("\\n");
await files.write_file({ path: "sales-2025.md", content });
return content.length;`);
  },
};

const todos = notes.flatMap(({ text }) => text.split("\n").filter((line) => line.startsWith("TODO")));

const collectedTodos: Task = {
  name: "search 30 notes",
  request: "Which TODO lines stand in the files of notes?",
  answer: todos,
  async direct(agent) {
    const list = well(await ask(agent, "files", "list_directory", { path: "notes" }));
    const names = list.split("\n").map((line) => line.replace("[FILE] ", "").trim());
    const paths = names.filter(Boolean).map((name) => `notes/${name}`);
    const text = well(await ask(agent, "files", "read_multiple_files", { paths }));
    return text.split("\n").filter((line) => line.startsWith("TODO"));
  },
  async code(agent) {
    if (!agent.shows("files.list_directory", "files.read_text_file"))
      await agent.search(["list a folder", "read a text file"]);
    return agent.execute(`
const { content: list } = await files.list_directory({ path: "notes" });
const names = list.split("\\n").filter((l) => l.startsWith("[FILE]")).map((l) => l.slice(7).trim());
const texts = await Promise.all(names.map((name) => files.read_text_file({ path: \`notes/\${name}\` })));
return texts.flatMap((t) => t.content.split("\\n").filter((l) => l.startsWith("TODO")));`);
  },
};

const editedConfig: Task = {
  name: "change one line of a file",
  request: "Set retries to 5 in config.json.",
  answer: 5,
  async direct(agent) {
    const before = well(await ask(agent, "files", "read_text_file", { path: "config.json" }));
    const oldText = before.split("\n").find((line) => line.includes("retries")) ?? "";
    const edits = [{ oldText, newText: oldText.replace("3", "5") }];
    const diff = well(await ask(agent, "files", "edit_file", { path: "config.json", edits }));
    return Number(/^\+.*"retries": (\d+)/m.exec(diff)?.[1]);
  },
  async code(agent) {
    if (!agent.shows("files.read_text_file", "files.write_file"))
      await agent.search(["read a text file", "write a file"]);
    return agent.execute(`
const { content } = await files.read_text_file({ path: "config.json" });
const config = JSON.parse(content);
config.retries = 5;
await files.write_file({ path: "config.json", content: JSON.stringify(config, null, 2) + "\\n" });
return JSON.parse((await files.read_text_file({ path: "config.json" })).content).retries;`);
  },
};

export const fileTasks = [filteredLog, copiedExport, writtenReport, collectedTodos, editedConfig];
