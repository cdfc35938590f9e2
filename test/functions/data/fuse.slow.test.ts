import { type Collection, type Document, ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as deleteDocument } from '../../../functions/data/delete-document.ts';
import { handler as getDocument } from '../../../functions/data/get-document.ts';
import { handler as restoreDocument } from '../../../functions/data/restore-document.ts';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { clock } from '../../../shared/core/clock.ts';
import { newFuse } from '../../../shared/documents/store/fuse.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import { commandChannel, type DatabaseCommand } from '../../../shared/persistence/mongo-commands.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { type InvokeOptions, invoke } from '../../support/clients/invoke.ts';
import { listenToCommands } from '../../support/command-notes.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

listenToCommands();
Object.assign(process.env, { RATE_LIMIT: '1000000', RATE_BLOCK: '1' });

let project: TestProject;
let domain: Project;

beforeAll(async () => {
  project = await newProject([{ name: 'notes' }]);
  domain = await domainProject(project);
});

const inNotes = <T>(act: (notes: Collection) => Promise<T>): Promise<T> =>
  onProject(domain, (db) => act(db.collection('notes')));

/** Stores a document without the service, in the state of those that it creates, with or without a fuse. */
const store = async (fields: Document, fuse: object = {}): Promise<ObjectId> => {
  const _id = new ObjectId();
  const date = new Date(0);
  await inNotes((notes) =>
    notes.insertOne({ _id, ...fields, isDeleted: false, deletedAt: null, createdAt: date, updatedAt: date, ...fuse }),
  );
  return _id;
};

const create = async (fields: Document): Promise<ObjectId> => {
  const made = await invoke(createDocument, {
    key: project.secretKey,
    params: { collectionName: 'notes' },
    body: fields,
  });
  return new ObjectId(String(made.body._id));
};

const options = (_id: ObjectId, more: InvokeOptions = {}): InvokeOptions => ({
  key: project.secretKey,
  params: { collectionName: 'notes', id: String(_id) },
  ...more,
});

const update = (_id: ObjectId, body: unknown) => invoke(updateDocument, options(_id, { body }));
const trash = (_id: ObjectId) => invoke(deleteDocument, options(_id));
const storedOf = (_id: ObjectId) => inNotes((notes) => notes.findOne({ _id }));
const bytesOf = (_id: ObjectId) => inNotes((notes) => notes.findOne({ _id }, { raw: true })) as Promise<unknown>;

/** Returns the document writes that the service sends during the action. */
const writesOf = async (act: () => Promise<unknown>): Promise<DatabaseCommand[]> => {
  const writes: DatabaseCommand[] = [];
  const note = (message: unknown): void => {
    if ((message as DatabaseCommand).name === 'findAndModify') writes.push(message as DatabaseCommand);
  };
  commandChannel.subscribe(note);
  try {
    await act();
  } finally {
    commandChannel.unsubscribe(note);
  }
  return writes;
};

/** Returns repeatable pseudo-random numbers below a bound. */
const numbers = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};

const names = ['a', 'b', 'B', 'zebra', 'list', '0', '10', '9', 'größe', '日', 'with space', 'null', 'constructor'];
const scalars = [0, -0, 1, 1.5, 2 ** 31, 2 ** 53 - 1, -1e300, '', '$a', '$$ROOT', 'text', '\u0000', true, false, null];

const someValue = (below: (bound: number) => number, depth = 0): unknown => {
  const kind = below(depth < 3 ? 8 : 6);
  if (kind < 6) return scalars[below(scalars.length)];
  if (kind === 6) return Array.from({ length: below(4) }, () => someValue(below, depth + 1));
  return { ...someFields(below, depth + 1), ...(below(4) === 0 ? { $add: [1, '$b'], $literal: '$a' } : {}) };
};

const someFields = (below: (bound: number) => number, depth = 0): Document =>
  Object.fromEntries(Array.from({ length: 1 + below(4) }, () => [names[below(names.length)], someValue(below, depth)]));

/** Returns the filter fields of each write; `_id` alone means that the fuse decides. */
const foundBy = (writes: readonly DatabaseCommand[]): string[] =>
  writes.map(({ command }) => Object.keys(command?.query as object).join());
const byFilter = expect.stringContaining('isDeleted');

