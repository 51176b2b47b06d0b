import type { SheafClient } from "@sheaf/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { findStorage } from "../app/find-storage.ts";
import { findWriter } from "../session/writer.ts";
import { defaultFileLimits, type FileLimits } from "./attached-file.ts";
import { createDraftStore, type DraftStore } from "./draft-store.ts";

/** What is being written here, also after a reload of the tab. */
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

/** What the server allows of files, asked for when the first one is chosen. */
export function useFileLimits(client: SheafClient): () => Promise<FileLimits> {
  const asked = useRef<Promise<FileLimits>>(undefined);
  return () =>
    (asked.current ??= client.listAttachments().then(
      ({ limits }) => limits,
      () => defaultFileLimits,
    ));
}
