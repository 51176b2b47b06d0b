/** The page at servers that share a database: tabs at different ones, and a tab behind a load balancer when one is lost. */
import type { ConversationPage } from "@sheaf/protocol";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWithChromium } from "../support/chromium.ts";
import { begin, createCluster } from "../support/cluster.ts";
import { openPage, sendMessage, setAway, waitForAnswer } from "../support/page.ts";
import { describeWithPostgres } from "../support/postgres.ts";
import { startRoundRobin } from "../support/round-robin.ts";
import { createTestFolder } from "../support/sheaf.ts";
import { verifies } from "../support/verifies.ts";
import { approval, slow } from "./scenario.ts";

const folders = createTestFolder();

describeWithPostgres("the page at two servers", (postgres) => {
  describeWithChromium("of one database", (browser) => {
    test(
      verifies(["R-73", "R-35", "R-37", "R-41"], "tabs show one conversation, and a tab goes on when a server is lost"),
      async () => {
        const turns = [...approval.turns.slice(0, 1), ...slow.turns, { events: [{ text: "The other one goes on." }] }];
        const ports = [0, 0];
        const { address } = await startRoundRobin(ports);
        const args = ["--sandbox", "disabled", "--on-node-loss", "resume", "--allow-host", new URL(address).host];
        const cluster = await createCluster(postgres, folders, { script: { turns, after: "repeat_last" }, args });
        const servers = await Promise.all(["a", "b"].map((name) => cluster.startProcess(name)));
        const [one, other] = [servers[0]!, servers[1]!];
        ports.splice(0, 2, one.port, other.port);

        const token = cluster.tokenOf("ada");
        const { conversationId } = await begin(one, { approvals: "ask" });
        const open = (origin: string, allowedFaults?: string) =>
          openPage(browser, { address: `${origin}/#/${conversationId}`, token }, {}, allowedFaults);
        const [first, second, balanced] = [await open(one.address, ""), await open(other.address), await open(address)];
        const question = (page: Page) => page.getByRole("group", { name: "Run a command" });
        for (const { page } of [first, second, balanced]) await question(page).waitFor();

        await question(second.page).getByRole("button", { name: "Allow once" }).click();
        for (const { page } of [first, balanced]) await question(page).waitFor({ state: "detached" });
        for (const { page } of [first, second, balanced]) await page.getByText("Line 3 of the answer.").waitFor();

        await one.stop("SIGKILL");
        await first.page.getByText("The connection was lost.").waitFor();
        for (const { page } of [second, balanced]) await waitForAnswer(page);
        const text = await balanced.page.getByRole("feed").innerText();
        expect(text).toContain("The other one goes on.");
        expect(text).toBe(await second.page.getByRole("feed").innerText());
        await sendMessage(balanced.page, "And now?");
        await second.page.getByText("And now?").waitFor();
      },
    );

    test(
      verifies("C230", "twelve tabs, 200 deltas a second each: Stop and approvals work in all"),
      async () => {
        const wait = { wait_ms: 5 };
        const long = { events: Array.from({ length: 24_000 }, (_, at) => [{ text: `${at} ` }, wait]).flat() };
        const turns = [...approval.turns.slice(0, 1), long];
        const cluster = await createCluster(postgres, folders, { script: { turns }, args: ["--sandbox", "disabled"] });
        const servers = await Promise.all(["a", "b"].map((name) => cluster.startProcess(name)));
        const token = cluster.tokenOf("ada");
        const tabs: Page[] = [];
        for (const [index, server] of servers.entries()) {
          // A browser of its own for each server.
          const viewport = { width: 1280 + index, height: 800 };
          const { page, context } = await openPage(browser, { address: server.address, token }, { viewport }, "");
          for (let at = 1; at <= 6; at += 1) {
            const { conversationId } = await begin(server, { approvals: "ask" });
            const tab = at === 1 ? page : await context.newPage();
            await tab.goto(`${server.address}/#/${conversationId}`);
            tabs.push(tab);
            const question = tab.getByRole("group", { name: "Run a command" });
            await question.getByRole("button", { name: "Allow once" }).click();
            await tab.getByText(" 99 ").waitFor();
            if (at < 6) await setAway(tab, true);
          }
        }
        // Each answer runs. Each tab is shown in turn, has the text of meanwhile, and stops its answer.
        for (const tab of tabs) {
          await setAway(tab, false);
          await tab.getByRole("button", { name: "Stop" }).click();
          await waitForAnswer(tab);
        }
        const { conversations } = await servers[0]!.read<ConversationPage>("/v1/conversations");
        expect(conversations.filter(({ runningResponseId }) => runningResponseId !== undefined)).toEqual([]);
      },
      400_000,
    );
  });
});
