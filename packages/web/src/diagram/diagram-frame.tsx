import { useEffect, useRef, useState } from "preact/hooks";
import { listen } from "../elements/listen.ts";
import { useMessages } from "../messages/use-messages.ts";
import { type DrawOrder, readReport } from "./frame-messages.ts";

/** CSS pixels. */
export interface DiagramSize {
  readonly width: number;
  readonly height: number;
}

interface DiagramFrameProps {
  readonly source: string;
  readonly isDark: boolean;
  /** Of an earlier drawing, so that nothing moves. */
  readonly size: DiagramSize | undefined;
  readonly onDrawn: (size: DiagramSize) => void;
  /** `problem` is foreign text; undefined: it took too long. */
  readonly onFailed: (problem: string | undefined) => void;
}

/** For drawing, once the frame has loaded. Milliseconds. */
const drawingTime = 8000;
/** For loading the frame, which is about 3 MB. Milliseconds. */
const loadingTime = 60_000;

/**
 * Foreign text is drawn in a document of its own: without an origin, without network, unable to reach the page (S-112).
 * One that takes too long is removed, and its process with it.
 */
export function DiagramFrame({ source, isDark, size, onDrawn, onFailed }: DiagramFrameProps) {
  const messages = useMessages();
  const frame = useRef<HTMLIFrameElement>(null);
  const [isDrawn, setDrawn] = useState(false);
  const latest = useRef({ onDrawn, onFailed });
  latest.current = { onDrawn, onFailed };
  useEffect(() => {
    const giveUp = (): void => latest.current.onFailed(undefined);
    let timer = setTimeout(giveUp, loadingTime);
    let isReady = false;
    const hear = (event: MessageEvent): void => {
      const { current } = frame;
      if (current === null || event.source !== current.contentWindow) return;
      const report = readReport(event.data);
      // Foreign text that says again that it is ready gets no more time.
      if (report === undefined || (report.kind === "ready" && isReady)) return;
      clearTimeout(timer);
      if (report.kind === "ready") {
        isReady = true;
        timer = setTimeout(giveUp, drawingTime);
        // A document without an origin can be addressed only as "*"; what it gets is the model's own text.
        current.contentWindow?.postMessage({ source, isDark } satisfies DrawOrder, "*");
      } else if (report.kind === "drawn") {
        setDrawn(true);
        latest.current.onDrawn(report);
      } else latest.current.onFailed(report.problem);
    };
    const stop = listen(window, ["message"], hear);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [source, isDark]);
  return (
    <div class="diagram-frame" aria-busy={!isDrawn}>
      {isDrawn ? undefined : <p class="diagram-note">{messages.drawing}</p>}
      <iframe
        ref={frame}
        class={isDrawn ? "diagram-image" : "diagram-image hidden"}
        sandbox="allow-scripts"
        src="/diagram.html"
        title={messages.diagram}
        tabIndex={-1}
        scrolling="no"
        referrerPolicy="no-referrer"
        width={size?.width ?? 300}
        height={size?.height ?? 150}
        style={size && { aspectRatio: `${size.width} / ${size.height}` }}
      />
    </div>
  );
}
