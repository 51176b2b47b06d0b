/**
 * How properties choose their cases: a tenth as many as in a deep run. They are new in every run; with CI=true they are
 * always the same, so that a red change has one cause.
 */
import * as fc from "fast-check";
import { isDeep } from "./depth.ts";

if (!isDeep) {
  const seed = process.env.CI === "true" ? { seed: 20_260_223 } : {};
  fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: 10, ...seed });
}
