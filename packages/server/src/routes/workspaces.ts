/** `/v1/workspaces`: the served workspaces, their files and their commands (X30 to X32, X88). */
import { setTimeout as sleep } from "node:timers/promises";
import type { WorkspaceList } from "@sheaf/protocol";
import type { Hono } from "hono";
import { findRepository, readBranch } from "@sheaf/base/files/repository";
import { findWorkspaceRoot } from "../workspace-files.ts";
import { readWholeNumber } from "../read-query.ts";
import type { ServerContext, ServerEnvironment } from "../server-context.ts";

/** Time for a disk to return the branch of its workspace; a list leaves out a late branch. Milliseconds. */
const BRANCH_MS = 2000;

export function addWorkspaceRoutes(
  app: Hono<ServerEnvironment>,
  { settings, files, commands, preparer }: ServerContext,
): void {
  app.get("/v1/workspaces", async (request) => {
    const listed = [...settings.workspaces].map(async ([name, root], index) => {
      const looked = preparer.look(root).then(() => readBranch(findRepository(root)));
      const branch = await Promise.race([looked.catch(() => undefined), sleep(BRANCH_MS, undefined, { ref: false })]);
      return { name, ...(index === 0 && { default: true as const }), ...(branch !== undefined && { branch }) };
    });
    const workspaces = await Promise.all(listed);
    return request.json({ workspaces } satisfies WorkspaceList);
  });

  app.use("/v1/workspaces/:name/*", async (request, next) => {
    await preparer.look(findWorkspaceRoot(settings, request.req.param().name));
    await next();
  });

  app.get("/v1/workspaces/:name/files", async (request) => {
    const limit = readWholeNumber(request, "limit", { byDefault: 50, most: 1000 });
    const { name } = request.req.param();
    return request.json(await files.search(name, request.req.query("query") ?? "", limit, request.req.raw.signal));
  });

  app.get("/v1/workspaces/:name/commands", (request) => {
    const limit = readWholeNumber(request, "limit", { byDefault: 50, most: 1000 });
    return request.json(commands.search(request.req.param().name, request.req.query("query") ?? "", limit));
  });

  app.get("/v1/workspaces/:name/files/:path", async (request) => {
    const startLine = readWholeNumber(request, "startLine", { byDefault: 1, most: 1_000_000_000 });
    const maxLines = readWholeNumber(request, "maxLines", { byDefault: 2000, most: 100_000 });
    const { name, path } = request.req.param();
    return request.json(await files.read(name, path, { startLine, maxLines }, request.req.raw.signal));
  });
}
