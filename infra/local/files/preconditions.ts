import type { IncomingMessage } from 'node:http';
import type { Emulation } from './emulation.ts';
import { S3Error } from './s3-request.ts';

const bare = (etag: string): string => etag.trim().replace(/^W\//, '').replaceAll('"', '');

const matches = (condition: string, etag: string | undefined): boolean =>
  etag !== undefined && condition.split(',').some((one) => one.trim() === '*' || bare(one) === bare(etag));

const require = (condition: boolean): void => {
  if (!condition) throw new S3Error('PreconditionFailed');
};

/**
 * Checks the conditions of a write, which fauxqs ignores: `If-Match`, `If-None-Match` and those of a copy's source.
 * Throws `S3Error` if one is false. The caller must prevent other writes until its own is complete.
 */
export const checkWrite = async (emulation: Emulation, { headers }: IncomingMessage, path: string): Promise<void> => {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch !== undefined || ifNoneMatch !== undefined) {
    const etag = (await emulation.head(path))?.etag;
    require(ifMatch === undefined || matches(ifMatch, etag));
    require(ifNoneMatch === undefined || !matches(ifNoneMatch, etag));
  }
  const source = headers['x-amz-copy-source'];
  const { 'x-amz-copy-source-if-match': sourceIs, 'x-amz-copy-source-if-none-match': sourceIsNot } = headers;
  if (typeof source !== 'string' || (sourceIs === undefined && sourceIsNot === undefined)) return;
  const found = await emulation.head(source.startsWith('/') ? source : `/${source}`);
  if (!found) return;
  require(sourceIs === undefined || matches(String(sourceIs), found.etag));
  require(sourceIsNot === undefined || !matches(String(sourceIsNot), found.etag));
};

/** The status of a `HEAD` by its conditions; fauxqs always returns 200. */
export const headStatus = ({ headers }: IncomingMessage, etag: string | undefined): 200 | 304 | 412 => {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch !== undefined && !matches(ifMatch, etag)) return 412;
  return ifNoneMatch !== undefined && matches(ifNoneMatch, etag) ? 304 : 200;
};
