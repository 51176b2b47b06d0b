import { useEffect, useRef, useState } from "preact/hooks";
import { listen } from "../elements/listen.ts";
import { useMessages } from "../messages/use-messages.ts";
import { type DrawOrder, readReport } from "./frame-messages.ts";

/** Width and height in CSS pixels. */
export interface DiagramSize {
  readonly width: number;
  readonly height: number;
}

interface DiagramFrameProps {
  readonly source: string;
  readonly isDark: boolean;
  /** Size of an earlier drawing, so that the new one moves no other row. */
  readonly size: DiagramSize | undefined;
  readonly onDrawn: (size: DiagramSize) => void;
  /** Called with the library's `problem`, which is untrusted text; undefined if the drawing took too long. */
  readonly onFailed: (problem: string | undefined) => void;
}

/** Milliseconds for the drawing, after the frame has loaded. */
const drawingTime = 8000;
/** Milliseconds for loading the frame, which is about 3 MB. */
const loadingTime = 60_000;

/**
 * Draws an untrusted source in a separate document, which has no origin and no network and can't reach the page
 * (S-112). If it takes too long, the page removes the frame with its process.
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
      // A source could repeat "ready" to get more time.
      if (report === undefined || (report.kind === "ready" && isReady)) return;
      clearTimeout(timer);
      if (report.kind === "ready") {
        isReady = true;
        timer = setTimeout(giveUp, drawingTime);
        // A document without an origin has only the address "*"; the message contains only the model's text.
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
