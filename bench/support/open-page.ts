/** The page at a server whose model is the provider of the benchmark. */
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { sheafProgram, startNode, withFolder } from "./measure.ts";
import type { Provider } from "./provider.ts";

/** Opens the page of a new server, sends a message, and runs while the answer comes. */
export function openSheafPage<Result>(page: Page, provider: Provider, run: () => Promise<Result>): Promise<Result> {
  return withFolder(async (folder) => {
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    writeFileSync(join(workspace, "read.txt"), "one\n");
    const model = ["--model", "openai-compatible/m", "--base-url", provider.url, "--api-key", "none"];
    const child = startNode(
      [sheafProgram, "serve", "--port", "0", "--open", ...model],
      workspace,
      join(folder, "home"),
    );
    child.stderr!.resume();
    try {
      const [line] = (await once(child.stdout!, "data")) as [Buffer];
      await page.goto(/http:\S+/.exec(line.toString())![0]);
      await page.getByRole("textbox", { name: "Message" }).fill("Go");
      await page.keyboard.press("Enter");
      return await run();
    } finally {
      const closed = once(child, "close");
      child.kill("SIGKILL");
      await closed;
    }
  });
}
