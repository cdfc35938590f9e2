import type { Answer } from '../clients/client.ts';
import type { TestProject } from './project.ts';

export interface Requested {
  readonly signedUrl: string;
  readonly filePath: string;
}

export interface Confirmed {
  readonly message: string;
  readonly path: string;
  readonly provider: string;
  readonly url: string | null;
  readonly warning?: string;
}

/** A picture, as small as one can be: a PNG. */
export const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

type Uploader = Pick<TestProject, 'api'>;

/** Step one of an upload. */
export const request = (
  { api }: Uploader,
  size: number,
  filename = 'notes.txt',
  contentType = 'text/plain',
): Promise<Answer<Requested>> => api('POST', '/api/storage/upload-request', { body: { filename, contentType, size } });

/** Step two: the status with which the storage answers. */
export const put = async (
  signedUrl: string,
  bytes: Uint8Array | string,
  contentType = 'text/plain',
): Promise<number> => {
  const answer = await fetch(signedUrl, { method: 'PUT', headers: { 'content-type': contentType }, body: bytes });
  await answer.arrayBuffer();
  return answer.status;
};

/** Step three. */
export const confirm = ({ api }: Uploader, filePath: string, size: number): Promise<Answer<Confirmed>> =>
  api('POST', '/api/storage/upload-confirm', { body: { filePath, size } });

export const remove = ({ api }: Uploader, path: string): Promise<Answer> =>
  api('DELETE', '/api/storage/file', { body: { path } });

/** An upload that was requested and has arrived. */
export const uploaded = async (
  project: Uploader,
  bytes: Uint8Array | string,
  contentType = 'text/plain',
): Promise<Requested> => {
  const { status, body } = await request(project, Buffer.byteLength(bytes), 'notes.txt', contentType);
  if (status !== 200) throw new Error(`upload-request answered ${JSON.stringify(body)}`);
  const stored = await put(body.signedUrl, bytes, contentType);
  if (stored !== 200) throw new Error(`the storage answered ${stored}`);
  return body;
};

/** All three steps. */
export const uploadFile = async (
  project: Uploader,
  bytes: Uint8Array | string,
  contentType = 'text/plain',
): Promise<Confirmed> => {
  const { filePath } = await uploaded(project, bytes, contentType);
  const { status, body } = await confirm(project, filePath, Buffer.byteLength(bytes));
  if (status !== 200) throw new Error(`upload-confirm answered ${JSON.stringify(body)}`);
  return body;
};

/** What anybody finds at the public address of a file: status, and the text of it where there is one. */
export const read = async (url: string | null): Promise<{ readonly status: number; readonly text: string }> => {
  const answer = await fetch(url ?? '');
  const text = await answer.text();
  return { status: answer.status, text: answer.ok ? text : '' };
};
