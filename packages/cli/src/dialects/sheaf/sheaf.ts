import { parseArguments } from "../../arguments.ts";
import type { CliDialect } from "../dialect.ts";

export const sheafDialect: CliDialect = {
  name: "sheaf",
  readArguments: (words) => ({ parsed: parseArguments(words), notices: [] }),
  format: "stream-json",
  profile: "sheaf",
};
