/** The types of the library in one file: the declarations that its entry reaches, in whatever room they are. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rolldown, type Plugin } from "rolldown";
import { dts } from "rolldown-plugin-dts";
import { roomImport } from "./published-packages.ts";

/** AsyncDisposable is in no library of ES2024, and nobody needs the types of Node for it. */
const banner = '/// <reference lib="esnext.disposable" preserve="true" />';

/** From the types that tsc made of each room to the one file that npm gets: users install none of the private rooms. */
export async function bundleTypes(packages: string, file: string): Promise<void> {
  const input = join(packages, "cli/dist/lib/index.d.ts");
  const plugins = [createRoomPlugin(packages), dts({ dtsInput: true, oxc: {}, tsconfig: false })];
  const bundle = await rolldown({ input, plugins, external: /^(@sheaf\/(protocol|documents)|node:)/ });
  const { output } = await bundle.generate({ banner });
  await bundle.close();
  // The bundler puts the comment of a member behind the member before it, and the names of files between declarations.
  const text = output[0].code.replaceAll(/; (\/\*\*.*\*\/)$/gm, ";\n  $1").replaceAll(/^\/\/ (?!\/).*\n/gm, "");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function createRoomPlugin(packages: string): Plugin {
  return {
    name: "rooms",
    resolveId(source) {
      const [, room, path = "index"] = roomImport.exec(source) ?? [];
      return room && join(packages, room, "dist", `${path}.d.ts`);
    },
  };
}
