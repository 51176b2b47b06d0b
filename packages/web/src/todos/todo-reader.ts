/** Reads the todo list of a growing conversation. */
import type { Document } from "@sheaf/protocol";
import { createIncrementalMap, type IncrementalMap } from "../elements/map-incrementally.ts";
import type { ShownDocument } from "../views/view.ts";
import { foldTodos, isAboutTodos, type Todo } from "./fold-todos.ts";

export interface TodoReader {
  /** The same array until a plan or an update changes. */
  readonly read: (
    turns: readonly { readonly response: { readonly documents: readonly Document[] } }[],
  ) => readonly Todo[];
}

export function createTodoReader(): TodoReader {
  const turnReaders: IncrementalMap<ShownDocument, ShownDocument | undefined>[] = [];
  const foundByTurn: (readonly ShownDocument[])[] = [];
  let before: readonly ShownDocument[] = [];
  let todos: readonly Todo[] = [];
  return {
    read(turns) {
      turnReaders.length = Math.min(turnReaders.length, turns.length);
      const documents = turns.flatMap(({ response }, index) => {
        turnReaders[index] ??= createIncrementalMap((document) => (isAboutTodos(document) ? document : undefined));
        const known = turnReaders[index];
        const values = known.map(response.documents);
        const found = (foundByTurn[index] ?? []).filter((document) => document.sequence <= known.unchanged());
        for (let place = known.unchanged(); place < values.length; place += 1) {
          const document = values[place];
          if (document !== undefined) found.push(document);
        }
        foundByTurn[index] = found;
        return found;
      });
      const isSame =
        documents.length === before.length && documents.every((document, index) => document === before[index]);
      if (!isSame) todos = foldTodos(documents);
      before = documents;
      return todos;
    },
  };
}
