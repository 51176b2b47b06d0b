import { defineConfig } from "vitest/config";

const isCi = process.env.CI === "true";

export default defineConfig({
  resolve: { conditions: ["sheaf-source", "module", "node"] },
  ssr: { resolve: { conditions: ["sheaf-source", "module", "node"] } },
  test: {
    include: ["test/**/*.test.ts", "packages/*/test/**/*.test.ts"],
    setupFiles: ["test/support/property-seed.ts"],
    // Most tests wait for processes, so two files share even a machine of two cores.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Tests that start processes wait for a machine of two cores: one more try, which the report shows.
    retry: isCi ? 1 : 0,
  },
});
