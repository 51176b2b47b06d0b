import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["sheaf-source", "module", "node"] },
  ssr: { resolve: { conditions: ["sheaf-source", "module", "node"] } },
  test: {
    include: ["test/**/*.test.ts", "packages/*/test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
