import { GetObjectCommand } from '@aws-sdk/client-s3';
import { ifThere, onPages } from './s3.ts';

export const consoleFolder = 'site';

/** `path` is `/index.html` for example; `undefined` if there is no such file. */
export const loadConsoleFile = (path: string) =>
  onPages(async (client, Bucket) => {
    const found = await ifThere(client.send(new GetObjectCommand({ Bucket, Key: `${consoleFolder}${path}` })));
    const bytes = await found?.Body?.transformToByteArray();
    if (!found || !bytes) return undefined;
    const {
      ContentType: type = 'application/octet-stream',
      CacheControl: cacheControl = 'no-cache',
      ETag: etag,
    } = found;
    return { bytes, type, cacheControl, etag: etag ?? '' };
  });
