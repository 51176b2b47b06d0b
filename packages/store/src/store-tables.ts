/** Lasting rows of stores, the same in SQLite and PostgreSQL: for checks, copies and exports of a whole store. */
import { createHash, type Hash } from "node:crypto";

/** Value of a column. Bytes are base64. */
export type Cell = string | number | boolean | null;
export type TableRow = Readonly<Record<string, Cell>>;

/** Names of tables; rows only refer to rows of earlier tables. */
export const tableNames = [
  "conversations",
  "responses",
  "event_groups",
  "requests",
  "owner_usage",
  "attachments",
] as const;

export type TableName = (typeof tableNames)[number];

/** Columns, with their types in PostgreSQL. Leases and other things of the moment are not among them. */
export const tableColumns: Readonly<Record<TableName, Readonly<Record<string, string>>>> = {
  conversations: {
    key: "bigint",
    id: "text",
    owner: "text",
    workspace: "text",
    title: "text",
    created_at: "bigint",
    updated_at: "bigint",
    settings: "text",
    pinned: "boolean",
  },
  responses: {
    key: "bigint",
    id: "text",
    conversation: "bigint",
    position: "int",
    created_at: "bigint",
    ended: "boolean",
    reverted: "boolean",
    parent: "int",
    prompt_tokens: "bigint",
    completion_tokens: "bigint",
    cost_usd: "float8",
    answer: "text",
  },
  event_groups: { response: "bigint", first_seq: "int", last_seq: "int", events: "text" },
  requests: { owner: "text", key: "text", digest: "text", response: "bigint", created_at: "bigint" },
  owner_usage: { owner: "text", day: "text", turns: "bigint", cost_usd: "float8" },
  attachments: {
    id: "text",
    owner: "text",
    name: "text",
    media_type: "text",
    size: "bigint",
    created_at: "bigint",
    bytes: "bytea",
  },
};

/** Columns that no two rows have alike. Texts are compared by their bytes. */
export const tableOrders: Readonly<Record<TableName, readonly string[]>> = {
  conversations: ["key"],
  responses: ["key"],
  event_groups: ["response", "first_seq"],
  requests: ["response", "key", "owner"],
  owner_usage: ["owner", "day"],
  attachments: ["id"],
};

/** A store as its operator sees it: the rows of all owners at the moment when it was opened. */
export interface StoreDump {
  /** Name of the store in messages. */
  readonly place: string;
  readonly schema: number;
  /** Returns the rows of a table in order. */
  rows(table: TableName): AsyncIterable<TableRow>;
  /** Problems that the database itself finds in its files. */
  readonly problems: readonly string[];
  /** Id of a waiting message, which no row contains; undefined: no message waits. */
  readonly waiting?: string | undefined;
  close(): Promise<void>;
}

/** The sum of rows: equal sums mean equal rows. */
export interface TableSum {
  readonly count: number;
  readonly hash: string;
}

/** Passes rows on, and sums them up. */
export function createTableSum(table: TableName) {
  const hash: Hash = createHash("sha256");
  const columns = Object.keys(tableColumns[table]);
  let count = 0;
  return {
    add(row: TableRow): void {
      count += 1;
      hash.update(`${JSON.stringify(columns.map((column) => row[column]))}\n`);
    },
    end: (): TableSum => ({ count, hash: hash.digest("hex") }),
  };
}
