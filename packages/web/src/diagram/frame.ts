/**
 * Runs in the frame of a diagram, next to the drawing library. The frame is a separate document without an origin and
 * without network (S-112). It draws one source and reports the size.
 */
import type { DrawOrder, FrameReport } from "./frame-messages.ts";

interface DrawingLibrary {
  initialize(config: object): void;
  render(id: string, source: string): Promise<{ readonly svg: string }>;
}

/** The library is a separate script before this one. */
const { mermaid } = globalThis as unknown as { readonly mermaid: DrawingLibrary };

/** Larger graphs take too long to lay out. */
const limits = { maxTextSize: 20_000, maxEdges: 400 };

/** Settings that a source can't change. */
const secure = [
  "secure",
  "securityLevel",
  "startOnLoad",
  "suppressErrorRendering",
  "maxTextSize",
  "maxEdges",
  "theme",
  "themeCSS",
  "darkMode",
  "fontFamily",
  "htmlLabels",
  "dompurifyConfig",
];

function report(message: FrameReport): void {
  parent.postMessage(message, "*");
}

async function draw({ source, isDark }: DrawOrder): Promise<void> {
  document.documentElement.style.colorScheme = isDark ? "dark" : "light";
  mermaid.initialize({
    ...limits,
    secure,
    startOnLoad: false,
    securityLevel: "strict",
    suppressErrorRendering: true,
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    theme: isDark ? "dark" : "neutral",
    fontFamily: "system-ui, sans-serif",
  });
  const { svg } = await mermaid.render("diagram", source);
  const image = new DOMParser().parseFromString(svg, "text/html").querySelector("svg");
  if (image === null) throw new Error("nothing was drawn");
  const { width, height } = image.viewBox.baseVal;
  // The image fills the frame: the page sets the width that fits.
  image.removeAttribute("style");
  image.setAttribute("width", "100%");
  image.removeAttribute("height");
  document.body.replaceChildren(image);
  report({ kind: "drawn", width: Math.ceil(width), height: Math.ceil(height) });
}

addEventListener("message", ({ source, data }) => {
  if (source !== parent) return;
  draw(data as DrawOrder).catch((error: unknown) =>
    report({ kind: "failed", problem: error instanceof Error ? error.message : String(error) }),
  );
});
report({ kind: "ready" });
