/** A page on this machine for servers that read the web or drive a browser, and a registry of components. */

const html = `<!doctype html><html lang="en"><head><title>Shop</title></head><body>
<h1>Orders</h1><p>Three orders are open.</p><a href="/about">About</a>
<form><label>Name <input name="name"></label><select name="size"><option>small</option><option>large</option></select>
<button type="button" onclick="console.log('saved')">Save</button></form>
<button type="button" onclick="confirm('Sure?')">Ask</button><input type="file" aria-label="Choose">
<p id="drop" ondragover="event.preventDefault()" ondrop="event.preventDefault()">Drop here</p><script>console.log("ready")</script></body></html>`;

/** A registry of components, for shadcn. */
const components = [
  {
    name: "lamp",
    type: "registry:ui",
    description: "A lamp",
    dependencies: ["clsx"],
    files: [{ path: "ui/lamp.tsx", type: "registry:ui", content: "export const Lamp = () => null;\n" }],
  },
  {
    name: "lamp-demo",
    type: "registry:example",
    description: "A lamp in a room",
    files: [{ path: "examples/lamp-demo.tsx", type: "registry:example", content: "export const Demo = () => null;\n" }],
  },
];

function answerTo(path: string): Response {
  if (path === "/r/registry.json")
    return Response.json({ name: "shop", homepage: "http://127.0.0.1", items: components });
  const component = components.find(({ name }) => path === `/r/${name}.json`);
  if (component) return Response.json(component);
  if (path.endsWith(".json")) return Response.json({ orders: 3 });
  return new Response(html, { headers: { "content-type": "text/html" } });
}

export function pageServer(): { url: string } & Disposable {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => answerTo(new URL(url).pathname),
  });
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.dispose]: () => void server.stop(true) };
}
