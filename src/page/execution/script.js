// The behaviour of the page: which call is chosen, what is shown of it, and the theme.
const calls = JSON.parse(document.getElementById("data").textContent);
const rows = [...document.querySelectorAll(".call")];
const details = document.getElementById("details");
const list = document.getElementById("calls");
const nothing = details?.firstElementChild;

/** The row that stays shown, whatever is pointed at. */
let chosen = -1;

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function show(row) {
  const call = calls[row];
  details.classList.toggle("open", call !== undefined && row === chosen);
  if (!call) return details.replaceChildren(nothing);
  const facts = element("dl");
  for (const [name, value] of call.facts) {
    const shown = element("dd", value);
    if (name === "Line" && document.getElementById(`L${value}`)) {
      const link = element("a", value);
      link.href = `#L${value}`;
      shown.replaceChildren(link);
    }
    facts.append(element("dt", name), shown);
  }
  const close = element("button", "Close", "close");
  close.type = "button";
  close.addEventListener("click", () => forget());
  const texts = call.texts.flatMap(({ title, text, isWhole }) => {
    const shown = element("pre", text);
    shown.tabIndex = 0;
    return [element("h4", isWhole ? title : `${title} (beginning)`), shown];
  });
  if (texts.length === 0) texts.push(element("p", "Contents were not recorded. To record them, use --record.", "note"));
  details.replaceChildren(
    close,
    element("h3", call.name),
    element("p", call.outcome, `badge ${call.outcome}`),
    facts,
    ...texts,
  );
}

function mark() {
  for (const [place, row] of rows.entries()) {
    if (place === chosen) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
}

/** Only one row is in the order of Tab: arrows lead to the others. */
function reach(row) {
  for (const [place, each] of rows.entries()) each.tabIndex = place === row ? 0 : -1;
}

function choose(row, { focus = true } = {}) {
  if (!rows[row]) return;
  chosen = row;
  reach(row);
  mark();
  markLine(rows[row].dataset.line);
  show(row);
  if (focus) rows[row].focus();
}

function forget() {
  const last = chosen;
  chosen = -1;
  mark();
  markLine("");
  show(-1);
  rows[last]?.focus();
}

/** The calls of a line, and the line. */
function markLine(line) {
  for (const row of rows) row.classList.toggle("same", line !== "" && row.dataset.line === line);
  for (const each of document.querySelectorAll(".code .now")) each.classList.remove("now");
  if (line !== "") document.querySelector(`.code #L${CSS.escape(line)}`)?.classList.add("now");
}

const rowOf = (event) => {
  const row = event.target.closest?.(".call")?.dataset.row;
  return row === undefined ? -1 : Number(row);
};

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

const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };

list?.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const row = rowOf(event);
  const last = rows.length - 1;
  let to;
  if (event.key in steps) to = Math.min(last, Math.max(0, row + steps[event.key]));
  else if (event.key === "Home") to = 0;
  else if (event.key === "End") to = last;
  else return;
  event.preventDefault();
  choose(to);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && chosen !== -1) forget();
});

for (const link of document.querySelectorAll(".mark")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const row = rows.findIndex((each) => each.dataset.line === link.dataset.line);
    choose(row);
    rows[row]?.scrollIntoView({ block: "center" });
  });
}
if (rows.length > 0) reach(0);

const theme = document.getElementById("theme");
const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
const nameTheme = () => {
  theme.textContent = isDark() ? "Light" : "Dark";
  theme.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
};
theme.hidden = false;
theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
});
dark.addEventListener("change", nameTheme);
nameTheme();
