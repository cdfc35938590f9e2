import { nowSeconds } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { Caller, Project } from '../../projects/project.ts';
import { ownBucket } from '../bucket-of.ts';
import { addressOf, filesOrigin } from '../file-address.ts';
import { fileKey, fileNotFound, isPathOf } from '../file-path.ts';
import { filesAt } from '../list-files.ts';
import { type AskedSize, sizeQuery } from '../sizes/size.ts';
import { type FileItem, isHiddenFrom } from '../upload-items.ts';
import { currentLinkKey } from './link-key.ts';
import { signedAddress } from './signed-address.ts';

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
  new AppError('HOSTED_FILES_ONLY', 'Sizes are made of hosted files only, and this project has a storage of its own.');

/** Makes the link of a private file: at our address, or by the project's own storage to where the file is now. */
const signer = async (project: Project, expiresIn: number, expires: number, size: string) => {
  if (project.storage.kind === 'external') {
    const bucket = await ownBucket(project.id, project.storage);
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
