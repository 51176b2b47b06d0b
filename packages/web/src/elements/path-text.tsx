import { VisibleText } from "./visible-text.tsx";

/** A path: the folder is dimmed, the file name stands out. */
export function PathText({ path }: { readonly path: string }) {
  const cut = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1;
  return (
    <bdi class="path" title={path}>
      <VisibleText as="span" class="path-folder" text={path.slice(0, cut)} />
      <VisibleText as="span" class="path-name" text={path.slice(cut)} />
    </bdi>
  );
}
