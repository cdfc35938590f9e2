import { type KeyObject, sign, verify } from 'node:crypto';
import { nowSeconds } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import type { Caller, Project } from '../projects/project.ts';
import { customerBucket } from './bucket-of.ts';
import { addressOf, type FileItem, fileKey, fileNotFound, filesOrigin, isHiddenFrom, isPathOf } from './file-items.ts';
import { type AskedSize, sizeQuery } from './images/variant.ts';
import { currentLinkKey, type LinkKey } from './link-keys.ts';
import { filesAt } from './list-files.ts';

// Signed URLs of CloudFront with a canned policy, as its documentation has them: the address with its query, and a
// time.

const algorithm = 'sha256';

/** What a signature is over; `expires` in seconds since 1970. */
const policyOf = (address: string, expires: number): Buffer =>
  Buffer.from(`{"Statement":[{"Resource":"${address}","Condition":{"DateLessThan":{"AWS:EpochTime":${expires}}}}]}`);

/** Base64 as CloudFront writes it in an address. */
const toText = (bytes: Buffer): string =>
  bytes.toString('base64').replaceAll('+', '-').replaceAll('=', '_').replaceAll('/', '~');

const toBytes = (text: string): Buffer =>
  Buffer.from(text.replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/'), 'base64');

/** An address that opens until `expires`, seconds since 1970. */
export const signedAddress = (address: string, expires: number, { id, privateKey }: LinkKey): string => {
  const signature = toText(sign(algorithm, policyOf(address, expires), privateKey));
  const asked = `Expires=${expires}&Signature=${signature}&Key-Pair-Id=${id}&Hash-Algorithm=SHA256`;
  return `${address}${address.includes('?') ? '&' : '?'}${asked}`;
};

const ofSignature = new Set(['Expires', 'Signature', 'Key-Pair-Id', 'Hash-Algorithm']);

/**
 * Whether an address, with all of its query, was signed with one of the keys and has not expired at `now` (ms since
 * 1970): each parameter of the signature once, every other one part of what was signed.
 */
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
  // Other spellings of the same bytes are none of ours.
  if (toText(bytes) !== Signature || Number(Expires) * 1000 <= now) return false;
  return verify(algorithm, policyOf(signed, Number(Expires)), key, bytes);
};

/** Files, and the size of pictures that the links open. */
interface LinksRequest extends AskedSize {
  /** 1 to 100. */
  readonly paths: readonly string[];
  /** Seconds. */
  readonly expiresIn: number;
}

/** The confirmed files among some paths. */
const filesAmong = async (project: Project, paths: readonly string[]): Promise<ReadonlyMap<string, FileItem>> => {
  const own = [...new Set(paths)].filter((path) => isPathOf(project.id, path));
  const items = await filesAt(project, own);
  return new Map(own.flatMap((path, at) => (items[at] ? [[path, items[at]] as const] : [])));
};

const hostedOnly = (): AppError =>
  new AppError('HOSTED_FILES_ONLY', 'Image resizing works only for hosted files. This project uses its own bucket.');

/** Makes the link of a private file: at our address, or by the project's own storage to where the file is now. */
const signer = async (project: Project, expiresIn: number, expires: number, size: string) => {
  if (project.storage.kind === 'external') {
    const bucket = await customerBucket(project.id, project.storage);
    return (path: string, { visibility = 'public' }: FileItem) =>
      bucket.presignDownload(fileKey(path, visibility), expiresIn);
  }
  const key = await currentLinkKey();
  return (path: string) => signedAddress(`${filesOrigin()}/${fileKey(path, 'private')}${size}`, expires, key);
};

/**
 * Links that open files for a while (contract 4, "Signed links"): any file with the secret key, otherwise those of the
 * user. What is not there for the caller is answered with `FILE_NOT_FOUND` in its place. A size that there is none of →
 * 400 `INVALID_SIZE`, one of files in a storage of the project's own → 409 `HOSTED_FILES_ONLY`.
 */
export const signLinks = async (project: Project, caller: Caller, { paths, expiresIn, ...asked }: LinksRequest) => {
  const size = sizeQuery(asked);
  if (size !== '' && project.storage.kind === 'external') throw hostedOnly();
  const files = await filesAmong(project, paths);
  const expires = nowSeconds() + expiresIn;
  const sign = await signer(project, expiresIn, expires, size);
  return Promise.all(
    paths.map(async (path) => {
      const file = files.get(path);
      if (!file || isHiddenFrom(caller, file)) {
        const { message } = fileNotFound();
        return { path, error: { code: 'FILE_NOT_FOUND' as const, message } };
      }
      const open = addressOf(project, path, file.visibility);
      const url = open === null ? await sign(path, file) : `${open}${size}`;
      return { path, url, expiresAt: new Date(expires * 1000) };
    }),
  );
};
