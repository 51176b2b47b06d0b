/** Images and PDF files in messages and results. */

/** What an image or a PDF is, by its first bytes (N65). */
export type AttachmentType = "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "application/pdf";

/** What formats may show of an attachment (N66). */
export interface AttachmentSummary {
  /** Of the file, without folders. */
  readonly name: string;
  readonly mediaType: AttachmentType;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** An image or a PDF that the model sees. */
export interface Attachment extends AttachmentSummary {
  /** Pixels; images only. */
  readonly width?: number;
  readonly height?: number;
  /** Base64. No format shows it. */
  readonly data: string;
}
