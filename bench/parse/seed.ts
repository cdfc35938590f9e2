import { randomBytes } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { sampleDocument, sampleWriter } from '../samples.ts';
import { joined, jumping, writers, writersCount } from '../seed.ts';
import { asServer } from './keys.ts';

/** Parse Server's ids have ten random characters. */
type Stored = { _id: string };

export const newId = (): string =>
  randomBytes(16)
    .toString('base64')
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .slice(0, 10)
    .padEnd(10, 'x');

const perInsert = 5000;

/** Inserts `count` documents in Parse Server's stored form, each a millisecond older than the previous one. */
export const fillPeer = async (
  documents: Collection<Stored>,
  count: number,
  more: (index: number) => object = () => ({}),
): Promise<void> => {
  const begin = Date.now() - count;
  for (let done = 0; done < count; done += perInsert) {
    const rows = Array.from({ length: Math.min(perInsert, count - done) }, (_, index) => {
      const at = new Date(begin + done + index);
      return { _id: newId(), ...sampleDocument(done + index), ...more(done + index), _created_at: at, _updated_at: at };
    });
    await documents.insertMany(rows, { ordered: false });
  }
};

/** Ids of at most `count` existing documents in a pseudo-random order. */
export const peerIdsOf = async (documents: Collection<Stored>, count: number): Promise<string[]> => {
  const found = await documents
    .find({}, { projection: { _id: 1 } })
    .limit(count)
    .toArray();
  return jumping(found.map(({ _id }) => _id));
};

const fields = {
  title: { type: 'String', required: true },
  author: { type: 'String' },
  body: { type: 'String' },
  likes: { type: 'Number', defaultValue: 0 },
  published: { type: 'Boolean', defaultValue: false },
  tags: { type: 'Array' },
};

const writer = { writer: { type: 'Pointer', targetClass: writers } };

const makeClass = async (url: string, className: string, schema: object): Promise<void> => {
  const response = await fetch(`${url}/parse/schemas/${className}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...asServer },
    body: JSON.stringify({ className, fields: schema }),
  });
  if (!response.ok) throw new Error(`Parse Server answered ${response.status} ${await response.text()}`);
};

/**
 * Creates and fills classes that match the collections, with the indexes that the requests need; `count` documents have
 * references.
 */
export const seedPeer = async (
  url: string,
  database: Db,
  classes: Readonly<Record<string, number>>,
  count: number,
): Promise<void> => {
  const names = Object.keys(classes);
  await makeClass(url, writers, { name: { type: 'String' }, about: { type: 'String' } });
  for (const name of names) await makeClass(url, name, fields);
  await makeClass(url, joined, { ...fields, ...writer });
  for (const name of [...names, joined]) {
    await database
      .collection(name)
      .createIndexes([{ key: { author: 1, _created_at: -1 } }, { key: { _created_at: -1 } }]);
  }
  // Its documentation recommends this index to operators.
  await database.collection('_Session').createIndex({ _session_token: 1 });
  const now = new Date();
  const people = Array.from({ length: writersCount }, (_, index) => ({
    _id: newId(),
    ...sampleWriter(index),
    _created_at: now,
    _updated_at: now,
  }));
  await database.collection<Stored>(writers).insertMany(people);
  for (const name of names) await fillPeer(database.collection<Stored>(name), classes[name] ?? 0);
  await fillPeer(database.collection<Stored>(joined), count, (index) => ({
    _p_writer: `${writers}$${people[index % writersCount]?._id}`,
  }));
};
