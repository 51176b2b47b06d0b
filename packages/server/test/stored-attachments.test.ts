/** Files that are sent before their message (X46 to X48). */
import { writeFileSync } from "node:fs";
import type { AttachmentInfo, AttachmentList, ChatResponse } from "@sheaf/protocol";
import { describe, expect, test } from "vitest";
import { createPng, pdf } from "../../../test/support/images.ts";
import { createTestFolder } from "../../../test/support/sheaf.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { toFileDisposition } from "../src/disposition.ts";
import { defaultOwnerLimits } from "../src/limits.ts";
import { startAttachmentSweep, toWholeRequest } from "../src/stored-attachments.ts";
import { createSqliteStore } from "@sheaf/store/sqlite";
import type { SharedStore } from "@sheaf/store/store";
import { openApp } from "../../../test/support/open-app.ts";

const folders = createTestFolder();
const png = createPng(640, 480);
const day = 24 * 60 * 60 * 1000;
const settings = defaultOwnerLimits.attachments;

/** A server of two owners: `send` is Ada. */
async function start(args: readonly string[] = []) {
  const file = `${folders.newFolder()}-tokens`;
  const [ada, bob] = ["a".repeat(40), "b".repeat(40)];
  writeFileSync(file, `ada ${ada}\nbob ${bob}\n`, { mode: 0o600 });
  const server = await openApp({ args: ["--token-file", file, ...args] });
  const api = server.as(ada);
  const add = async (bytes: Uint8Array | string, name: string): Promise<AttachmentInfo> => {
    const data = Buffer.from(bytes).toString("base64");
    const answer = await api.send("POST", "/v1/attachments", { name, data });
    expect([answer.status, server.log()]).toEqual([201, expect.not.stringContaining("defect")]);
    return (await answer.json()) as AttachmentInfo;
  };
  return { ...api, add, bob: server.as(bob), log: server.log };
}

