import { useEffect, useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import type { Input, Item } from '../../api/rows.ts';
import { problemText } from '../../ui/problem-text.ts';
import { say } from '../../ui/toast.tsx';

export type StoredFile = Item<'list-files'>;
type Asked = Input<'sign-project-links'>['body'];

/** The sizes of pictures: in lists at two pixels per point, opened, and as tiles. */
export const thumb = { width: 64, height: 64 };
export const preview = { width: 640 };
export const tileSize = { width: 320, height: 256 };

/** Pictures that the service can resize and browsers can show. */
export const isPicture = ({ contentType }: StoredFile): boolean =>
  /^image\/(?:png|jpeg|gif|webp|avif)$/.test(contentType);

/** Signed links to private files, by path. Deleted files have none. */
export const signLinks = async (projectId: string, body: Asked): Promise<ReadonlyMap<string, string>> => {
  const { data } = await request('sign-project-links', { projectId, body });
  return new Map(data.flatMap((link) => ('url' in link ? [[link.path, link.url] as const] : [])));
};

/** The address of a public picture in a size. */
export const inSize = (url: string, size: object): string => {
  const asked = Object.entries(size).map(([name, value]) => `${name.slice(0, 1)}=${value}`);
  return asked.length === 0 ? url : `${url}?${asked.join('&')}`;
};

/**
 * The addresses of some files: signed for an hour if private, resized if a size is given; `undefined` until known.
 * Failures are reported.
 */
export const useAddresses = (projectId: string, files: readonly StoredFile[], size: object = {}) => {
  const [links, setLinks] = useState<ReadonlyMap<string, string>>(new Map());
  const paths = files.filter(({ visibility }) => visibility === 'private').map(({ path }) => path);
  const asked = paths.join(' ');
  useEffect(() => {
    if (asked === '') return undefined;
    let isGone = false;
    signLinks(projectId, { paths, ...size }).then(
      (signed) => !isGone && setLinks(signed),
      (error: unknown) => !isGone && say(problemText(error)),
    );
    return () => {
      isGone = true;
    };
  }, [projectId, asked]);
  return ({ path, url, visibility }: StoredFile): string | undefined =>
    visibility === 'private' ? links.get(path) : url === null ? undefined : inSize(url, size);
};
