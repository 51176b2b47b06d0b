/** Follows a response with a package for event streams that knows nothing of Sheaf: follow.ts ADDRESS TOKEN PATH. */
import { EventSource } from "eventsource";

const [address = "", token = "", path = ""] = process.argv.slice(2);

const source = new EventSource(`${address}${path}/events`, {
  fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, Authorization: `Bearer ${token}` } }),
});
const contents = new Map<string, string>();
source.addEventListener("content_delta", ({ data }) => {
  const { documentId, delta } = JSON.parse(data as string) as { documentId: string; delta: string };
  contents.set(documentId, (contents.get(documentId) ?? "") + delta);
});
// Without this the package would ask again, as it does when a stream breaks off.
source.addEventListener("done", ({ data, lastEventId }) => {
  source.close();
  const { status } = JSON.parse(data as string) as { status: string };
  console.log(JSON.stringify({ status, lastEventId, contents: [...contents.values()] }));
});
