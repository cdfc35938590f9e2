const MiB = 1024 * 1024;

/** Every part but the last has so many bytes: S3 takes no fewer than 5 MiB. */
export const partBytes = 8 * MiB;

/** What S3 makes of parts may be more, but can be copied up to here alone. */
export const largestInParts = 5 * 1024 * MiB;

export interface FilePart {
  /** From 1. */
  readonly number: number;
  /** Bytes. */
  readonly size: number;
}

/** A part that the storage has; `etag` is as the storage writes it. */
export interface StoredPart extends FilePart {
  readonly etag: string;
}

/** The parts of a file of `size` bytes, at most 640. */
export const partsOf = (size: number): readonly FilePart[] =>
  Array.from({ length: Math.ceil(size / partBytes) }, (_, at) => ({
    number: at + 1,
    size: Math.min(partBytes, size - at * partBytes),
  }));

/** Which of them are stored with the length that they must have, and which are missing. */
export const sortParts = (size: number, stored: readonly StoredPart[]) => {
  const known = new Map(stored.map((part) => [part.number, part]));
  const arrived: StoredPart[] = [];
  const missing: FilePart[] = [];
  for (const part of partsOf(size)) {
    const found = known.get(part.number);
    if (found?.size === part.size) arrived.push(found);
    else missing.push(part);
  }
  return { arrived, missing };
};
