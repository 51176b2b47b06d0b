/** The packages that npm gets: folders of `packages/`, each after those that it depends on. */
export const publishedPackages = ["protocol", "documents", "client", "conformance", "cli"] as const;

/** Rooms that nobody installs alone: the program contains them. */
export const privateRooms = ["base", "models", "store", "permissions", "sandbox", "agent", "server"] as const;

/** A private room and a file in it, as another room imports it: `@sheaf/base/errors`, or `@sheaf/agent` alone. */
export const roomImport = new RegExp(`^@sheaf/(${privateRooms.join("|")})(?:/(.+))?$`);
