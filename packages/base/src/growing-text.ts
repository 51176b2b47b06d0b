/** Text that grows by many small pieces. */

export interface GrowingText {
  push(piece: string): void;
  readonly text: string;
}

/** Number of pieces that are joined at once. */
const PIECES = 1024;

/** Creates an empty text. It needs little memory beyond the characters, while `+=` retains an object for each piece. */
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
