/** Versions of the formats, `Major.Minor`. */

/** Of the protocol of documents and their streams (X14). */
export const protocolVersion = "1.0";

/** Of the lines of `stream-json` (C13). */
export const cliSchemaVersion = "1.0";
