import { useEffect, useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import type { Input, Item } from '../../api/rows.ts';
import { problemText } from '../../ui/problem-text.ts';
import { say } from '../../ui/toast.tsx';

type StoredFile = Item<'list-files'>;
type Asked = Input<'sign-project-links'>['body'];

/** The sizes that pictures are shown in: of lists at two pixels a point, and of what is opened. */
export const thumb = { width: 64, height: 64 };
export const preview = { width: 640 };

/** Pictures of which the service makes sizes, and which a browser shows. */
export const isPicture = ({ contentType }: StoredFile): boolean =>
  /^image\/(?:png|jpeg|gif|webp|avif)$/.test(contentType);

/** Links to private files by their paths; what is gone has none. */
export const signLinks = async (projectId: string, body: Asked): Promise<ReadonlyMap<string, string>> => {
  const { data } = await request('sign-project-links', { projectId, body });
  return new Map(data.flatMap((link) => ('url' in link ? [[link.path, link.url] as const] : [])));
};

/** The address of a public file's picture in a size. */
const inSize = (url: string, size: object): string => {
  const asked = Object.entries(size).map(([name, value]) => `${name.slice(0, 1)}=${value}`);
  return asked.length === 0 ? url : `${url}?${asked.join('&')}`;
};

/**
 * Where some files are opened, of private ones for an hour, and pictures in a size where one is named; `undefined` as
 * long as it is not known; why no links could be made is said.
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
