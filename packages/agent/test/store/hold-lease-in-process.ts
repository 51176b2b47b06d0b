/** Begins a response in the store that the first word names, says so, and lives on: a writer that a test can kill. */
import { createSqliteStore } from "../../src/store/sqlite.ts";

const store = createSqliteStore(process.argv[2] ?? "");
await store.createResponse({ id: "chat_a", conversationId: "conv_1", workspace: "/w", title: "t", createdAt: 1 });
process.stdout.write("begun\n");
setInterval(() => undefined, 1000);
