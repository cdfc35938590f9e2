import { type KeyObject, sign, verify } from 'node:crypto';
import { nowSeconds } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import type { Project } from '../projects/project.ts';
import { customerBucket } from './bucket-of.ts';
import {
  addressOf,
  type FileAccess,
  type FileItem,
  fileKey,
  fileNotFound,
  filesOrigin,
  isPathOf,
} from './file-items.ts';
import { type ImageSizeQuery, variantQuery } from './images/variant.ts';
import { currentLinkKey, type LinkKey } from './link-keys.ts';
import { filesAt } from './list-files.ts';

// CloudFront signed URLs with a canned policy.

const algorithm = 'sha256';

/** `expires` in seconds since 1970. */
const policyOf = (address: string, expires: number): Buffer =>
  Buffer.from(`{"Statement":[{"Resource":"${address}","Condition":{"DateLessThan":{"AWS:EpochTime":${expires}}}}]}`);

/** CloudFront's base64 alphabet. */
const toText = (bytes: Buffer): string =>
  bytes.toString('base64').replaceAll('+', '-').replaceAll('=', '_').replaceAll('/', '~');

const toBytes = (text: string): Buffer =>
  Buffer.from(text.replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/'), 'base64');

/** `expires` in seconds since 1970. */
export const signedAddress = (address: string, expires: number, { id, privateKey }: LinkKey): string => {
  const signature = toText(sign(algorithm, policyOf(address, expires), privateKey));
  const asked = `Expires=${expires}&Signature=${signature}&Key-Pair-Id=${id}&Hash-Algorithm=SHA256`;
  return `${address}${address.includes('?') ? '&' : '?'}${asked}`;
};

const ofSignature = new Set(['Expires', 'Signature', 'Key-Pair-Id', 'Hash-Algorithm']);

/** True if the address with its query was signed by one of the keys and has not expired at `now` (ms since 1970). */
export const isSigned = (address: string, keys: ReadonlyMap<string, KeyObject>, now: number): boolean => {
  const [place = '', query = ''] = address.split('?', 2);
  const parts = query.split('&').map((part) => part.split('=', 2) as [string, string?]);
  const given = parts.filter(([name]) => ofSignature.has(name));
  const { Expires = '', Signature = '', 'Key-Pair-Id': id = '', 'Hash-Algorithm': hash } = Object.fromEntries(given);
  const key = keys.get(id);
  if (given.length !== ofSignature.size || !key || hash !== 'SHA256' || !/^[1-9]\d{0,11}$/.test(Expires)) return false;
  const others = query.split('&').filter((part) => !ofSignature.has(part.split('=', 1)[0] ?? ''));
  const signed = others.length > 0 ? `${place}?${others.join('&')}` : place;
  const bytes = toBytes(Signature);
  // Rejects other spellings of the same bytes.
  if (toText(bytes) !== Signature || Number(Expires) * 1000 <= now) return false;
  return verify(algorithm, policyOf(signed, Number(Expires)), key, bytes);
};

interface LinksRequest extends ImageSizeQuery {
  /** 1 to 100. */
  readonly paths: readonly string[];
  /** Seconds. */
  readonly expiresIn: number;
}

const filesAmong = async (project: Project, paths: readonly string[]): Promise<ReadonlyMap<string, FileItem>> => {
  const own = [...new Set(paths)].filter((path) => isPathOf(project.id, path));
  const items = await filesAt(project, own);
  return new Map(own.flatMap((path, at) => (items[at] ? [[path, items[at]] as const] : [])));
};

const hostedOnly = (): AppError =>
  new AppError('HOSTED_FILES_ONLY', 'Image resizing works only for hosted files. This project uses its own bucket.');

/** For a private file: a link at our address, or a presigned URL of the customer's storage. */
const signer = async (project: Project, now: number, size: string) => {
  if (project.storage.kind === 'external') {
    const bucket = await customerBucket(project.id, project.storage);
    return (path: string, { visibility = 'public' }: FileItem, expiresIn: number) =>
      bucket.presignDownload(fileKey(path, visibility), expiresIn);
  }
  const key = await currentLinkKey();
  return (path: string, _file: FileItem, expiresIn: number) =>
    signedAddress(`${filesOrigin()}/${fileKey(path, 'private')}${size}`, now + expiresIn, key);
};

/** The right to a file of a document can end, so its links end soon. */
const maxDocumentLinkSeconds = 300;

/** Files that the caller cannot see get `FILE_NOT_FOUND`. Errors: 400 `INVALID_SIZE`, 409 `HOSTED_FILES_ONLY`. */
export const signLinks = async (project: Project, access: FileAccess, { paths, ...asked }: LinksRequest) => {
  const size = variantQuery(asked);
  if (size !== '' && project.storage.kind === 'external') throw hostedOnly();
  const files = await filesAmong(project, paths);
  const readable = await access.readable([...files.values()]);
  const now = nowSeconds();
  const sign = await signer(project, now, size);
  return Promise.all(
    paths.map(async (path) => {
      const file = files.get(path);
      if (!file || !readable.has(file)) {
        const { message } = fileNotFound();
        return { path, error: { code: 'FILE_NOT_FOUND' as const, message } };
      }
      const open = addressOf(project, path, file.visibility);
      const expiresIn = file.of === undefined ? asked.expiresIn : Math.min(asked.expiresIn, maxDocumentLinkSeconds);
      const url = open === null ? await sign(path, file, expiresIn) : `${open}${size}`;
      return { path, url, expiresAt: new Date((now + expiresIn) * 1000) };
    }),
  );
};
