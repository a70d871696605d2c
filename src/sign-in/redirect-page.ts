/** The page that the browser shows at the end of a sign-in. It loads no other file. */

export interface PageText {
  mark: "done" | "failed";
  title: string;
  lines: string[];
}

export function redirectPage({ mark, title, lines }: PageText): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<svg class="${mark}" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="11"/><path d="${strokes[mark]}"/></svg>
<h1>${escaped(title)}</h1>
${lines.map((line) => `<p>${escaped(line)}</p>`).join("\n")}
<footer>claudikins</footer>
</main>
</body>
</html>
`;
}

const strokes = { done: "M7 12.5l3.5 3.5L17 9", failed: "M8.5 8.5l7 7M15.5 8.5l-7 7" };

const style = `
:root { --back: #f6f5f2; --card: #fff; --text: #22211e; --dim: #6b6962; --line: #e4e1da; --done: #2d7d46; --failed: #b3362b }
@media (prefers-color-scheme: dark) {
  :root { --back: #191816; --card: #232220; --text: #eceae4; --dim: #a19e95; --line: #35332f; --done: #63b37c; --failed: #e5766b }
}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--back);
  color: var(--text); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
main { width: 100%; max-width: 27rem; padding: 2.25rem 2rem 1.5rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 14px; text-align: center }
svg { width: 3rem; height: 3rem; fill: none; stroke-width: 1.6; stroke-linecap: round; stroke-linejoin: round }
svg.done { stroke: var(--done) } svg.failed { stroke: var(--failed) }
h1 { margin: .9rem 0 .6rem; font-size: 1.3rem; line-height: 1.3; overflow-wrap: anywhere; text-wrap: balance }
p { margin: .6rem 0; color: var(--dim); overflow-wrap: anywhere; text-wrap: balance }
footer { margin-top: 1.6rem; padding-top: .9rem; border-top: 1px solid var(--line); color: var(--dim); font-size: .8rem }
`;

function escaped(text: string): string {
  return Bun.escapeHTML(text);
}
