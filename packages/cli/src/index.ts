/** The library of the package `sheaf`: what the agent exports. */
export * from "@sheaf/agent";
