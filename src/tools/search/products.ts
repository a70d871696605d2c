/** Finds the product that a short query names, such as Jira in `a note on a Jira ticket`, among the servers and their tools. */
import { maxPhraseWords } from "../limits.ts";
import type { RankableTool } from "./ranking.ts";
import { synonymsOf, topicsOf } from "./thesaurus.ts";
import { commonWords, stemOf, withKnownCompounds, wordsOf } from "./tokenize.ts";

/** Only this much of a query is read for names of services. */
const maxServiceQueryChars = 1_000;

/**
 * In a longer query, a product is one of several things that a task needs. On the recorded queries, ranking it first makes the results
 * worse.
 */
const maxProductQueryWords = 15;

type IsOfProduct = (tool: RankableTool) => boolean;

/** Words in the names of servers of any product. */
const serverWords = new Set(["mcp", "server", "official", "remote", "api"]);

export class Products {
  /** The numbers of the servers by the stems of their names. */
  readonly #servers: Map<string, number[]>;

  constructor(names: readonly string[]) {
    this.#servers = Map.groupBy(names.keys(), (server) => {
      const words = wordsOf(names[server]!.toLowerCase());
      return words
        .filter((word) => !serverWords.has(word))
        .map(stemOf)
        .join(" ");
    });
  }

  /** Returns a test for tools of the only product that a query names. Undefined if the query is long, or names no product or several. */
  namedIn(query: string, tools: readonly RankableTool[], isKnown: (stem: string) => boolean): IsOfProduct | undefined {
    const text = withKnownCompounds(query.slice(0, maxServiceQueryChars), isKnown);
    const words = wordsOf(text);
    if (words.length > maxProductQueryWords) return undefined;
    const services = new Set(servicesIn(text).map(stemOf));
    const servers = this.#serversIn(words, new Set([...services, ...namesIn(query).map(stemOf)]));
    const products = [...servers.values()].map(
      (numbers): IsOfProduct =>
        (tool) =>
          numbers.includes(tool.server),
    );
    for (const service of services) {
      if (servers.has(service) || !isKnown(service)) continue;
      const isOfService = this.#ofService(service);
      if (tools.some(isOfService)) products.push(isOfService);
    }
    return products.length === 1 ? products[0] : undefined;
  }

  /** The servers whose names are in the query, by these names. A name of one word counts if it is no word with a meaning. */
  #serversIn(words: readonly string[], names: ReadonlySet<string>): Map<string, number[]> {
    const found = new Map<string, number[]>();
    const stems = words.map(stemOf);
    const isName = (at: number) =>
      names.has(stems[at]!) ||
      !(commonWords.has(words[at]!) || synonymsOf(stems[at]!).size > 0 || topicsOf(stems[at]!).length > 0);
    for (let at = 0; at < words.length; at++) {
      for (let end = Math.min(at + maxPhraseWords, words.length); end > at; end--) {
        const name = stems.slice(at, end).join(" ");
        const servers = this.#servers.get(name);
        if (!servers || (end === at + 1 && !isName(at))) continue;
        found.set(name, servers);
        at = end - 1;
        break;
      }
    }
    return found;
  }

  /** Tools with the service in their names, or in the name of their server. */
  #ofService(service: string): IsOfProduct {
    const named = [...this.#servers].flatMap(([name, numbers]) => (name.split(" ").includes(service) ? numbers : []));
    const servers = new Set(named);
    return ({ server, name }) => servers.has(server) || name.includes(service);
  }
}

/** A longer query describes more than a call, and may name a service only in passing. */
const maxServiceQueryWords = 12;

/**
 * Names of services that have no other meaning. Services whose tools may have a server with a general name, such as a mail program
 * or a database, are not listed.
 */
const names: ReadonlySet<string> = new Set(
  `jira confluence trello asana clickup todoist wrike basecamp airtable smartsheet zendesk freshdesk intercom hubspot salesforce pipedrive
  zoho servicenow mailchimp sendgrid twilio mailgun shopify woocommerce magento paypal stripe klarna adyen xero quickbooks netsuite workday
  bamboohr docusign dropbox onedrive sharepoint evernote onenote github gitlab bitbucket gitea jenkins circleci vercel netlify heroku
  digitalocean cloudflare firebase supabase snowflake bigquery databricks mongodb datadog newrelic pagerduty opsgenie splunk grafana sentry
  kibana amplitude mixpanel posthog tableau powerbi metabase discord telegram whatsapp mattermost webex instagram facebook linkedin tiktok
  pinterest snapchat reddit twitter youtube vimeo twitch spotify soundcloud airbnb uber lyft doordash yelp tripadvisor expedia etsy ebay
  figma canva webflow wordpress squarespace contentful calendly eventbrite zapier strava fitbit coinbase binance okta auth0`.split(
    /\s+/,
  ),
);

/** Names that are also ordinary words. They count before a thing that the service has, or after a preposition at the end. */
const ambiguous =
  /\b(linear|notion|slack|zoom|monday|teams) (?:issue|ticket|page|database|workspace|channel|message|dm|thread|board|project|task|card|meeting|call|cycle|doc|user|comment|reminder)s?\b|\b(?:in|on|to|via|from|through) (linear|notion|slack)\W*$/gi;

/** Words before the subject of a request: `search the web for jira` wants no Jira server. */
const ofSubject = new Set(["about", "for", "of", "regarding", "mentioning", "like"]);

/** The services that a query names, in lower case, if no tool and no server has the name of any of them. */
export function servicesWithout(query: string, isKnown: (stem: string) => boolean): string[] {
  const text = query.slice(0, maxServiceQueryChars);
  if (wordsOf(text).length > maxServiceQueryWords) return [];
  const all = servicesIn(text);
  return all.some((name) => isKnown(stemOf(name))) ? [] : all;
}

/** The services that a query names, in lower case. */
function servicesIn(query: string): string[] {
  const words = wordsOf(query);
  const clear = words.filter((word, at) => names.has(word) && !ofSubject.has(words[at - 1] ?? ""));
  const others = Array.from(query.matchAll(ambiguous), ([, before, behind]) => before ?? behind ?? "");
  return [...new Set([...clear, ...others].map((name) => name.toLowerCase()))];
}

/** The words of a query that are written as names are, in lower case: `Linear` in `what is new in Linear`. */
function namesIn(query: string): string[] {
  return (query.match(/(?<=[a-z\d,] )[A-Z][A-Za-z\d]*/g) ?? []).map((name) => name.toLowerCase());
}
