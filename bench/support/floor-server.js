/** The floor of the server: bare `node:http` that runs each prompt, sends an event for each line, and stores nothing. */
import { createServer } from "node:http";
import { runPrompt } from "./floor-model.js";

const [url] = process.argv.slice(2);

const server = createServer(async (request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "text/event-stream" });
  let id = 0;
  const send = (name, data) => {
    id += 1;
    response.write(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const tell = ({ text, ...line }) =>
    text === undefined ? send("document_start", line) : send("content_delta", { documentId: "doc_001", delta: text });
  await runPrompt(url, tell);
  send("done", {});
  response.end();
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`));