describe('the fuse of a document', () => {
  test.each([
    ['with one', newFuse],
    ['without', {}],
  ])('200 with the same bytes as the operator $set stores, for documents %s', async (_title, fuse) => {
    const now = clock.now();
    const realNow = clock.now;
    clock.now = () => now;
    const below = numbers(20_261_122);
    try {
      for (let n = 0; n < 150; n += 1) {
        const fields = someFields(below);
        const body = JSON.parse(JSON.stringify(someFields(below))) as Document;
        const [ours, twin] = [await store(fields, fuse), await store(fields)];
        const said = JSON.stringify([fields, body]);
        const answer = await update(ours, body);
        expect(answer.status, said).toBe(200);
        const set = { $set: { ...body, updatedAt: new Date(now) }, $inc: { _rev: 1 } };
        await inNotes((notes) => notes.updateOne({ _id: twin }, set));
        await inNotes((notes) => notes.updateOne({ _id: ours }, { $unset: { _fuse: 1 } }));
        const [made, wanted] = (await Promise.all([ours, twin].map(bytesOf))) as Buffer[];
        // The id is the first field: after the length come its type byte, its name and its 12 bytes.
        expect(made?.subarray(21).toString('hex'), said).toBe(wanted?.subarray(21).toString('hex'));
        const read = await inNotes((notes) => notes.findOne({ _id: ours }, { projection: { _rev: 0 } }));
        expect(answer.body.data, said).toEqual(JSON.parse(JSON.stringify(read)));
      }
    } finally {
      clock.now = realNow;
    }
  });

  test('lets updates, paths included, and deletions find the document by its id alone', async () => {
    const _id = await create({ n: 1 });
    for (const write of [() => update(_id, { n: 2 }), () => update(_id, { 'a.b': 'x' }), () => trash(_id)]) {
      expect(foundBy(await writesOf(write))).toEqual(['_id']);
    }
  });

  test('lasts for 62 updates; the next one checks the size by a filter and renews it', async () => {
    const _id = await create({ n: -1 });
    const ways: string[] = [];
    for (let n = 0; n < 70; n += 1) {
      const writes = await writesOf(async () => {
        expect((await update(_id, { n })).status).toBe(200);
      });
      ways.push(foundBy(writes).join(' '));
    }
    const alone = (count: number) => Array.from({ length: count }, () => '_id');
    expect(ways).toEqual([...alone(62), expect.stringMatching(/^_id _id,isDeleted/), ...alone(7)]);
    expect(await storedOf(_id)).toMatchObject({ n: 69, _rev: 71 });
  });

  test('is set by the first update when a document has no fuse, and when it is recovered', async () => {
    const ways = async (_id: ObjectId) => foundBy(await writesOf(() => update(_id, { n: 2 })));
    const old = await store({ n: 1 });
    expect([await ways(old), await ways(old)]).toEqual([['_id', byFilter], ['_id']]);
    const back = await create({ n: 1 });
    await trash(back);
    expect((await invoke(restoreDocument, options(back))).status).toBe(200);
    expect(await ways(back)).toEqual(['_id']);
  });

  test('is missing in the trash, so a trashed document does not change: 404', async () => {
    for (const fuse of [newFuse, {}]) {
      const _id = await store({ n: 1 }, fuse);
      expect((await trash(_id)).status).toBe(200);
      const trashed = await storedOf(_id);
      for (const again of [update(_id, { n: 2 }), update(_id, { 'n.x': 2 }), trash(_id)]) {
        expect(await again).toMatchObject({ status: 404, body: { code: 'DOCUMENT_NOT_FOUND' } });
      }
      expect(await storedOf(_id)).toEqual(trashed);
    }
  });

  test('is missing when a document is large', async () => {
    const _id = await create({ text: 'x'.repeat(600_000) });
    expect((await update(_id, { more: 1 })).status).toBe(200);
    expect(await storedOf(_id)).not.toHaveProperty('_fuse');
  });

  test('stops updates when the document would exceed a response: 413', async () => {
    const costly = (bytes: number) => '\u0001'.repeat(bytes);
    const _id = await create({ a: costly(120_000) });
    for (const field of ['b', 'c', 'd']) expect((await update(_id, { [field]: costly(120_000) })).status).toBe(200);
    const statuses: number[] = [];
    const writes = await writesOf(async () => {
      while (statuses.length < 120 && !statuses.includes(413)) {
        const { status } = await update(_id, { [`f${statuses.length}`]: costly(4000) });
        statuses.push(status);
      }
    });
    expect(foundBy(writes.slice(0, 62))).toEqual(Array.from({ length: 62 }, () => '_id'));
    expect(statuses.length).toBeGreaterThan(63);
    expect(statuses).toEqual([...statuses.slice(1).map(() => 200), 413]);
    const shown = await invoke(getDocument, options(_id));
    expect([shown.status, Buffer.byteLength(JSON.stringify(shown.body)) <= 5 * 1024 * 1024]).toEqual([200, true]);
  });

  test('404 for updates after a concurrent deletion; the trashed document does not change', async () => {
    for (const fuse of [newFuse, {}]) {
      const _id = await store({ n: -1 }, fuse);
      const answers = await inParallel(51, (n) => (n === 25 ? trash(_id) : update(_id, { n, [`f${n}`]: n })));
      const done = answers.flatMap(({ status }, n) => (status === 200 && n !== 25 ? [n] : []));
      expect(Object.keys(tally(answers)).sort()).not.toContain('500');
      expect(answers[25]?.status).toBe(200);
      const trashed = await storedOf(_id);
      expect(trashed).toMatchObject({ isDeleted: true, n: done.length > 0 ? expect.any(Number) : -1 });
      const set = Object.keys(trashed ?? {}).flatMap((name) => (/^f\d+$/.test(name) ? [Number(name.slice(1))] : []));
      expect(set.sort((a, b) => a - b)).toEqual(done);
      expect(await update(_id, { n: 99 })).toMatchObject({ status: 404, body: { code: 'DOCUMENT_NOT_FOUND' } });
      expect(await storedOf(_id)).toEqual(trashed);
    }
  });

  test('404 for 49 of 50 concurrent deletions of one document', async () => {
    for (const fuse of [newFuse, {}]) {
      const _id = await store({ n: 1 }, fuse);
      expect(tally(await inParallel(50, () => trash(_id)))).toEqual({ 200: 1, 404: 49 });
      expect(await storedOf(_id)).toMatchObject({ _rev: 1 });
    }
  });
});
