/** The HTML document around the page, and around the page of one execution. */

/** All parts are HTML. A content security policy in the head comes before everything that it may forbid. */
export function htmlDocument({ title, head, body }: { title: string; head: string; body: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${head}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
</head>
<body>
${body}
</body>
</html>
`;
}
