import { type Db, Timestamp } from 'mongodb';
import type { Contender } from './contender.ts';
import { type Bed, fill } from './seed.ts';

/** The collection that is asked for its changes. */
export const fed = 'fed';

const changesPerSecond = 10;

/** Makes and fills it, as if its documents had been written so many a second. */
export const addFed = async ({ projectId, dashboard }: Bed, database: Db, count: number): Promise<void> => {
  await dashboard('POST', `/api/projects/${projectId}/collections`, { name: fed, schema: null, changes: true });
  const begin = Math.ceil(Date.now() / 1000);
  const more = (index: number) => ({
    _rev: 1,
    _pos: new Timestamp({ t: begin + Math.floor(index / changesPerSecond), i: 1 + (index % changesPerSecond) }),
  });
  await fill(database.collection(fed), count, () => undefined, more);
};

const step = 100;
const positions = 50;

/** Positions all over the first half of it, in the words of a contender. */
export const positionsOf = async ({ url, headers }: Contender): Promise<readonly string[]> => {
  const found: string[] = [];
  for (let since = '0'; found.length < positions; found.push(since)) {
    const answer = await fetch(`${url}/api/data/${fed}/changes?since=${since}&limit=${step}`, { headers });
    const body = (await answer.json()) as { readonly next?: string; readonly data?: { readonly next: string } };
    since = body.data?.next ?? body.next ?? '';
  }
  return found;
};
