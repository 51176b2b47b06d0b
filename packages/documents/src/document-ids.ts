/** `doc_` and the sequence number, at least three digits: `doc_001`, `doc_1000` (N9). */
export function toDocumentId(sequence: number): string {
  return `doc_${String(sequence).padStart(3, "0")}`;
}
