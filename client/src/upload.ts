import type { BasaltError } from './basalt-error.ts';
import type { RequestOptions, Send } from './connection.ts';
import type { StoredFile, UploadOptions } from './files.ts';
import type { Page } from './page.ts';
import type { Failed, repeated, unanswered } from './repeated.ts';

// Loaded by the first upload. It receives what the client already has.

/** The functions that an upload uses: requests to the service, and retries for the storage. */
interface Tools {
  readonly send: Send;
  readonly fetching: typeof fetch;
  readonly repeated: typeof repeated;
  readonly unanswered: typeof unanswered;
  readonly Failed: typeof Failed;
  readonly BasaltError: typeof BasaltError;
  readonly callBack: (call: () => void) => void;
}

/** Sends bytes to a signed URL. `onLoaded` receives how many were sent, in browsers during the upload. */
type Put = (url: string, bytes: Blob, onLoaded: (loaded: number) => void) => Promise<void>;

type Uploader = NonNullable<Page['XMLHttpRequest']>;

const putWithProgress = (
  Request: Uploader,
  url: string,
  body: Blob,
  type: string,
  onLoaded: (loaded: number) => void,
  signal: AbortSignal | undefined,
) =>
  new Promise<number>((resolve, reject) => {
    const request = new Request();
    request.open('PUT', url);
    request.setRequestHeader('content-type', type);
    request.upload.onprogress = ({ loaded }) => onLoaded(loaded);
    request.onload = () => resolve(request.status);
    request.onerror = reject;
    request.onabort = reject;
    signal?.addEventListener('abort', () => request.abort(), { once: true });
    request.send(body);
  });

/** The state of an upload in parts: the bytes stored, and the next missing parts. */
interface Missing {
  readonly partSize: number;
  readonly uploaded: number;
  readonly parts: readonly { readonly number: number; readonly size: number; readonly signedUrl: string }[];
}

const lanes = 4;

/** Uploads the missing parts of a file, four at a time. `tell` receives the number of stored bytes. */
const uploadParts = async (
  send: Send,
  put: Put,
  file: Blob,
  filePath: string,
  { signal }: RequestOptions,
  tell: (bytes: number) => void,
): Promise<void> => {
  for (let known = -1; ; ) {
    const body = { filePath, size: file.size };
    const { data } = await send<{ readonly data: Missing }>('POST', '/api/storage/upload-parts', { body, signal });
    const { partSize, uploaded, parts } = data;
    // A storage that accepts parts but does not list them: the confirmation reports what is wrong.
    if (parts.length === 0 || uploaded <= known) return;
    known = uploaded;
    const loaded = new Map<number, number>();
    const left = [...parts];
    const lane = async (): Promise<void> => {
      for (let part = left.shift(); part; part = left.shift()) {
        const { number, size, signedUrl } = part;
        const start = (number - 1) * partSize;
        const onLoaded = (bytes: number): void => {
          loaded.set(number, bytes);
          tell(uploaded + [...loaded.values()].reduce((sum, one) => sum + one, 0));
        };
        await put(signedUrl, file.slice(start, start + size), onLoaded);
        onLoaded(size);
      }
    };
    tell(uploaded);
    // A failed part cancels the others before its error is thrown.
    const ended = await Promise.allSettled(
      Array.from({ length: lanes }, () =>
        lane().catch((error: unknown) => {
          left.length = 0;
          throw error;
        }),
      ),
    );
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
  }
};

/** Larger files are uploaded in parts, which only a project's own bucket accepts. */
const inParts = 100 * 1024 * 1024;

/** Uploads a file from request to confirmation, or resumes an earlier upload. */
export const upload = async (
  { send, fetching, callBack, repeated, unanswered, Failed, BasaltError }: Tools,
  file: Blob,
  { filename, onProgress, visibility, of, token, signal, onPath, resume }: UploadOptions,
): Promise<StoredFile> => {
  const { size } = file;
  const type = file.type || 'application/octet-stream';
  const name = filename ?? ('name' in file ? String(file.name) : 'file');
  const requested = resume
    ? { filePath: resume }
    : await send<{ readonly signedUrl?: string; readonly filePath: string }>('POST', '/api/storage/upload-request', {
        body: { filename: name, contentType: type, size, visibility, of },
        headers: { authorization: token && `Bearer ${token}` },
        signal,
      });
  const { signedUrl, filePath } = requested;
  callBack(() => onPath?.(filePath));
  const tell = (bytes: number): void => callBack(() => onProgress?.(bytes / size));
  const putOnce = async (...[url, body, onLoaded]: Parameters<Put>): Promise<number> => {
    const { XMLHttpRequest }: Page = globalThis as Page;
    if (onProgress && XMLHttpRequest) return putWithProgress(XMLHttpRequest, url, body, type, onLoaded, signal);
    const headers = { 'content-type': type };
    return (await fetching(url, { method: 'PUT', headers, body, signal: signal ?? null })).status;
  };
  const put: Put = (...bytes) =>
    repeated(async () => {
      let status: number;
      try {
        status = await putOnce(...bytes);
      } catch (cause) {
        return unanswered(cause);
      }
      if (status < 300) return undefined;
      return new Failed(new BasaltError({ status, code: 'UPLOAD_FAILED', message: `The storage returned ${status}.` }));
    }, signal);
  if (signedUrl && size <= inParts) await put(signedUrl, file, tell);
  else await uploadParts(send, put, file, filePath, { signal }, tell);
  tell(size);
  return send<StoredFile>('POST', '/api/storage/upload-confirm', { body: { filePath, size }, signal });
};
