import { BasaltError } from './basalt-error.ts';
import { callBack } from './call-back.ts';
import { dataBy, type RequestOptions, type Send } from './connection.ts';
import { Failed, repeated, unanswered } from './repeated.ts';

export interface UploadOptions extends RequestOptions {
  /** The file's name, if the file itself has none. */
  readonly filename?: string;
  /** Called with 0 to 1: during the upload in browsers, otherwise at the end. */
  readonly onProgress?: (share: number) => void;
  /** Private files can only be read with links from `sign`. */
  readonly visibility?: Visibility;
  /** Receives the future path of the file. With it any process can resume an interrupted upload in parts. */
  readonly onPath?: (path: string) => void;
  /** The path of an interrupted upload in parts of the same file. Only the missing parts are uploaded. */
  readonly resume?: string;
  /** The document that the file belongs to; it decides who may use the file. Such a file is private. */
  readonly of?: FileDocument;
  /** An access token of the user who will own the file: the result of `auth.token()` on their page. */
  readonly token?: string;
}

/** A document with files. */
export interface FileDocument {
  readonly collection: string;
  readonly id: string;
}

export type Visibility = 'public' | 'private';

/** A link to a file, or the reason why it could not be made. */
export type FileLink = { readonly path: string } & (
  | { readonly url: string; readonly expiresAt: string; readonly error?: never }
  | { readonly url?: never; readonly error: { readonly code: 'FILE_NOT_FOUND'; readonly message: string } }
);

/** Widths and heights of resized pictures, in pixels. */
export type Side = 64 | 128 | 256 | 320 | 480 | 640 | 768 | 1024 | 1280 | 1600 | 2048;

/**
 * A size of a picture, never larger than the original. `cover`, the default, crops to both sides; `contain` keeps
 * the whole picture.
 */
export interface PictureSize {
  readonly width?: Side;
  readonly height?: Side;
  readonly fit?: 'cover' | 'contain';
  readonly format?: 'webp' | 'avif' | 'jpeg' | 'png';
}

export interface SignOptions extends RequestOptions, PictureSize {
  /** How long the links are valid, in seconds: 60 to 604800, an hour by default. */
  readonly expiresIn?: number;
}

/** A stored file. Private files have no address. */
export interface StoredFile {
  readonly path: string;
  /** The original name; the path has an ASCII form of it. */
  readonly name: string;
  readonly url: string | null;
  readonly warning?: string;
}

/** A file in a list. */
export interface ListedFile {
  readonly path: string;
  /** The original name; the path has an ASCII form of it. */
  readonly name: string;
  readonly size: number;
  readonly contentType: string;
  readonly visibility: Visibility;
  readonly owner: string | null;
  readonly url: string | null;
  readonly createdAt: string;
}

interface ListOptions extends RequestOptions {
  /** The beginning of the names. */
  readonly prefix?: string;
}

type PageOptions = ListOptions & Partial<FileDocument> & { readonly cursor?: string | undefined };

/** Up to 50 files; `nextCursor` leads to the next page. */
export interface FilePage {
  readonly items: ListedFile[];
  readonly nextCursor?: string;
}

/** The files of the project with the secret key, otherwise those of the user. */
export const filesOf = (send: Send, fetching: typeof fetch) => {
  const ask = dataBy(send);
  /** A page of the user's own files, or of a document's, newest first. */
  const list = ({ signal, ...query }: PageOptions = {}): Promise<FilePage> =>
    ask('GET', '/api/storage/files', { query, signal });
  async function* each(options: PageOptions = {}): AsyncGenerator<ListedFile, void, undefined> {
    let cursor: string | undefined;
    do {
      const page: FilePage = await list({ ...options, cursor });
      yield* page.items;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }
  return {
    /** Uploads a file directly to the storage and publishes it; over 100 MiB in parts. */
    upload: async (file: Blob, options: UploadOptions = {}): Promise<StoredFile> => {
      const { upload } = await import('./upload.ts');
      return upload({ send, fetching, callBack, repeated, unanswered, Failed, BasaltError }, file, options);
    },
    list,
    /** All files, page by page. */
    each,
    /** All files of a document that the caller may read, newest first. */
    of: (collection: string, id: string, options: ListOptions = {}): AsyncGenerator<ListedFile, void, undefined> =>
      each({ ...options, collection, id }),
    /** Links to 1 to 100 files, in the order of their paths; for pictures optionally in a size. */
    sign: (paths: readonly string[], { signal, ...asked }: SignOptions = {}): Promise<FileLink[]> =>
      ask('POST', '/api/storage/sign', { body: { paths, ...asked }, signal }),
    /** The address of a public picture in a size. For a private one pass the size to `sign`. */
    sized: (url: string, { width: w, height: h, fit, format }: PictureSize): string => {
      const address = new URL(url);
      for (const [name, value] of Object.entries({ w, h, fit, format })) {
        if (value !== undefined) address.searchParams.set(name, String(value));
      }
      return address.href;
    },
    /** Makes a file public or private. Returns its address if it has one. */
    setVisibility: (
      path: string,
      visibility: Visibility,
      options?: RequestOptions,
    ): Promise<{ readonly path: string; readonly url: string | null }> =>
      ask('PATCH', '/api/storage/file', { body: { path, visibility }, ...options }),
    delete: async (path: string, options?: RequestOptions): Promise<void> => {
      await send('DELETE', '/api/storage/file', { body: { path }, ...options });
    },
  };
};
