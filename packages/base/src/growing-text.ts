/** Text that grows by many small pieces. */

export interface GrowingText {
  push(piece: string): void;
  readonly text: string;
}

/** Pieces that are joined at once. */
const PIECES = 1024;

/** Empty. It keeps little more than the characters, where `+=` keeps an object for each piece that ever came. */
export function createGrowingText(): GrowingText {
  let text = "";
  let pieces: string[] = [];
  const join = (): void => {
    text += pieces.join("");
    pieces = [];
  };
  return {
    push(piece) {
      pieces.push(piece);
      if (pieces.length === PIECES) join();
    },
    get text() {
      if (pieces.length > 0) join();
      return text;
    },
  };
}
