/** The types of the library in one file: the declarations that its entry reaches, in whatever room they are. */
import { join } from "node:path";
import { rolldown, type Plugin } from "rolldown";
import { dts } from "rolldown-plugin-dts";

/** AsyncDisposable is in no library of ES2024, and nobody needs the types of Node for it. */
const banner = '/// <reference lib="esnext.disposable" preserve="true" />';

/** From the types that tsc made of each room to the one file that npm gets: users install none of the private rooms. */
export async function bundleTypes(packages: string, file: string): Promise<void> {
  const input = join(packages, "cli/dist/lib/index.d.ts");
  const plugins = [createRoomPlugin(packages), dts({ dtsOnly: true, generator: "oxc", tsconfig: false })];
  const bundle = await rolldown({ input, plugins, external: /^(@sheaf\/(protocol|documents)|node:)/ });
  await bundle.write({ file, banner });
  await bundle.close();
}

function createRoomPlugin(packages: string): Plugin {
  return {
    name: "rooms",
    resolveId(source) {
      const [, room, path = "index"] = /^@sheaf\/(base|models|store|agent|server)(?:\/(.+))?$/.exec(source) ?? [];
      return room && join(packages, room, "dist", `${path}.d.ts`);
    },
  };
}
