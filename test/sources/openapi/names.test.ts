/** The names of tools: like those that a person would choose, apart from each other, and the same when the document grows. */
import { describe, expect, test } from "bun:test";
import { type NamedOperation, toolNames } from "../../../src/sources/openapi/names.ts";

const operation = (method: string, path: string, operationId?: string, isDeprecated = false): NamedOperation => ({
  method,
  path,
  operationId,
  isDeprecated,
});

test.each([
  ["repos/list-for-org", "GET", "/orgs/{org}/repos", "repos_list_for_org"],
  ["chat_postMessage", "POST", "/chat.postMessage", "chat_post_message"],
  ["listCoreV1NamespacedPod", "GET", "/api/v1/namespaces/{namespace}/pods", "list_core_v1_namespaced_pod"],
  ["GetCustomersCustomer", "GET", "/v1/customers/{customer}", "get_customers_customer"],
  ["admin.admin.GetAdmin", "GET", "/admin", "admin_get_admin"],
  ["Get.Count.instances-319b", "GET", "/instances/$count", "get_count_instances"],
  ["read_item_items__item_id__get", "GET", "/items/{item_id}", "read_item"],
  ["UsersController_findAll", "GET", "/users", "users_find_all"],
  ["getOAuthURLs", "GET", "/oauth/urls", "get_oauth_urls"],
  ["listIPv6Addresses", "GET", "/ips", "list_ipv6_addresses"],
  ["list", "GET", "/api/v1/repos/{owner}/{repo}/issues", "get_repos_issues"],
  [undefined, "GET", "/repos/{owner}/{repo}/issues", "get_repos_issues"],
  [undefined, "GET", "/repos/{owner}/{repo}", "get_repos_by_owner_repo"],
  [undefined, "POST", "/2010-04-01/Accounts/{Sid}/Calls.json", "post_accounts_calls"],
  ["获取用户", "GET", "/users", "get_users"],
  ["constructor", "GET", "/a", "get_constructor"],
  ["then", "GET", "/a", "get_then"],
  ["resources", "GET", "/a", "get_resources"],
  ["1clicks", "GET", "/1-clicks", "get_1clicks"],
  ["../../x", "DELETE", "/x", "x"],
])("%s of %s %s is %s", (id, method, path, name) => {
  expect(toolNames([operation(method, path, id)])).toEqual([name]);
});

describe("operations that want the same name", () => {
  test("are told apart by path, version and method, and the simplest keeps the name", () => {
    const operations = [
      operation("GET", "/v2/pets", "listPets"),
      operation("GET", "/v1/pets", "listPets"),
      operation("GET", "/v1/owners/{owner}/pets/{pet}", "listPets"),
      operation("POST", "/v1/pets", "list-pets"),
      operation("GET", "/pets", undefined),
      operation("GET", "/v1/stores/pets", "ListPets"),
    ];
    const names = ["list_pets_v2", "list_pets", "list_pets_by_pet", "list_pets_v1", "get_pets", "list_pets_stores"];
    expect(toolNames(operations)).toEqual(names);
    expect(toolNames(operations.toReversed())).toEqual(names.toReversed());
  });

  test("keep their names when others are added", () => {
    const before = [operation("GET", "/pets", "listPets"), operation("GET", "/pets/{id}", "getPet")];
    const after = toolNames([
      operation("GET", "/cats/pets", "listPets"),
      ...before,
      operation("GET", "/pets", "getPet"),
    ]);
    expect(after.slice(1, 3)).toEqual([toolNames(before)[0]!, "get_pet_by_id"]);
  });

  test("never have the same name in the end, however many they are", () => {
    const operations = Array.from({ length: 2_000 }, (_, at) =>
      operation(at % 2 === 0 ? "GET" : "POST", `/a/{x${at % 7}}/${"é".repeat(at % 5)}`, "same.id"),
    );
    const names = toolNames(operations);
    expect(new Set(names).size).toBe(operations.length);
    expect(names.every((name) => /^[a-z][a-z0-9_]{0,99}$/.test(name))).toBe(true);
  });
});
