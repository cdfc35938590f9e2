import { BasaltError } from './basalt-error.ts';
import { callBack } from './call-back.ts';
import { dataBy, type RequestOptions, type Send } from './connection.ts';
import { Failed, repeated, unanswered } from './repeated.ts';

export interface UploadOptions extends RequestOptions {
  /** What the file is called, where it does not say so itself. */
  readonly filename?: string;
  /** Called with 0 to 1; in browsers on the way, elsewhere at the end. */
  readonly onProgress?: (share: number) => void;
  /** Private files are read by links of `sign` alone. */
  readonly visibility?: Visibility;
  /** Told the path that the file will have; with it, an upload in parts that was cut off is resumed, by any process. */
  readonly onPath?: (path: string) => void;
  /** The path of an upload in parts of the same file: only what is missing is uploaded. */
  readonly resume?: string;
  /** An access token of the user whose file it is: what `auth.token()` says on their page. */
  readonly token?: string;
}

export type Visibility = 'public' | 'private';

/** A link to a file, or why there is none. */
export type FileLink = { readonly path: string } & (
  | { readonly url: string; readonly expiresAt: string; readonly error?: never }
  | { readonly url?: never; readonly error: { readonly code: 'FILE_NOT_FOUND'; readonly message: string } }
);

/** The sides that pictures are made in, in pixels. */
export type Side = 64 | 128 | 256 | 320 | 480 | 640 | 768 | 1024 | 1280 | 1600 | 2048;

/**
 * A size of a picture, never larger than the picture: `cover`, unless given, cuts to both sides, `contain` keeps it
 * whole.
 */
export interface PictureSize {
  readonly width?: Side;
  readonly height?: Side;
  readonly fit?: 'cover' | 'contain';
  readonly format?: 'webp' | 'avif' | 'jpeg' | 'png';
}

export interface SignOptions extends RequestOptions, PictureSize {
  /** Seconds that the links live: 60 to 604800, an hour unless given. */
  readonly expiresIn?: number;
}

/** A file that is stored; private ones have no address. */
export interface StoredFile {
  readonly path: string;
  /** As it was given, in any script; the path has an ASCII form of it. */
  readonly name: string;
  readonly url: string | null;
  readonly warning?: string;
}

/** A file as the list of them shows it. */
export interface ListedFile {
  readonly path: string;
  /** As it was given, in any script; the path has an ASCII form of it. */
  readonly name: string;
  readonly size: number;
  readonly contentType: string;
  readonly visibility: Visibility;
  readonly owner: string | null;
  readonly url: string | null;
  readonly createdAt: string;
}

interface ListOptions extends RequestOptions {
  /** What names begin with. */
  readonly prefix?: string;
}

/** Up to 50 files; `nextCursor` leads to the next page. */
export interface FilePage {
  readonly items: ListedFile[];
  readonly nextCursor?: string;
}

/** Files of the project with its secret key; with the other one those of the user. */
export const filesOf = (send: Send, fetching: typeof fetch) => {
  const ask = dataBy(send);
  /** A page of the user's own files, newest first. */
  const list = ({ signal, ...query }: ListOptions & { readonly cursor?: string | undefined } = {}): Promise<FilePage> =>
    ask('GET', '/api/storage/files', { query, signal });
  return {
    /**
     * Puts a file straight into storage, past the API: from its reservation to where it is public; over 100 MiB in
     * parts.
     */
    upload: async (file: Blob, options: UploadOptions = {}): Promise<StoredFile> => {
      const { upload } = await import('./upload.ts');
      return upload({ send, fetching, callBack, repeated, unanswered, Failed, BasaltError }, file, options);
    },
    list,
    /** All of them, a page at a time. */
    async *each(options: ListOptions = {}): AsyncGenerator<ListedFile, void, undefined> {
      let cursor: string | undefined;
      do {
        const page: FilePage = await list({ ...options, cursor });
        yield* page.items;
        cursor = page.nextCursor;
      } while (cursor !== undefined);
    },
    /** Links to 1 to 100 files, in the order of their paths; of pictures in a size, where one is given. */
    sign: (paths: readonly string[], { signal, ...asked }: SignOptions = {}): Promise<FileLink[]> =>
      ask('POST', '/api/storage/sign', { body: { paths, ...asked }, signal }),
    /** The address of a public picture in a size; for a private one give the size to `sign`. */
    sized: (url: string, { width: w, height: h, fit, format }: PictureSize): string => {
      const address = new URL(url);
      for (const [name, value] of Object.entries({ w, h, fit, format })) {
        if (value !== undefined) address.searchParams.set(name, String(value));
      }
      return address.href;
    },
    /** Makes a file public or private; its address, where it has one then. */
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
