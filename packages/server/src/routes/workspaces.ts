/** `/v1/workspaces`: what is served, its files and its commands (X30 to X32, X88). */
import type { WorkspaceList } from "@sheaf/protocol";
import type { Hono } from "hono";
import { findRepository, readBranch } from "@sheaf/base/files/repository";
import { readWholeNumber } from "../read-query.ts";
import type { ServerContext, ServerEnvironment } from "../server-context.ts";

export function addWorkspaceRoutes(app: Hono<ServerEnvironment>, { settings, files, commands }: ServerContext): void {
  app.get("/v1/workspaces", (request) => {
    const workspaces = [...settings.workspaces].map(([name, root], index) => {
      const branch = readBranch(findRepository(root));
      return { name, ...(index === 0 && { default: true as const }), ...(branch !== undefined && { branch }) };
    });
    return request.json({ workspaces } satisfies WorkspaceList);
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
