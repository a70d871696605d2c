/** Words: how names and requests are split, and which words match. */
import { describe, expect, test } from "bun:test";
import { stemOf, wordsOf } from "../../src/tools/search/tokenize.ts";
import { ToolSearch } from "../../src/tools/search/tool-search.ts";
import { chineseGroups, everydayMeanings } from "../../src/tools/search/vocabulary.ts";
import { serverOf, type ToolDraft } from "./search-corpus.ts";

const searchOf = (tools: Record<string, string | ToolDraft>) =>
  new ToolSearch({ version: 1, servers: [serverOf("s", tools)] });
const names = (search: ToolSearch, query: string, limit = 10) =>
  search.search(query, limit).map(({ tool }) => tool.name);

test.each([
  ["createIssue", ["create", "issue"]],
  ["get-sum", ["get", "sum"]],
  ["HTTPServer2 startsNow", ["http", "server2", "starts", "now"]],
  ["parseXMLFile", ["parse", "xml", "file"]],
  ["md5 of s3://x", ["md5", "of", "s3", "x"]],
  ["don't, what's they've", ["don", "what", "they"]],
  ["Café naïve Überweisung", ["cafe", "naive", "uberweisung"]],
  ["отправить письмо", ["отправить", "письмо"]],
  ["天気予報 now", ["天気", "気予", "予報", "now"]],
  ["海", ["海"]],
  ["x".repeat(41), []],
])("wordsOf splits %j", (text, words) => {
  expect(wordsOf(text)).toEqual(words);
});

test.each([
  ["issues", "issue"],
  ["deleting", "delete"],
  ["translated", "translation"],
  ["organisation", "organizations"],
  ["colour", "colors"],
  ["analyse", "analyzing"],
  ["catalogue", "catalog"],
])("stemOf is the same for %s and %s", (a, b) => {
  expect(stemOf(a)).toBe(stemOf(b));
});

test.each([
  ["news", "new"],
  ["universities", "universal"],
  ["business", "busy"],
  ["customers", "custom"],
  ["rating", "rate"],
])("stemOf keeps %s and %s apart", (a, b) => {
  expect(stemOf(a)).not.toBe(stemOf(b));
});

test.each([
  ["sent", "sends"],
  ["bought", "buying"],
  ["people", "persons"],
  ["communities", "community"],
])("stemOf is the same for the irregular forms %s and %s", (a, b) => {
  expect(stemOf(a)).toBe(stemOf(b));
});

test.each([["list"], ["promise"], ["noise"], ["advise"]])("stemOf does not turn %s into another word", (word) => {
  expect(stemOf(word)).toStartWith(word.slice(0, -1));
});

describe("different spellings", () => {
  const search = searchOf({
    take_screenshot: "An image of what is shown",
    read_file_system: "Its usage and free room",
    send_mail: "To one person",
    hear_music: "Plays a song",
    add_webhook: "Is called back",
    bird_house: "Of the garden",
  });
  test.each([
    ["screen shot", "take_screenshot"],
    ["web hook", "add_webhook"],
    ["filesystem", "read_file_system"],
    ["birdhouse", "bird_house"],
    // A missing letter, an extra one, two swapped, a wrong one.
    ["scrennshot", "take_screenshot"],
    ["mussic", "hear_music"],
    ["takes a sreenshto", "take_screenshot"],
    // The beginning of a word.
    ["screensh", "take_screenshot"],
  ])("%j → %s", (query, name) => {
    expect(names(search, query)[0]).toBe(name);
  });

  test("a known word is never corrected", () => {
    const near = searchOf({ get_mall: "Shops under one roof", get_mail: "What was written to you" });
    expect(names(near, "mall", 1)).toEqual(["get_mall"]);
    expect(names(near, "mail", 1)).toEqual(["get_mail"]);
  });

  test("a compound is not split into parts of fewer than three letters", () => {
    const short = searchOf({ go_to: "Elsewhere", unmail: "By id", at_home: "Is it on?" });
    expect(names(short, "homeat")).toEqual([]);
    expect(names(short, "athome")).toEqual([]);
  });

  test("an unknown word without similar words finds nothing", () => {
    expect(names(search, "qqqqqq zzzz")).toEqual([]);
  });
});

