/** The packages that npm gets: folders of `packages/`, each after those that it depends on. */
export const publishedPackages = ["protocol", "documents", "client", "conformance", "cli"] as const;
