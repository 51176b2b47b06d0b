/** All that `@sheaf/protocol` and `@sheaf/documents` export, of all their entries. */
export * from "@sheaf/documents";
export * from "@sheaf/documents/model-streams";
export * from "@sheaf/protocol";
export * from "@sheaf/protocol/base-form";
export * from "@sheaf/protocol/cost";
export * from "@sheaf/protocol/encode";
export * from "@sheaf/protocol/ndjson";
export * from "@sheaf/protocol/pieces";
export * from "@sheaf/protocol/validate";
export * from "@sheaf/protocol/verify";