describe("other languages", () => {
  const search = searchOf({
    wetter: "Wettervorhersage für eine Straße in Österreich",
    pogoda: "Прогноз погоды на неделю",
    tenki: "都市の天気予報を取得する",
    übersetzen: "Text in eine andere Sprache",
  });
  test.each([
    ["osterreich", "wetter"],
    ["ÖSTERREICH", "wetter"],
    ["прогноз", "pogoda"],
    ["天気予報", "tenki"],
    ["ubersetzen", "übersetzen"],
  ])("%j → %s", (query, name) => {
    expect(names(search, query)[0]).toBe(name);
  });
});

test("each line of the vocabulary has words on both sides, and Chinese words are found in running text", () => {
  expect(everydayMeanings().filter(({ asked, meant }) => asked.length === 0 || meant.length === 0)).toEqual([]);
  const chinese = chineseGroups().flatMap(([, ...words]) => words);
  expect(chinese.filter((word) => !/^\p{Script=Han}{2}$/u.test(word))).toEqual([]);
  expect(chineseGroups().filter((group) => group.length < 2)).toEqual([]);
});

describe("synonyms", () => {
  const search = searchOf({
    delete_record: "Drops one for good",
    create_record: "Makes a new one",
    post_message: "To everybody in a room",
    fetch_climate: "Degrees and wind of a town",
    login: "Opens a session",
    merge_pull_request: "Into its base",
    reimburse: "What somebody has paid",
  });
  test.each([
    ["remove the record", "delete_record"],
    ["trash a record", "delete_record"],
    ["add a record", "create_record"],
    ["notify them", "post_message"],
    ["weather forecast", "fetch_climate"],
    ["sign in", "login"],
    ["merge the PR", "merge_pull_request"],
    ["refund", "reimburse"],
  ])("%j → %s", (query, name) => {
    expect(names(search, query)[0]).toBe(name);
  });

  test("the exact word ranks above a synonym", () => {
    const both = searchOf({ remove_note: "One note", delete_note: "One note" });
    expect(names(both, "remove note")).toEqual(["remove_note", "delete_note"]);
    expect(names(both, "delete note")).toEqual(["delete_note", "remove_note"]);
  });

  test("an everyday word means a more general one, and not the reverse", () => {
    const fair = searchOf({ random_pick: "Of some", hold_raffle: "For a club", get_price: "Of one thing" });
    expect(names(fair, "a raffle")).toEqual(["hold_raffle", "random_pick"]);
    expect(names(fair, "random")).toEqual(["random_pick"]);
    expect(names(fair, "how much is it", 1)).toEqual(["get_price"]);
    const shop = searchOf({ drop_row: "Of a table", delete_row: "Of a table", keep_row: "Of a table" });
    expect(names(shop, "get rid of the row")[0]).toBe("delete_row");
  });

  test("a tool with several of the alternatives ranks above a tool with one", () => {
    const several = searchOf({ a_price: "Of one", b_price: "The cost of one" });
    expect(names(several, "how much")[0]).toBe("b_price");
  });

  test("tools that are described in Chinese are found in English, and the reverse", () => {
    const both = searchOf({ a1: "获取今日新闻", a2: "查询火车票余票", a3: "返回城市的天气" });
    expect(names(both, "latest news", 1)).toEqual(["a1"]);
    expect(names(both, "train ticket", 1)).toEqual(["a2"]);
    const english = searchOf({ weather: "Of a town", trains: "To a town" });
    expect(names(english, "查询天气", 1)).toEqual(["weather"]);
  });

  test("a topic finds its tools without a common word", () => {
    const fields = searchOf({ hotels: "Rooms with their guests", commits: "Of one branch", recipes: "By ingredient" });
    expect(names(fields, "vacation", 1)).toEqual(["hotels"]);
    expect(names(fields, "dinner", 1)).toEqual(["recipes"]);
  });
});
