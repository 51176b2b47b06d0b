/** Images, PDF files and texts in messages, and images and PDF files in results. */

/** What a file is, by its bytes (N65); texts of all kinds are `text/plain` (X49). */
export type AttachmentType = "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "application/pdf" | "text/plain";

/** What formats may show of an attachment (N66). */
export interface AttachmentSummary {
  /** Of the file, without folders. */
  readonly name: string;
  readonly mediaType: AttachmentType;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** A file that the model sees. */
export interface Attachment extends AttachmentSummary {
  /** Pixels; images only. */
  readonly width?: number;
  readonly height?: number;
  /** Base64. No format shows it. */
  readonly data: string;
}
