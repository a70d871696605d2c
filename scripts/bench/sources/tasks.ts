/** Eight tasks with web APIs, each as a program for claudikins and one for executor, and the requests that are right. */
import { issuesOfShop, type Recorded } from "./api-server.ts";

export interface SourceTask {
  name: string;
  /** The user's request. */
  request: string;
  /** The words of the search, the same for both. */
  query: string;
  ours: Written;
  executor: Written;
  isRight(requests: Recorded[]): boolean;
  answer: unknown;
}

interface Written {
  /** The operation as the search must show it, so that the program can be written. */
  operation: string;
  /** In executor's programs, `$` is the path of the operation's integration and connection. */
  code: string;
}

const form = "application/x-www-form-urlencoded";
const fieldsOf = (body: string): Record<string, string> => Object.fromEntries(new URLSearchParams(body));

function hasFields(found: Record<string, string>, wanted: Record<string, string>): boolean {
  return Object.entries(wanted).every(([name, value]) => found[name] === value);
}

/** Returns whether there was one request, to this path, for which `isAsWanted` holds. */
function only(requests: Recorded[], asked: string, isAsWanted: (request: Recorded) => boolean = () => true): boolean {
  const [request] = requests;
  if (!request || requests.length !== 1) return false;
  return `${request.method} ${request.path}` === asked && isAsWanted(request);
}

