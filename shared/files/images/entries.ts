import { setTimeout as pause } from 'node:timers/promises';
import { clock } from '../../core/clock.ts';
import { get } from '../../persistence/table.ts';
import { type FileItem, type FileRef, fileItemKey, type KeptSizes } from '../file-items.ts';

/** Who has charged a size has this long to put it; until then its file is neither moved nor deleted. */
export const puttingMs = 8000;

const pauseMs = 50;

/** What `putting` has of somebody who may put a size until a time, in ms since 1970. */
export const puttingEntry = (name: string, until: number): string => `${name}@${until}`;

/** Whether somebody may yet put a size of a file. */
export const isBeingPut = ({ putting = new Set() }: KeptSizes): boolean =>
  [...putting].some((entry) => Number(entry.split('@')[1]) > clock.now());

/** All of which there may be bytes: those that are kept, and those of whoever failed or died on the way. */
export const namesOf = ({ sizes = new Set(), putting = new Set() }: KeptSizes): ReadonlySet<string> =>
  new Set([...sizes, ...[...putting].map((entry) => entry.split('@')[0] ?? '')]);

/** For a write: that there is a file whose sizes are what they were when it was read. */
export const asRead = ({ sizes, cached, sizeBytes, putting }: KeptSizes) => {
  const known = Object.entries({ sizes, cached, sizeBytes, putting });
  const are = known.map(([name, value]) =>
    value === undefined ? `attribute_not_exists(${name})` : `${name} = :${name}`,
  );
  const values = Object.fromEntries(known.filter(([, value]) => value !== undefined));
  return {
    condition: ['attribute_exists(pk)', ...are].join(' AND '),
    // DynamoDB refuses an empty list of values.
    ...(Object.keys(values).length > 0 && { values }),
  };
};

/**
 * A file as it is once nobody puts a size of it any more: `file` itself where nobody does; `undefined` where it is
 * gone, `busy` where others go on for longer than anybody alone may.
 */
export const whenPut = async <T extends KeptSizes>(
  ref: FileRef,
  file: T,
): Promise<T | FileItem | 'busy' | undefined> => {
  const end = clock.now() + 2 * puttingMs;
  let known: T | FileItem | undefined = file;
  while (known && isBeingPut(known)) {
    if (clock.now() > end) return 'busy';
    await pause(pauseMs);
    known = await get<FileItem>(fileItemKey(ref));
  }
  return known;
};
