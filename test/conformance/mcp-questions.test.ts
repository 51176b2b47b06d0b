/** The form of a tool server at a terminal, field by field (C101). */
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describeWithProgram } from "../support/programs.ts";
import { compiledCode, createTestFolder, runSheaf } from "../support/sheaf.ts";
import { openTerminal } from "../support/terminal.ts";
import { verifies } from "../support/verifies.ts";

const folders = createTestFolder();
const program = join(import.meta.dirname, "../support/asking-server.ts");
const hotel = { command: process.execPath, args: [program], env: compiledCode };
const turns = [{ events: [{ call: { tool: "mcp__hotel__book", arguments: {} } }] }, { events: [{ text: "Booked." }] }];

describeWithProgram("tmux", () => {
  test(
    verifies(["C101", "X59", "S-176", "S-223"], "a form is filled in field by field, and what does not fit is told"),
    async () => {
      const cwd = folders.newFolder({
        "s.json": JSON.stringify({ turns }),
        "home/config.json": JSON.stringify({ mcpServers: { hotel } }),
      });
      const args = ["--model", "scripted:s.json", "--approve-mcps"];
      const terminal = openTerminal({ columns: 100, rows: 40, cwd, args });
      onTestFinished(() => terminal.close());
      await terminal.waitFor("›");
      terminal.type("go");
      terminal.press("Enter");
      const question = await terminal.waitFor("y or n, then Enter");
      for (const words of [
        "The MCP server hotel asks",
        "Guest, Nights, Breakfast, Room, Extras",
        "Which room do you want?",
      ]) {
        expect(question).toContain(words);
      }
      terminal.type("y\r");
      await terminal.waitFor("hotel: Guest: Who stays there");
      terminal.type("Ada");
      terminal.press("Enter");
      await terminal.waitFor("Nights (may be left out)");
      terminal.type("0");
      terminal.press("Enter");
      await terminal.waitFor("a number from 1 to 14 is expected");
      terminal.press("BSpace", "Enter");
      while (!/hotel: Breakfast/.test(await terminal.waitFor(/Press Enter again|hotel: Breakfast/)))
        terminal.press("Enter");
      await terminal.waitFor(/hotel: Breakfast[^]*y or n, then Enter/);
      terminal.press("Enter");
      await terminal.waitFor(/◆ +hotel: Room/);
      await terminal.waitFor(/hotel: Room[^]*↑ ↓, then Enter/);
      terminal.press("Down", "Enter");
      await terminal.waitFor(/◆ +hotel: Extras/);
      terminal.press("Enter");
      while (!/Booked/.test(await terminal.waitFor(/Booked|◆ +hotel: Extras/))) terminal.press("Enter");
      const place = { cwd, home: join(cwd, "home") };
      const [session] = JSON.parse((await runSheaf(["ls", "--json"], place)).stdout) as { session_id: string }[];
      const { stdout } = await runSheaf(["export", session!.session_id], place);
      const given = { guest: "Ada", nights: 2, breakfast: false, room: "l" };
      expect(stdout.replaceAll("\\", "")).toContain(`accept ${JSON.stringify(given)}`);
    },
  );
});
