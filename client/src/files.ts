import { BasaltError } from './basalt-error.ts';
import { callBack } from './call-back.ts';
import type { RequestOptions, Send } from './connection.ts';
import { page } from './page.ts';
import { Failed, repeated, unanswered } from './repeated.ts';

export interface UploadOptions extends RequestOptions {
  /** What the file is called, where it does not say so itself. */
  readonly filename?: string;
  /** Called with 0 to 1; in browsers on the way, elsewhere at the end. */
  readonly onProgress?: (share: number) => void;
  /** Private files are read by links of `sign` alone. */
  readonly visibility?: Visibility;
  /** An access token of the user whose file it is: what `auth.token()` says on their page. */
  readonly token?: string;
}

type Visibility = 'public' | 'private';

/** A link to a file, or why there is none. */
export type FileLink = { readonly path: string } & (
  | { readonly url: string; readonly expiresAt: string; readonly error?: never }
  | { readonly url?: never; readonly error: { readonly code: 'FILE_NOT_FOUND'; readonly message: string } }
);

export interface SignOptions extends RequestOptions {
  /** Seconds that the links live: 60 to 604800, an hour unless given. */
  readonly expiresIn?: number;
}

/** A file that is stored; private ones have no address. */
export interface StoredFile {
  readonly path: string;
  readonly url: string | null;
  readonly warning?: string;
}

/** A file as the list of them shows it. */
export interface ListedFile {
  readonly path: string;
  readonly name: string;
  readonly size: number;
  readonly contentType: string;
  readonly visibility: Visibility;
  readonly owner: string | null;
  readonly url: string | null;
  readonly createdAt: string;
}

export interface ListOptions extends RequestOptions {
  /** What names begin with. */
  readonly prefix?: string;
}

/** Up to 50 files; `nextCursor` leads to the next page. */
export interface FilePage {
  readonly items: ListedFile[];
  readonly nextCursor?: string;
}

type Uploader = NonNullable<typeof page.XMLHttpRequest>;

const putWithProgress = (
  Request: Uploader,
  url: string,
  file: Blob,
  type: string,
  onProgress: (share: number) => void,
  signal: AbortSignal | undefined,
) =>
  new Promise<number>((resolve, reject) => {
    const request = new Request();
    request.open('PUT', url);
    request.setRequestHeader('content-type', type);
    request.upload.onprogress = ({ loaded }) => onProgress(loaded / file.size);
    request.onload = () => resolve(request.status);
    request.onerror = reject;
    request.onabort = reject;
    signal?.addEventListener('abort', () => request.abort(), { once: true });
    request.send(file);
  });

/** Files of the project with its secret key; with the other one those of the user. */
export const filesOf = (send: Send, fetching: typeof fetch) => ({
  /** Puts a file straight into storage, past the API: from its reservation to where it is public. */
  upload: async (file: Blob, options: UploadOptions = {}): Promise<StoredFile> => {
    const { filename, onProgress, visibility, token, signal } = options;
    const { size } = file;
    const contentType = file.type || 'application/octet-stream';
    const name = filename ?? ('name' in file ? String(file.name) : 'file');
    const { signedUrl, filePath } = await send<{ readonly signedUrl: string; readonly filePath: string }>(
      'POST',
      '/api/storage/upload-request',
      {
        body: { filename: name, contentType, size, visibility },
        headers: { authorization: token && `Bearer ${token}` },
        signal,
      },
    );
    const tell = (share: number): void => callBack(() => onProgress?.(share));
    await repeated(async () => {
      let status: number;
      try {
        status =
          onProgress && page.XMLHttpRequest
            ? await putWithProgress(page.XMLHttpRequest, signedUrl, file, contentType, tell, signal)
            : (
                await fetching(signedUrl, {
                  method: 'PUT',
                  headers: { 'content-type': contentType },
                  body: file,
                  signal: signal ?? null,
                })
              ).status;
      } catch (cause) {
        return unanswered(cause);
      }
      if (status < 300) return undefined;
      return new Failed(new BasaltError({ status, code: 'UPLOAD_FAILED', message: `The storage answered ${status}.` }));
    }, signal);
    tell(1);
    return send<StoredFile>('POST', '/api/storage/upload-confirm', { body: { filePath, size }, signal });
  },
  /** A page of the user's own files, newest first. */
  list: async ({ signal, ...query }: ListOptions & { readonly cursor?: string | undefined } = {}): Promise<FilePage> =>
    (await send<{ readonly data: FilePage }>('GET', '/api/storage/files', { query, signal })).data,
  /** All of them, a page at a time. */
  async *each(options: ListOptions = {}): AsyncGenerator<ListedFile, void, undefined> {
    let cursor: string | undefined;
    do {
      const page: FilePage = await this.list({ ...options, cursor });
      yield* page.items;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  },
  /** Links to 1 to 100 files, in the order of their paths. */
  sign: async (paths: readonly string[], { expiresIn, signal }: SignOptions = {}): Promise<FileLink[]> =>
    (await send<{ readonly data: FileLink[] }>('POST', '/api/storage/sign', { body: { paths, expiresIn }, signal }))
      .data,
  /** Makes a file public or private; its address, where it has one then. */
  setVisibility: async (
    path: string,
    visibility: Visibility,
    options?: RequestOptions,
  ): Promise<{ readonly path: string; readonly url: string | null }> => {
    const body = { path, visibility };
    return (
      await send<{ readonly data: { readonly path: string; readonly url: string | null } }>(
        'PATCH',
        '/api/storage/file',
        { body, ...options },
      )
    ).data;
  },
  delete: async (path: string, options?: RequestOptions): Promise<void> => {
    await send('DELETE', '/api/storage/file', { body: { path }, ...options });
  },
});
