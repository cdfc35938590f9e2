/** What a bucket tells of an object. `etag` is as the storage writes it, quotes included. */
export interface StoredObject {
  readonly size: number;
  readonly etag: string;
  readonly contentType: string;
}

/** A copy within a bucket: of exactly the version `etag`, and only to where nothing is yet. */
export interface Copy {
  readonly from: string;
  readonly to: string;
  readonly etag: string;
  readonly contentType: string;
}

/** What may be PUT to a presigned URL, and for how many seconds. */
export interface UploadTerms {
  readonly contentType: string;
  readonly size: number;
  readonly expiresIn: number;
}

/**
 * Where the files of a project are kept: one implementation for our bucket, one for S3-compatible ones of the projects'
 * own. A storage that does not answer → 503 `SERVICE_UNAVAILABLE` (ours) or `STORAGE_UNAVAILABLE` (theirs).
 */
export interface Bucket {
  /** A URL to which exactly these bytes of this type may be PUT. Made without a network call. */
  presignUpload(key: string, terms: UploadTerms): Promise<string>;
  /** `null` where there is no such object. */
  head(key: string): Promise<StoredObject | null>;
  put(key: string, bytes: Uint8Array, contentType: string): Promise<void>;
  /** `refused` where the source has changed or something is at the target already; `missing` without a source. */
  copy(copy: Copy): Promise<'copied' | 'refused' | 'missing'>;
  /** Removes up to 1 000 objects; those that are not there do no harm. */
  remove(keys: readonly string[]): Promise<void>;
}
