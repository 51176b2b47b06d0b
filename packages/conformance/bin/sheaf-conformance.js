#!/usr/bin/env node
import { runMain } from "../dist/main.js";

process.exitCode = await runMain(process.argv.slice(2), {
  environment: process.env,
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
});
