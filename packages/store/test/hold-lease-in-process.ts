/** Begins a response in the store that the first word names, says so, and lives on: a writer that a test can kill. */
import { createPostgresStore } from "../src/postgres.ts";
import { createSqliteStore } from "../src/sqlite.ts";

const [, , place = ""] = process.argv;
const store = place.startsWith("postgres:") ? await createPostgresStore(place) : createSqliteStore(place);
await store.createResponse({ id: "chat_a", conversationId: "conv_1", workspace: "/w", title: "t", createdAt: 1 });
process.stdout.write("begun\n");
setInterval(() => undefined, 1000);
