import { AppError } from '../core/errors.ts';
import type { Project } from '../projects/project.ts';
import { list } from '../table/item.ts';
import { type Key, projectScope, sortPrefix } from '../table/item-key.ts';
import * as kinds from '../table/keys.ts';
import { nameIn } from './file-path.ts';
import { filesAt, toStoredFile } from './list-files.ts';
import { storageIdOf } from './storage-keys.ts';

export interface OwnFilesQuery {
  /** What names begin with. */
  readonly prefix?: string | undefined;
  /** Of the page before. */
  readonly cursor?: string | undefined;
}

const pageSize = 50;

/** The end of a path, after its project. */
const shape = /^[0-9a-f-]{36}_[A-Za-z0-9._-]{1,100}$/;

/** The end of the last path of a page; others → 400 `INVALID_CURSOR`. */
const parseCursor = (cursor: string | undefined): string | undefined => {
  if (cursor === undefined) return undefined;
  const tail = Buffer.from(cursor, 'base64url').toString();
  if (shape.test(tail)) return tail;
  throw new AppError('INVALID_CURSOR', 'The cursor is not one that this list has answered. Begin without one.');
};

/**
 * Up to 50 confirmed files of a user in the present storage, newest first, whose names begin with `prefix`. A page may
 * have fewer, or none, and still have a `nextCursor`: names are compared after a page was read.
 */
export const listOwnFiles = async (project: Project, userId: string, { prefix = '', cursor }: OwnFilesQuery) => {
  const own = sortPrefix(kinds.userFile, { storageId: storageIdOf(project.storage), userId });
  const after = parseCursor(cursor);
  const keys = await list<Key>({
    partition: projectScope(project.id),
    only: after === undefined ? { prefix: own } : { from: own, before: `${own}${after}` },
    newestFirst: true,
    most: pageSize,
  });
  const tails = keys.map(({ sk }) => sk.slice(own.length));
  const paths = tails.map((tail) => `${project.id}/${tail}`).filter((path) => nameIn(path).startsWith(prefix));
  const found = await filesAt(project, paths);
  const last = keys.length === pageSize ? tails.at(-1) : undefined;
  return {
    items: found.flatMap((item) => (item ? [toStoredFile(project, item)] : [])),
    ...(last !== undefined && { nextCursor: Buffer.from(last).toString('base64url') }),
  };
};
