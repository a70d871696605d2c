/** A page on this machine for servers that read the web or drive a browser. */

const html = `<!doctype html><html lang="en"><head><title>Shop</title></head><body>
<h1>Orders</h1><p>Three orders are open.</p><a href="/about">About</a>
<form><label>Name <input name="name"></label><select name="size"><option>small</option><option>large</option></select>
<button type="button" onclick="console.log('saved')">Save</button></form>
<button type="button" onclick="confirm('Sure?')">Ask</button><script>console.log("ready")</script></body></html>`;

export function pageServer(): { url: string } & Disposable {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) =>
      url.endsWith(".json")
        ? Response.json({ orders: 3 })
        : new Response(html, { headers: { "content-type": "text/html" } }),
  });
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.dispose]: () => void server.stop(true) };
}
