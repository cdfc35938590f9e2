import type { IncomingMessage } from 'node:http';
import type { Emulation } from './emulation.ts';
import { S3Error } from './s3-error.ts';

const bare = (etag: string): string => etag.trim().replace(/^W\//, '').replaceAll('"', '');

const matches = (condition: string, etag: string | undefined): boolean =>
  etag !== undefined && condition.split(',').some((one) => one.trim() === '*' || bare(one) === bare(etag));

const refuseUnless = (held: boolean): void => {
  if (!held) throw new S3Error('PreconditionFailed');
};

/**
 * The conditions of a write, which the emulation knows nothing of: `If-Match`, `If-None-Match`, and those of a copy on
 * its source. One that does not hold → `S3Error`. Nothing else may write between this and the write.
 */
export const checkWrite = async (emulation: Emulation, { headers }: IncomingMessage, path: string): Promise<void> => {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch !== undefined || ifNoneMatch !== undefined) {
    const etag = (await emulation.head(path))?.etag;
    refuseUnless(ifMatch === undefined || matches(ifMatch, etag));
    refuseUnless(ifNoneMatch === undefined || !matches(ifNoneMatch, etag));
  }
  const source = headers['x-amz-copy-source'];
  const { 'x-amz-copy-source-if-match': sourceIs, 'x-amz-copy-source-if-none-match': sourceIsNot } = headers;
  if (typeof source !== 'string' || (sourceIs === undefined && sourceIsNot === undefined)) return;
  const found = await emulation.head(source.startsWith('/') ? source : `/${source}`);
  if (!found) return;
  refuseUnless(sourceIs === undefined || matches(String(sourceIs), found.etag));
  refuseUnless(sourceIsNot === undefined || !matches(String(sourceIsNot), found.etag));
};

/** Status of a `HEAD` by its conditions: 200, 304 or 412; the emulation always answers 200. */
export const headStatus = ({ headers }: IncomingMessage, etag: string | undefined): 200 | 304 | 412 => {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch !== undefined && !matches(ifMatch, etag)) return 412;
  return ifNoneMatch !== undefined && matches(ifNoneMatch, etag) ? 304 : 200;
};
