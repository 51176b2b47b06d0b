/** Versions of the formats, `Major.Minor`. */

/** Version of the protocol of documents and their streams (X14). */
export const protocolVersion = "1.0";

/** Version of the lines of `stream-json` (C13). */
export const cliSchemaVersion = "1.0";
