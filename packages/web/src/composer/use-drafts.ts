import type { SheafClient } from "@sheaf/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { findStorage } from "../app/find-storage.ts";
import { findWriter } from "../session/writer.ts";
import { defaultFileLimits, type FileLimits } from "./attached-file.ts";
import { createDraftStore, type DraftStore } from "./draft-store.ts";

/** Makes the drafts of this tab; they survive its reload. */
export function useDrafts(client: SheafClient, findId: () => string | undefined): DraftStore {
  const [drafts] = useState(() =>
    createDraftStore({
      client,
      storage: findStorage("tab"),
      findName: () => findId() ?? "new",
      findWriter: () => findWriter(findStorage()),
    }),
  );
  useEffect(() => void drafts.renew(), [drafts]);
  return drafts;
}

/** Returns a function that loads the server's limits of files, once, when the user chooses the first file. */
export function useFileLimits(client: SheafClient): () => Promise<FileLimits> {
  const asked = useRef<Promise<FileLimits>>(undefined);
  return () =>
    (asked.current ??= client.listAttachments().then(
      ({ limits }) => limits,
      () => defaultFileLimits,
    ));
}
