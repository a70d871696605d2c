/** A real GraphQL server for tests: a bookshop with lists, connections, unions, errors and mutations. */

import { GraphQLError } from "graphql";
import { exactNumber } from "../../../src/base/exact-json.ts";

interface Yoga {
  createSchema(options: object): object;
  createYoga(options: object): { fetch(request: Request): Promise<Response> };
}

/** Its types would bring those of browsers into all files. */
const packageName: string = "graphql-yoga";
const { createSchema, createYoga } = (await import(packageName)) as Yoga;

export const bookshopSchema = /* GraphQL */ `
  scalar DateTime
  scalar Upload
  scalar BigInt
  enum Genre { NOVEL POETRY SCIENCE }
  interface Node { id: ID! }
  type Author implements Node { id: ID! name: String! books(first: Int, after: String): BookConnection! friends: [Author!]! }
  "A book that the shop sells."
  type Book implements Node {
    id: ID!
    title: String!
    genre: Genre
    pages: Int
    sold: BigInt!
    published: DateTime
    author: Author!
    price(currency: String = "EUR"): Float!
    secret: String
    oldTitle: String @deprecated(reason: "Use title.")
    reviews(first: Int, after: String): ReviewConnection!
  }
  type Review { text: String! stars: Int! }
  type ReviewConnection { edges: [ReviewEdge!]! pageInfo: PageInfo! }
  type ReviewEdge { cursor: String! node: Review! }
  type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
  type BookConnection { nodes: [Book!]! edges: [BookEdge!]! pageInfo: PageInfo! totalCount: Int! }
  type BookEdge { cursor: String! node: Book! }
  union Found = Book | Author
  input BookFilter { genre: Genre, not: BookFilter, title: String }
  input Picture { file: Upload!, title: String }
  input NewBook { title: String!, genre: Genre = NOVEL, author: ID! }
  type Query {
    relay: Query!
    "Finds one book."
    book(id: ID!): Book
    "Lists books, a page at a time."
    books(first: Int, after: String, last: Int, filter: BookFilter): BookConnection!
    author(id: ID!): Author!
    authors: [Author!]!
    search(text: String!): [Found!]!
    node(id: ID!): Node
    count: Int!
    select(select: String!): Author
    oldBooks: [Book!]! @deprecated(reason: "Use books.")
  }
  type Mutation {
    createBook(book: NewBook!): Book!
    deleteBook(id: ID!): Boolean!
    addPictures(cover: Upload, pictures: [Picture!]): [String!]!
    book(id: ID!, title: String): Book
    stock: StockMutations!
  }
  type StockMutations { add(id: ID!, count: Int!): Int! clear: Int! }
  type Subscription { sold: Book! }
`;

const author = { __typename: "Author", id: "a1", name: "Ada", friends: [] };

function bookOf(at: number) {
  return {
    __typename: "Book",
    id: `b${at}`,
    title: `Book ${at}`,
    genre: "NOVEL",
    pages: 100 + at,
    sold: 9_007_199_254_740_993n + BigInt(at),
    published: "1815-12-10T00:00:00Z",
    author,
    price: ({ currency }: { currency: string }) => (currency === "EUR" ? 10 : 12),
    secret: () => {
      throw new GraphQLError("not for you", { extensions: { code: "FORBIDDEN" } });
    },
    reviews: (page: PageArguments) =>
      connectionOf(
        ["Good", "Bad", "Long"].map((text, stars) => ({ text, stars })),
        page,
      ),
  };
}

interface PageArguments {
  first?: number;
  after?: string;
  last?: number;
}

function connectionOf<T>(all: T[], { first, after, last }: PageArguments) {
  const from = after === undefined || after === null ? 0 : Number(after) + 1;
  const to = Math.min(all.length, from + (first ?? all.length));
  const nodes = last === undefined || last === null ? all.slice(from, to) : all.slice(-last);
  return {
    nodes,
    edges: nodes.map((node, at) => ({ node, cursor: String(from + at) })),
    pageInfo: {
      hasNextPage: to < all.length,
      hasPreviousPage: from > 0,
      startCursor: String(from),
      endCursor: String(to - 1),
    },
    totalCount: all.length,
  };
}

export interface SentRequest {
  query: string;
  variables: Record<string, unknown>;
}

/** The server, and the requests that it got, without introspection. Its mutations are counted by name. */
export function startBookshop(options: object = {}, count = 120) {
  const books = Array.from({ length: count }, (_, at) => bookOf(at));
  const sent: SentRequest[] = [];
  const made: string[] = [];
  const mutation = <T>(name: string, value: T) => {
    made.push(name);
    return value;
  };
  const resolvers = {
    BigInt: { serialize: (value: bigint) => exactNumber(String(value)) },
    Query: {
      book: (_: unknown, { id }: { id: string }) => books[Number(id.slice(1))] ?? null,
      books: (_: unknown, page: PageArguments) => connectionOf(books, page),
      author: (_: unknown, { id }: { id: string }) => {
        if (id !== "a1") throw new GraphQLError(`no author has the id ${id}`, { extensions: { code: "NOT_FOUND" } });
        return {
          ...author,
          books: (page: PageArguments) => connectionOf([0, 1, 2, 3, 4].map(bookOf), page),
          friends: [],
        };
      },
      authors: () => [author],
      search: () => [bookOf(1), author],
      node: () => author,
      count: () => count,
      select: (_: unknown, { select }: { select: string }) => ({ ...author, name: select }),
      oldBooks: () => [],
    },
    Mutation: {
      createBook: (_: unknown, { book }: { book: object }) => mutation("createBook", { ...bookOf(3), ...book, author }),
      addPictures: async (
        _: unknown,
        { cover, pictures }: { cover?: File; pictures?: { file: File; title: string }[] },
      ) => {
        const all = [...(cover ? [{ file: cover, title: "cover" }] : []), ...(pictures ?? [])];
        const texts = all.map(async ({ file, title }) => `${title}: ${file.name} ${await file.text()}`);
        return mutation("addPictures", await Promise.all(texts));
      },
      deleteBook: () => mutation("deleteBook", true),
      book: (_: unknown, { title }: { title: string }) => mutation("book", { ...bookOf(4), title }),
      stock: () => ({
        add: ({ count }: { count: number }) => mutation("add", count),
        clear: () => mutation("clear", 0),
      }),
    },
  };
  const yoga = createYoga({
    schema: createSchema({ typeDefs: bookshopSchema, resolvers }),
    logging: false,
    landingPage: false,
    ...options,
  });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const isForm = request.headers.get("content-type")?.startsWith("multipart/");
      const body = (
        isForm ? JSON.parse(String((await request.clone().formData()).get("operations"))) : await request.clone().json()
      ) as SentRequest;
      if (!body.query.includes("__schema")) sent.push(body);
      return yoga.fetch(request);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/graphql`,
    sent,
    made,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
