/** The library of the package `sheaf`, which is the agent's. */
export * from "@sheaf/agent";
