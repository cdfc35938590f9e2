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
}

/** A file that is stored. */
export interface StoredFile {
  readonly path: string;
  readonly url: string | null;
  readonly warning?: string;
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

/** Files of the project, with its secret key. */
export const filesOf = (send: Send, fetching: typeof fetch) => ({
  /** Puts a file straight into storage, past the API: from its reservation to where it is public. */
  upload: async (file: Blob, { filename, onProgress, signal }: UploadOptions = {}): Promise<StoredFile> => {
    const { size } = file;
    const contentType = file.type || 'application/octet-stream';
    const name = filename ?? ('name' in file ? String(file.name) : 'file');
    const { signedUrl, filePath } = await send<{ readonly signedUrl: string; readonly filePath: string }>(
      'POST',
      '/api/storage/upload-request',
      { body: { filename: name, contentType, size }, signal },
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
  delete: async (path: string, options?: RequestOptions): Promise<void> => {
    await send('DELETE', '/api/storage/file', { body: { path }, ...options });
  },
});