describe("files before their message", () => {
  test(verifies(["X46", "X47", "X48"], "are named by their id, and copied"), async () => {
    const { send, read, chat, add, bob, readConversation, log } = await start();
    const image = await add(png, "shots/a.txt");
    expect(image).toEqual({
      id: expect.stringMatching(/^att_[0-9a-f-]{36}$/) as string,
      name: "a.txt",
      mediaType: "image/png",
      size: png.length,
      created: expect.stringMatching(/Z$/) as string,
    });
    expect(await read(`/v1/attachments/${image.id}`)).toEqual(image);
    const text = await add("# Notes\n", "notes.md");
    expect(text.mediaType).toBe("text/plain");
    const inline = { name: "b.pdf", data: pdf.toString("base64") };
    const attachments = [{ id: text.id }, inline, { id: image.id }];
    const answer = await chat({ message: "", attachments });
    expect(answer.status).toBe(200);
    const { id, conversationId } = (await answer.json()) as ChatResponse;
    expect((await send("DELETE", `/v1/attachments/${image.id}`)).status).toBe(204);
    const { turns } = await readConversation(conversationId);
    expect(log()).not.toContain("defect");
    expect(turns[0]?.attachments?.map(({ name, bytes }) => [name, bytes])).toEqual([
      ["notes.md", 8],
      ["b.pdf", pdf.length],
      ["a.txt", png.length],
    ]);
    const third = await send("GET", `/v1/responses/${id}/attachments/3`);
    expect([third.status, third.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect(Buffer.from(await third.arrayBuffer()).equals(png)).toBe(true);
    for (const path of [
      `/v1/attachments/${image.id}`,
      `/v1/responses/${id}/attachments/4`,
      `/v1/responses/${id}/attachments/0`,
      `/v1/responses/chat_x/attachments/1`,
    ]) {
      expect([path, (await send("GET", path)).status]).toEqual([path, 404]);
    }
    expect((await bob.fetch(`/v1/responses/${id}/attachments/3`)).status).toBe(404);
    const gone = await chat({ message: "Look", attachments: [{ id: image.id }] });
    expect([gone.status, await gone.json()]).toMatchObject([404, { error: { errorCode: "NOT_FOUND" } }]);
  });

  test(verifies(["X46", "S-55"], "are measured before they are read"), async () => {
    let reads = 0;
    const size = 1024 * 1024;
    const counting = {
      getAttachment: async (id: string) => ({ id, name: "a.pdf", mediaType: "application/pdf", size, createdAt: 0 }),
      readAttachment: async () => Buffer.alloc((reads += 1)),
    } as unknown as SharedStore;
    const attachments = Array.from({ length: 11 }, () => ({ id: "att_1" }));
    await expect(toWholeRequest({ message: "", attachments }, counting, settings, 0)).rejects.toThrow(
      "send some later",
    );
    expect(reads).toBe(0);
    const fewer = await toWholeRequest({ message: "", attachments: attachments.slice(1) }, counting, settings, 0);
    expect([fewer.attachments?.length, reads]).toEqual([10, 10]);
  });

  test(verifies(["S-120", "S-53"], "do not exist for others"), async () => {
    const { send, read, add, bob } = await start();
    const { id } = await add("text", "a.txt");
    const missing = JSON.stringify(await read("/v1/attachments/att_x"));
    for (const [method, path, body] of [
      ["GET", `/v1/attachments/${id}`, undefined],
      ["GET", `/v1/attachments/${id}/content`, undefined],
      ["DELETE", `/v1/attachments/${id}`, undefined],
      ["POST", "/v1/chat", { message: "Look", attachments: [{ id }] }],
    ] as const) {
      const answer = await bob.send(method, path, body);
      expect([answer.status, JSON.stringify(await answer.json()).replace(id, "att_x")]).toEqual([404, missing]);
    }
    expect((await send("GET", `/v1/attachments/${id}/content`)).status).toBe(200);
  });

  test(verifies(["S-120", "S-200", "X108"], "are limited as the operator says, who tells it"), async () => {
    const { send, read, add, bob } = await start([
      "--max-attachments",
      "2",
      "--max-attachment-mib=1",
      "--attachment-hours=2",
    ]);
    const { id } = await add("text", "a.txt");
    const other = await add("text", "b.txt");
    const list = await read<AttachmentList>("/v1/attachments");
    // Files of the same millisecond are in the order of their random ids.
    const attachments = list.attachments.toSorted((one, two) => one.name.localeCompare(two.name));
    expect({ ...list, attachments }).toEqual({
      attachments: [{ ...other, id, name: "a.txt", created: attachments[0]?.created }, other],
      limits: {
        fileBytes: 1024 * 1024,
        imageBytes: 1024 * 1024,
        textBytes: 256 * 1024,
        messageFiles: 20,
        messageBytes: 10 * 1024 * 1024,
        files: 2,
        bytes: 100 * 1024 * 1024,
        keptSeconds: 7200,
      },
    });
    expect(await bob.read("/v1/attachments")).toMatchObject({ attachments: [] });
    const large = { name: "large.png", data: createPng(9, 9, 1024 * 1024).toString("base64") };
    for (const [path, body] of [
      ["/v1/attachments", large],
      ["/v1/chat", { message: "Look", attachments: [large] }],
    ] as const) {
      const answer = await send("POST", path, body);
      const message = expect.stringMatching(/large\.png has \d+ bytes, at most 1048576 are allowed here/) as string;
      expect([path, answer.status, await answer.json()]).toMatchObject([path, 400, { error: { message } }]);
    }
    const data = Buffer.from("text").toString("base64");
    const refused = await send("POST", "/v1/attachments", { name: "a.txt", data });
    expect([refused.status, await refused.json()]).toMatchObject([429, { error: { errorCode: "LIMIT_REACHED" } }]);
    await send("DELETE", `/v1/attachments/${id}`);
    await add("text", "a.txt");
  });

  test.each([
    ["--max-attachments", "0", "from 1 to 100000"],
    ["--max-attachment-mib", "11", "from 1 to 10"],
    ["--max-attachments-mib", "1.5", "from 1 to 1000000"],
    ["--attachment-hours", "a day", "from 1 to 8760"],
  ])(verifies("S-200", "%s %s is refused"), async (flag, value, range) => {
    await expect(start([flag, value])).rejects.toThrow(`${flag} "${value}" is not a whole number ${range}`);
  });

  test.each([
    ["notes.v2.md", "text/plain", "notes.v2.md", "notes.v2.md"],
    ["Über uns (1).csv", "text/plain", "ber-uns-1-.csv", "%C3%9Cber%20uns%20%281%29.csv"],
    ["Makefile", "text/plain", "Makefile", "Makefile"],
    [".env", "text/plain", "env", "env"],
    ["page.HTML", "text/plain", "page.HTML.txt", "page.HTML.txt"],
    ["run.bat", "text/plain", "run.bat.txt", "run.bat.txt"],
    ["page.html.", "text/plain", "page.html.txt", "page.html.txt"],
    ["a.txt", "image/png", "a.png", "a.png"],
    ["a.JPEG", "image/jpeg", "a.JPEG", "a.JPEG"],
    ["a.exe", "application/pdf", "a.pdf", "a.pdf"],
    ["con.txt", "text/plain", "file-con.txt", "file-con.txt"],
    ['a";b\r\n:c.txt', "text/plain", "a-b-c.txt", "a-%3Bb-c.txt"],
    ["日本.txt", "text/plain", "file.txt", "%E6%97%A5%E6%9C%AC.txt"],
    ["..", "text/plain", "file", "file"],
  ] as const)(verifies("S-121", "%s of the type %s is saved under its own name"), (name, type, plain, encoded) => {
    expect(toFileDisposition(name, type)).toBe(`attachment; filename="${plain}"; filename*=UTF-8''${encoded}`);
  });

  test(verifies("S-121", "go out as files that cannot run"), async () => {
    const { send, add } = await start();
    const page = await add("<script>alert(1)</script>", "päge.html");
    const answer = await send("GET", `/v1/attachments/${page.id}/content`);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "content-disposition": `attachment; filename="p-ge.html.txt"; filename*=UTF-8''p%C3%A4ge.html.txt`,
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
    expect(await answer.text()).toBe("<script>alert(1)</script>");
  });

  test.each([
    ["a.bin", Buffer.from([0xff, 0xff, 0x00]), "not a text in UTF-8"],
    ["a.txt", Buffer.from("a\0b"), "not a text in UTF-8"],
    ["a.txt", Buffer.from("text", "utf16le"), "not a text in UTF-8"],
    ["a.PDF", Buffer.from("text"), "is not a PNG, JPEG, GIF or WebP image and not a PDF"],
    ["a.txt", Buffer.alloc(256 * 1024 + 1, "a"), "at most 262144 are allowed of a text"],
    ["a.png", createPng(9000, 1), "at most 8000 px a side"],
  ])(verifies(["X46", "X49", "S-102"], "%s is refused for its bytes"), async (name, bytes, problem) => {
    const { send } = await start();
    const answer = await send("POST", "/v1/attachments", { name, data: bytes.toString("base64") });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { errorCode: "USAGE", message: expect.stringContaining(problem) } },
    ]);
  });

  test(verifies("X49", "the texts of a message are bounded together"), async () => {
    const { chat, add } = await start();
    const ids = [await add("a".repeat(200_000), "a.txt"), await add("a".repeat(200_000), "b.txt")];
    const answer = await chat({ message: "Look", attachments: ids.map(({ id }) => ({ id })) });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { errorCode: "USAGE", message: expect.stringContaining("the attached texts have 400000 bytes") } },
    ]);
  });

  test(verifies("S-122", "are deleted after a day"), async () => {
    const store = createSqliteStore(":memory:");
    const add = (id: string, createdAt: number): Promise<boolean> => {
      const record = { id, name: "a.txt", mediaType: "text/plain", size: 1, createdAt } as const;
      return store.addAttachment(record, Buffer.from("a"), { count: 9, bytes: 9 });
    };
    await add("att_old", 1000);
    await add("att_new", 1001);
    await startAttachmentSweep(
      store,
      settings,
      () => 1001 + day,
      (error) => expect(error).toBeUndefined(),
    )();
    expect(await store.getAttachment("att_old")).toBeUndefined();
    expect(await store.getAttachment("att_new")).toBeDefined();
    await store.close();
  });
});
