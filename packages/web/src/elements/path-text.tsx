import { VisibleText } from "./visible-text.tsx";

/** A path: the folder is dimmed, the file name stands out. */
export function PathText({ path }: { readonly path: string }) {
  const cut = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1;
  return (
    <bdi class="path" title={path}>
      <span class="path-folder">
        <VisibleText text={path.slice(0, cut)} />
      </span>
      <span class="path-name">
        <VisibleText text={path.slice(cut)} />
      </span>
    </bdi>
  );
}
