import { Problem } from './problem.ts';
import { request } from './request.ts';

/**
 * Uploads a file to a signed address of another origin, which only reports success or failure. `onSent` receives the
 * number of bytes sent.
 */
export const putFile = (url: string, file: File, contentType: string, onSent: (bytes: number) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    sending.upload.onprogress = ({ loaded }) => onSent(loaded);
    sending.onload = () =>
      sending.status < 300 ? resolve() : reject(new Problem(sending.status, { code: 'STORAGE_REFUSED' }));
    sending.onerror = () => reject(new Problem(0, {}));
    sending.open('PUT', url);
    sending.setRequestHeader('content-type', contentType);
    sending.send(file);
  });

export type Visibility = 'public' | 'private';

const anyType = 'application/octet-stream';

/**
 * Uploads a file in three steps: reserve space, send the bytes to the storage, publish the file. `onSent` receives
 * the number of bytes sent. Returns the path of the file.
 */
export const uploadFile = async (
  projectId: string,
  file: File,
  visibility: Visibility,
  onSent: (bytes: number) => void,
): Promise<string> => {
  const contentType = file.type || anyType;
  const body = { filename: file.name, contentType, size: file.size, visibility };
  const { signedUrl, filePath } = (await request('request-project-upload', { projectId, body })).data;
  await putFile(signedUrl, file, contentType, onSent);
  await request('confirm-project-upload', { projectId, body: { filePath, size: file.size } });
  return filePath;
};
