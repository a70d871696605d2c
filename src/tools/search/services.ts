/**
 * Finds services that a query names, such as Jira, so that a search can say that no server is for them. Matching words alone does not show
 * this: a tool that creates tickets matches two of the three words of `create jira ticket`.
 */

import { maxServiceQueryChars } from "../limits.ts";
import { stemOf, wordsOf } from "./tokenize.ts";

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
export function servicesIn(query: string): string[] {
  const words = wordsOf(query);
  const clear = words.filter((word, at) => names.has(word) && !ofSubject.has(words[at - 1] ?? ""));
  const others = Array.from(query.matchAll(ambiguous), ([, before, behind]) => before ?? behind ?? "");
  return [...new Set([...clear, ...others].map((name) => name.toLowerCase()))];
}

/** The words of a query that are written as names are, in lower case: `Linear` in `what is new in Linear`. */
export function namesIn(query: string): string[] {
  return (query.match(/(?<=[a-z\d,] )[A-Z][A-Za-z\d]*/g) ?? []).map((name) => name.toLowerCase());
}
