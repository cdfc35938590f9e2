import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, inParallel, type RequestOptions } from '../support/clients/client.ts';
import { type FeedUnderFire, openFeedUnderFire } from '../support/fixtures/feed-under-fire.ts';

/** A full run takes minutes: `FEED_CHANGES=200000 FEED_FAULTS=25`. */
const { FEED_CHANGES = '3000', FEED_FAULTS = '5' } = process.env;
const target = Number(FEED_CHANGES);
const writers = 50;
const bulk = 20;
/** The readers are these users and one reader with the secret key. */
const ownerCount = 4;

interface Change {
  readonly _id: string;
  readonly rev: number;
  readonly deleted?: true;
  readonly document?: { readonly userId?: string };
}
interface Page {
  readonly data: { readonly changes: readonly Change[]; readonly next: string; readonly more: boolean };
}
type Seen = Map<string, string>;

let world: FeedUnderFire;
/** The number of acknowledged changes, and the last acknowledged revision of each document. */
let acknowledged = 0;
const revisions = new Map<string, number>();

beforeAll(async () => {
  world = await openFeedUnderFire(ownerCount);
});
afterAll(() => world.stop());

const path = '/api/data/busy';
const tried = async <Body>(
  method: string,
  where: string,
  options: RequestOptions,
): Promise<Answer<Body> | undefined> => {
  const answer = await world.ask<Body>(method, path + where, options);
  if (answer && answer.status < 500) return answer;
  // Fifty callers without a pause would keep the restarting part of the stack from becoming ready.
  await pause(50);
  return undefined;
};

const note = (id: string, rev: number): void => {
  acknowledged += 1;
  revisions.set(id, Math.max(rev, revisions.get(id) ?? 0));
};
const revisionOf = ({ headers }: Answer<unknown>): number => Number(headers.get('etag')?.replaceAll('"', ''));

/** Writes of every kind to its own and to shared documents, until there are enough changes. */
const write = async (writer: number, shared: string[]): Promise<void> => {
  const userId = world.owners[writer % ownerCount];
  const own: string[] = [];
  for (let n = writer; acknowledged < target; n += 1) {
    const id = (n % 7 === 0 ? shared[n % Math.max(1, shared.length)] : own[(n * 7) % Math.max(1, own.length)]) ?? '';
    const kind = id === '' ? 0 : n % 10;
    if (kind === 0) {
      const made = await tried<{ _id: string }>('POST', '', { body: { userId, writer, n } });
      if (made?.status !== 201) continue;
      note(made.body._id, 1);
      (shared.length < 5 ? shared : own).push(made.body._id);
    } else if (kind === 1) {
      const body = Array.from({ length: bulk }, () => ({ userId, writer, n }));
      const made = await tried<{ data: { ids: string[] } }>('POST', '/bulk', { body });
      for (const one of made?.status === 201 ? made.body.data.ids : []) note(one, 1);
    } else if (kind === 2 && n % 20 === 2) {
      const gone = await tried('DELETE', `/${id}?permanent=true`, {});
      if (gone?.status === 200) note(id, (revisions.get(id) ?? 0) + 1);
    } else {
      const [method, where] = kind === 3 ? ['DELETE', ''] : kind === 4 ? ['PATCH', '/recover'] : ['PATCH', ''];
      const body = kind > 4 ? { body: { n } } : {};
      const changed = await tried(method ?? '', `/${id}${where}`, body);
      if (changed?.status === 200) note(id, revisionOf(changed));
    }
  }
};

const stateOf = (rev: number, deleted: boolean): string => `${rev}${deleted ? ' gone' : ''}`;

/** Reads until it has seen the last change. No change may arrive twice or belong to another user. */
const read = async (reader: number, isOver: () => boolean): Promise<Seen> => {
  const owner = world.owners[reader];
  let token: string | undefined;
  const [seen, known]: [Seen, Map<string, number>] = [new Map(), new Map()];
  for (let since = '0'; ; ) {
    const wasOver = isOver();
    const limit = 10 + reader * 200;
    if (owner !== undefined) token ??= await world.signIn(reader);
    const options = owner === undefined ? {} : { key: world.publishableKey, ...(token !== undefined && { token }) };
    const page = await tried<Page>('GET', `/changes?since=${since}&limit=${limit}&wait=${reader % 2}`, options);
    if (page?.status === 401) token = undefined;
    if (!page || page.status === 401) continue;
    expect(page.status, JSON.stringify(page.body)).toBe(200);
    const { changes, next, more } = page.body.data;
    for (const { _id, rev, deleted, document } of changes) {
      if (owner !== undefined && document) expect(document.userId).toBe(owner);
      expect([_id, rev > (known.get(_id) ?? 0)]).toEqual([_id, true]);
      known.set(_id, rev);
      seen.set(_id, stateOf(rev, deleted === true));
    }
    since = next;
    if (wasOver && !more && changes.length === 0) return seen;
  }
};

/** Injects one fault after the other, evenly over the changes. */
const strike = async (): Promise<readonly string[]> => {
  const names = Object.keys(world.faults);
  const count = Number(FEED_FAULTS);
  const met: string[] = [];
  while (met.length < count) {
    const name = names[met.length % names.length] ?? '';
    while (acknowledged < (target * (met.length + 1)) / (count + 1)) await pause(10);
    await world.faults[name]?.();
    met.push(name);
  }
  return met;
};

test(
  `5 readers receive ${target} changes by 50 writers once, completely and only their own, with kill -9, lost responses and a slow database`,
  async () => {
    let isWritten = false;
    const shared: string[] = [];
    const reading = inParallel(ownerCount + 1, (reader) => read(reader, () => isWritten));
    const striking = strike();
    await inParallel(writers, (writer) => write(writer, shared));
    const met = await striking;
    isWritten = true;
    const seen = await reading;
    const stored = await world.stored();
    for (const [reader, found] of seen.entries()) {
      const owner = world.owners[reader];
      const theirs = stored.filter(({ userId }) => owner === undefined || userId === owner);
      const last = new Map(theirs.map(({ _id, _rev, isDeleted }) => [String(_id), stateOf(Number(_rev), isDeleted)]));
      expect([...last].filter(([id, state]) => found.get(id) !== state)).toEqual([]);
      expect([...found.keys()].filter((id) => !last.has(id))).toEqual([]);
    }
    const kept = new Map(stored.map(({ _id, _rev }) => [String(_id), Number(_rev)]));
    expect([...revisions].filter(([id, rev]) => (kept.get(id) ?? 0) < rev)).toEqual([]);
    expect(acknowledged).toBeGreaterThanOrEqual(target);
    process.stdout.write(`${acknowledged} changes of ${stored.length} documents, among them ${met.join(', ')}\n`);
  },
  600_000 + 20 * target,
);
