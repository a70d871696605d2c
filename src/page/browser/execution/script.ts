/** The behaviour of the page of an execution: choosing a call, showing its details, and switching the colours. */
import { placeAfter } from "../list-keys.ts";

const rows = [...document.querySelectorAll<HTMLElement>(".call")];
const list = document.getElementById("calls");
const details = document.getElementById("details");
const selected = document.getElementById("selected");
const nothing = [...(selected?.childNodes ?? [])];

/** The row that stays shown, whatever is pointed at. */
let chosen = -1;

function show(row: number): void {
  const said = contentOf(`d${row}`);
  details?.classList.toggle("open", said !== undefined && row === chosen);
  selected?.replaceChildren(...(said ? [said] : nothing));
  if (said && !selected?.querySelector("pre")) selected?.append(contentOf("unrecorded") ?? "");
}

/** A copy of a template's content. */
function contentOf(id: string): Node | undefined {
  const template = document.getElementById(id) as HTMLTemplateElement | null;
  return template?.content.cloneNode(true);
}

function mark(): void {
  for (const [place, row] of rows.entries()) {
    if (place === chosen) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
}

/** Only one row is a Tab stop. Other keys lead to the other rows. */
function reach(row: number): void {
  for (const [place, each] of rows.entries()) each.tabIndex = place === row ? 0 : -1;
}

function choose(row: number): void {
  const button = rows[row];
  if (!button) return;
  chosen = row;
  reach(row);
  mark();
  markLine(button.dataset["line"]);
  show(row);
  button.focus();
}

function forget(): void {
  const last = chosen;
  chosen = -1;
  mark();
  markLine("");
  show(-1);
  rows[last]?.focus();
}

/** Marks a line and its calls. */
function markLine(line = ""): void {
  for (const row of rows) row.classList.toggle("same", line !== "" && row.dataset["line"] === line);
  for (const each of document.querySelectorAll(".code .now")) each.classList.remove("now");
  if (line !== "") document.querySelector(`.code #L${CSS.escape(line)}`)?.classList.add("now");
}

function rowOf({ target }: Event): number {
  const row = (target as Element).closest<HTMLElement>(".call")?.dataset["row"];
  return row === undefined ? -1 : Number(row);
}

list?.addEventListener("click", (event) => {
  const row = rowOf(event);
  if (row === -1) return;
  if (row === chosen) forget();
  else choose(row);
});
list?.addEventListener("pointerover", (event) => {
  if (event.pointerType === "mouse" && rowOf(event) !== -1) show(rowOf(event));
});
list?.addEventListener("pointerleave", () => show(chosen));
list?.addEventListener("keydown", (event) => {
  const to = placeAfter(event, rowOf(event), rows.length);
  if (to === undefined) return;
  event.preventDefault();
  choose(to);
});
document.addEventListener("keydown", ({ key }) => {
  if (key === "Escape" && chosen !== -1) forget();
});
details?.querySelector(".close")?.addEventListener("click", forget);

for (const link of document.querySelectorAll<HTMLElement>(".mark")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const row = rows.findIndex((each) => each.dataset["line"] === link.dataset["line"]);
    choose(row);
    rows[row]?.scrollIntoView({ block: "center" });
  });
}
reach(0);

const theme = document.getElementById("theme") as HTMLButtonElement;
const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset["theme"] ?? (dark.matches ? "dark" : "light")) === "dark";
const nameTheme = () => {
  theme.textContent = isDark() ? "Light" : "Dark";
  theme.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
};
theme.hidden = false;
theme.addEventListener("click", () => {
  root.dataset["theme"] = isDark() ? "light" : "dark";
  nameTheme();
});
dark.addEventListener("change", nameTheme);
nameTheme();