export const sourceTasks: SourceTask[] = [
  {
    name: "all pages",
    request: "How many open issues labelled bug and api does octo/shop have?",
    query: "list issues of a repository",
    ours: {
      operation: "github.issues_list_for_repo",
      code: `let count = 0;
for await (const issue of github.issues_list_for_repo.pages({ owner: "octo", repo: "shop", state: "open", labels: "bug,api", per_page: 100 })) count++;
return count`,
    },
    executor: {
      operation: "issues.listForRepo",
      code: `let count = 0;
for (let page = 1; ; page++) {
  const result = await tools.$.issues.listForRepo({ owner: "octo", repo: "shop", state: "open", labels: "bug,api", per_page: 100, page });
  if (!result.ok) throw new Error(result.error.message);
  count += result.data.length;
  if (!result.http.headers.link?.includes('rel="next"')) return count;
}`,
    },
    isRight: (requests) =>
      requests.length === Math.ceil(issuesOfShop / 100) &&
      requests.every(({ query }) => query.get("labels") === "bug,api" && query.get("state") === "open"),
    answer: issuesOfShop,
  },
  {
    name: "a JSON body",
    request: "Open an issue in octo/shop: Totals are wrong, with the labels bug and api.",
    query: "create an issue in a repository",
    ours: {
      operation: "github.issues_create",
      code: `const { number } = await github.issues_create({ owner: "octo", repo: "shop", title: "Totals are wrong", labels: ["bug", "api"] });
return number`,
    },
    executor: {
      operation: "issues.create",
      code: `const result = await tools.$.issues.create({ owner: "octo", repo: "shop", body: { title: "Totals are wrong", labels: ["bug", "api"] } });
if (!result.ok) throw new Error(result.error.message);
return result.data.number`,
    },
    isRight: (requests) =>
      only(requests, "POST /github/repos/octo/shop/issues", ({ body, type }) => {
        const { title, labels } = JSON.parse(body || "{}");
        return type === "application/json" && title === "Totals are wrong" && String(labels) === "bug,api";
      }),
    answer: 251,
  },
  {
    name: "an error of the API",
    request: "Does octo/shop have a milestone 99?",
    query: "get a milestone",
    ours: {
      operation: "github.issues_get_milestone",
      code: `try {
  await github.issues_get_milestone({ owner: "octo", repo: "shop", milestone_number: 99 });
  return true;
} catch (error) {
  if (error.data?.status === 404) return false;
  throw error;
}`,
    },
    executor: {
      operation: "issues.getMilestone",
      code: `const result = await tools.$.issues.getMilestone({ owner: "octo", repo: "shop", milestone_number: 99 });
if (result.ok) return true;
if (result.error.status === 404) return false;
throw new Error(result.error.message)`,
    },
    isRight: (requests) => only(requests, "GET /github/repos/octo/shop/milestones/99"),
    answer: false,
  },
  {
    name: "a form with objects",
    request: "Create a Stripe customer ada@example.com from Bern, with the plan pro in the metadata.",
    query: "create a customer",
    ours: {
      operation: "stripe.post_customers",
      code: `const { id } = await stripe.post_customers({ email: "ada@example.com", address: { city: "Bern" }, metadata: { plan: "pro" } });
return id`,
    },
    executor: {
      operation: "customers.postCustomers",
      code: `const result = await tools.$.customers.postCustomers({ body: { email: "ada@example.com", address: { city: "Bern" }, metadata: { plan: "pro" } } });
if (!result.ok) throw new Error(result.error.message);
return result.data.id`,
    },
    isRight: (requests) =>
      only(
        requests,
        "POST /stripe/v1/customers",
        ({ body, type }) =>
          type === form &&
          hasFields(fieldsOf(body), { email: "ada@example.com", "address[city]": "Bern", "metadata[plan]": "pro" }),
      ),
    answer: "cus_1",
  },
  {
    name: "an object in the query",
    request: "What do the Stripe charges since 1 November 2026 add up to?",
    query: "list charges",
    ours: {
      operation: "stripe.get_charges",
      code: `const { data } = await stripe.get_charges({ created: { gte: 1793491200 }, limit: 100 });
return data.reduce((sum, { amount }) => sum + amount, 0)`,
    },
    executor: {
      operation: "charges.getCharges",
      code: `const result = await tools.$.charges.getCharges({ created: { gte: 1793491200 }, limit: 100 });
if (!result.ok) throw new Error(result.error.message);
return result.data.data.reduce((sum, { amount }) => sum + amount, 0)`,
    },
    isRight: (requests) =>
      only(requests, "GET /stripe/v1/charges", ({ query }) => query.get("created[gte]") === "1793491200"),
    answer: 700,
  },
  {
    name: "a form",
    request: "Say in the Slack channel C024BE91L that the shop is open.",
    query: "post a message to a channel",
    ours: {
      operation: "slack.chat_post_message",
      code: `const { ok } = await slack.chat_post_message({ channel: "C024BE91L", text: "The shop is open." });
return ok`,
    },
    executor: {
      operation: "chat.chatPostMessage",
      code: `const result = await tools.$.chat.chatPostMessage({ token: "key", body: { channel: "C024BE91L", text: "The shop is open." } });
if (!result.ok) throw new Error(result.error.message);
return result.data.ok`,
    },
    isRight: (requests) =>
      only(
        requests,
        "POST /slack/chat.postMessage",
        ({ body, type }) =>
          type === form && hasFields(fieldsOf(body), { channel: "C024BE91L", text: "The shop is open." }),
      ),
    answer: true,
  },
  {
    name: "a list in the query",
    request: "Which issues of the Jira project OPS are open?",
    query: "search issues with JQL",
    ours: {
      operation: "jira.search_for_issues_using_jql",
      code: `const { issues } = await jira.search_for_issues_using_jql({ jql: "project = OPS AND statusCategory != Done", fields: ["summary", "status"] });
return issues.map(({ key }) => key)`,
    },
    executor: {
      operation: "issueSearch.searchForIssuesUsingJql",
      code: `const result = await tools.$.issueSearch.searchForIssuesUsingJql({ jql: "project = OPS AND statusCategory != Done", fields: ["summary", "status"] });
if (!result.ok) throw new Error(result.error.message);
return result.data.issues.map(({ key }) => key)`,
    },
    isRight: (requests) =>
      only(
        requests,
        "GET /jira/rest/api/3/search",
        ({ query }) =>
          query.get("jql") === "project = OPS AND statusCategory != Done" &&
          query.getAll("fields").join() === "summary,status",
      ),
    answer: ["OPS-1", "OPS-2"],
  },
  {
    name: "a patch",
    request: "Give the deployment web in the namespace shop three replicas.",
    query: "change the scale of a deployment",
    ours: {
      operation: "kubernetes.patch_apps_v1_namespaced_deployment_scale",
      code: `const { spec } = await kubernetes.patch_apps_v1_namespaced_deployment_scale({ namespace: "shop", name: "web", body: { spec: { replicas: 3 } } });
return spec.replicas`,
    },
    executor: {
      operation: "appsV1.patchAppsV1NamespacedDeploymentScale",
      code: `const result = await tools.$.appsV1.patchAppsV1NamespacedDeploymentScale({ namespace: "shop", name: "web", body: { spec: { replicas: 3 } }, contentType: "application/merge-patch+json" });
if (!result.ok) throw new Error(result.error.message);
return result.data.spec.replicas`,
    },
    isRight: (requests) =>
      only(
        requests,
        "PATCH /kubernetes/apis/apps/v1/namespaces/shop/deployments/web/scale",
        ({ body, type }) => type.endsWith("merge-patch+json") && JSON.parse(body || "{}").spec?.replicas === 3,
      ),
    answer: 3,
  },
];
