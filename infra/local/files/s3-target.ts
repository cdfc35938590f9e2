import { S3Error } from './s3-error.ts';

/** What a request is about: `/<bucket>/<key>`, as it was sent, and the question after it. */
export interface S3Target {
  /** Still percent-encoded, as it was signed. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/**
 * The emulation makes each part of a key the name of a file with an ending, and files have names of 255 bytes at most.
 */
const maxSegmentBytes = 240;
const maxKeyBytes = 1024;

/** Reads the target of a request; a path that S3, or a folder of files, cannot have → `S3Error`. */
export const targetOf = (url: string): S3Target => {
  const question = url.indexOf('?');
  const path = question < 0 ? url : url.slice(0, question);
  let parts: string[];
  try {
    parts = path.split('/').map(decodeURIComponent);
  } catch {
    throw new S3Error('InvalidURI');
  }
  if (parts.some((part) => part === '.' || part === '..' || /[\0\\/]/.test(part))) throw new S3Error('InvalidURI');
  const key = parts.slice(2).join('/');
  if (Buffer.byteLength(key) > maxKeyBytes || parts.some((part) => Buffer.byteLength(part) > maxSegmentBytes)) {
    throw new S3Error('KeyTooLongError');
  }
  return { path, query: new URLSearchParams(question < 0 ? '' : url.slice(question + 1)) };
};
