import { randomUUID } from 'node:crypto';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';

const maxNameLength = 100;

const shape = /^([0-9a-f]{24})\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}_(?!.*\.\.)([A-Za-z0-9._-]{1,100})$/;

/** A file name of at most 100 of `[A-Za-z0-9._-]`, without `..`: nothing to a path, a shell or a reader's eye. */
export const sanitisedName = (filename: string): string => {
  const name = filename.replace(/[^A-Za-z0-9._-]/gu, '_').replace(/\.{2,}/g, '.');
  const [ending = ''] = /\.[A-Za-z0-9]{1,10}$/.exec(name) ?? [];
  return name.length <= maxNameLength
    ? name
    : name.slice(0, maxNameLength - ending.length).replace(/\.$/, '_') + ending;
};

/** A UUID (version 7) that sorts by the time it was made, so that the newest files of a project can be read first. */
const sortableUuid = (): string => {
  const time = clock.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
};

/** A new `<project_id>/<uuid>_<sanitised name>` (contract 4). */
export const newFilePath = (projectId: string, filename: string): string =>
  `${projectId}/${sortableUuid()}_${sanitisedName(filename)}`;

export const fileNotFound = (): AppError =>
  new AppError('FILE_NOT_FOUND', 'There is no such file. Send the path that the upload answered, not the URL.');

/** 400 `SIZE_MISMATCH`: what was sent as `size`, and how many bytes it is. */
export const sizeMismatch = (size: number, stored: number): AppError =>
  new AppError('SIZE_MISMATCH', `size is ${size}, but the file was uploaded, or announced, with ${stored} bytes.`, {
    errors: [{ field: 'size', message: `size does not match the ${stored} bytes of the file` }],
  });

/** Whether a text is a path that this project may have given out. */
export const isPathOf = (projectId: string, text: string): boolean => shape.exec(text)?.[1] === projectId;

export const nameIn = (filePath: string): string => shape.exec(filePath)?.[2] ?? '';

/** Where an upload waits to be confirmed; nobody can read it there. */
export const pendingKey = (filePath: string): string => `pending/${filePath}`;

/** Who may read a confirmed file: anybody who knows its address, or who has a signed link. */
export type Visibility = 'public' | 'private';

const folders = { public: 'files', private: 'private' } as const satisfies Record<Visibility, string>;

export const otherThan = (visibility: Visibility): Visibility => (visibility === 'public' ? 'private' : 'public');

/** Where a confirmed file lies; nothing below `private/` is served without a signature. */
export const fileKey = (filePath: string, visibility: Visibility): string => `${folders[visibility]}/${filePath}`;

/** Everywhere that a file of a path may lie. */
export const fileKeys = (filePath: string): string[] => [fileKey(filePath, 'public'), fileKey(filePath, 'private')];
