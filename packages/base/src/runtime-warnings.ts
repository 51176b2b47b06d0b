/** Silences Node's warnings about itself, which a user of Sheaf cannot act on (C15). */

/** `node:sqlite` is experimental until Node 24.15, and warns once in every process and thread. */
const silenced: ReadonlySet<unknown> = new Set(["ExperimentalWarning", "DeprecationWarning"]);

/** Drops warnings of these kinds before they reach stderr, and no others. Call it before loading other modules. */
export function silenceRuntimeWarnings(target: Pick<NodeJS.Process, "emitWarning"> = process): void {
  const emit = target.emitWarning as (warning: string | Error, ...rest: unknown[]) => void;
  target.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    const [options] = rest;
    const type = typeof options === "object" && options !== null && "type" in options ? options.type : options;
    if (silenced.has(typeof warning === "string" ? type : warning.name)) return;
    emit.call(target, warning, ...rest);
  };
}
