/** A web API that records what it is asked, with the answers that the tasks need. It also serves the documents. */

/** A request as it came in. */
export interface Recorded {
  method: string;
  path: string;
  query: URLSearchParams;
  type: string;
  body: string;
}

export const issuesOfShop = 250;

export class ApiServer implements Disposable {
  readonly #server: Bun.Server<undefined>;
  #requests: Recorded[] = [];

  /** `files` are the documents by name. */
  constructor(files: Record<string, string>) {
    this.#server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        const { pathname, searchParams: query } = new URL(request.url);
        const document = files[pathname.slice("/documents/".length)];
        if (pathname.startsWith("/documents/") && document !== undefined) return new Response(Bun.file(document));
        const recorded: Recorded = {
          method: request.method,
          path: pathname,
          query,
          type: (request.headers.get("content-type") ?? "").split(";")[0]!,
          body: await request.text(),
        };
        this.#requests.push(recorded);
        return answerTo(recorded, this.url);
      },
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  /** Returns the requests since the last call. */
  taken(): Recorded[] {
    const requests = this.#requests;
    this.#requests = [];
    return requests;
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }
}

function answerTo({ method, path, query, body }: Recorded, origin: string): Response {
  const asked = `${method} ${path}`;
  if (asked === "GET /github/repos/octo/shop/issues") return pageOfIssues(query, `${origin}${path}`);
  if (asked === "GET /github/repos/octo/shop/milestones/99") {
    return Response.json({ message: "Not Found", status: "404" }, { status: 404 });
  }
  const answers: Record<string, unknown> = {
    "POST /github/repos/octo/shop/issues": { number: 251, title: "Totals are wrong" },
    "POST /stripe/v1/customers": { id: "cus_1", object: "customer" },
    "GET /stripe/v1/charges": {
      object: "list",
      has_more: false,
      url: "/v1/charges",
      data: [{ id: "ch_1", amount: 700 }],
    },
    "POST /slack/chat.postMessage": { ok: true, channel: "C024BE91L", ts: "1700000000.000100" },
    "GET /jira/rest/api/3/search": {
      startAt: 0,
      maxResults: 50,
      total: 2,
      issues: [{ key: "OPS-1" }, { key: "OPS-2" }],
    },
    "PATCH /kubernetes/apis/apps/v1/namespaces/shop/deployments/web/scale": { kind: "Scale", spec: { replicas: 3 } },
  };
  const answer = answers[asked];
  if (answer !== undefined) return Response.json(answer);
  return Response.json({ message: `no answer to ${asked}`, body }, { status: 404 });
}

/** Pages as GitHub has them: the next one is named by a `Link` header. */
function pageOfIssues(query: URLSearchParams, address: string): Response {
  const size = Number(query.get("per_page") ?? 30);
  const page = Number(query.get("page") ?? 1);
  const first = (page - 1) * size;
  const count = Math.max(0, Math.min(size, issuesOfShop - first));
  const issues = Array.from({ length: count }, (_, index) => ({
    number: first + index + 1,
    title: `Issue ${first + index + 1}`,
    state: "open",
    labels: [{ name: "bug" }],
    body: "A longer text of the issue, as people write them. ".repeat(4),
  }));
  const next = new URLSearchParams(query);
  next.set("page", String(page + 1));
  const hasMore = first + count < issuesOfShop;
  return Response.json(issues, { headers: hasMore ? { link: `<${address}?${next}>; rel="next"` } : {} });
}
