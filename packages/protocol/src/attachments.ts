/** Images, PDF files and texts in messages, and images and PDF files in results. */

/** Type of a file, by its bytes (N65); texts of all kinds are `text/plain` (X49). */
export type AttachmentType = "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "application/pdf" | "text/plain";

/** Parts of an attachment that output formats may show (N66). */
export interface AttachmentSummary {
  /** Name of the file, without folders. */
  readonly name: string;
  readonly mediaType: AttachmentType;
  readonly bytes: number;
  /** SHA-256 of the bytes, hex. */
  readonly sha256: string;
}

/** A file that the model sees. */
export interface Attachment extends AttachmentSummary {
  /** Width of an image. Pixels. */
  readonly width?: number;
  readonly height?: number;
  /** Bytes as base64. No output format shows them. */
  readonly data: string;
}
