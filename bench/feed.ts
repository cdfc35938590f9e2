import { type Db, Timestamp } from 'mongodb';
import type { Contender } from './contender.ts';
import { type Bed, fill } from './seed.ts';

/** The collection whose changes are read. */
export const fed = 'fed';

const changesPerSecond = 10;

/** The fields that the service adds to written documents, at a rate from now on. */
export const placesFromNow = (): ((index: number) => object) => {
  const begin = Math.ceil(Date.now() / 1000);
  return (index) => ({
    _rev: 1,
    _pos: new Timestamp({ t: begin + Math.floor(index / changesPerSecond), i: 1 + (index % changesPerSecond) }),
  });
};

/** Creates and fills it, and adds a feed to the collection that is filled later for `depth`. */
export const addFed = async ({ projectId, dashboard }: Bed, database: Db, count: number): Promise<void> => {
  const base = `/api/projects/${projectId}/collections`;
  await dashboard('PUT', `${base}/large`, { changes: true });
  await dashboard('POST', base, { name: fed, schema: null, changes: true });
  await fill(database.collection(fed), count, () => undefined, placesFromNow());
};

const step = 100;
const positions = 50;

const walk = async ({ url, headers }: Contender, name: string, limit: number, pages: number): Promise<string[]> => {
  const found: string[] = [];
  for (let since = '0'; found.length < pages; found.push(since)) {
    const answer = await fetch(`${url}/api/data/${name}/changes?since=${since}&limit=${limit}`, { headers });
    const body = (await answer.json()) as { readonly next?: string; readonly data?: { readonly next: string } };
    since = body.data?.next ?? body.next ?? '';
  }
  return found;
};

/** Positions in the first half, in a contender's format. */
export const positionsOf = (target: Contender): Promise<readonly string[]> => walk(target, fed, step, positions);

/** The position after this many changes, a multiple of 1000. */
export const positionAt = async (target: Contender, name: string, changes: number): Promise<string> =>
  (await walk(target, name, 1000, changes / 1000)).at(-1) ?? '0';
