/** Properties take new random cases at every run; with CI=true always the same ones, so that a red run has one cause. */
import * as fc from "fast-check";

if (process.env.CI === "true") fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_260_223 });
