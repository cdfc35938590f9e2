import { type Collection, type Document, ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { handler as deleteDocument } from '../../../functions/data/delete-document.ts';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { listenToCommands } from '../../../infra/local/command-notes.ts';
import { commandChannel, type DatabaseCommand } from '../../../shared/clients/commands.ts';
import { onProject } from '../../../shared/clients/mongo.ts';
import { clock } from '../../../shared/core/clock.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { type InvokeOptions, invoke } from '../../support/clients/invoke.ts';
import { newProject, type TestProject } from '../../support/worlds/project.ts';
import { domainProject } from '../../support/worlds/stored-users.ts';

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

/** Stores a document beside the service, in the state of those that it makes. */
const store = async (fields: Document): Promise<ObjectId> => {
  const _id = new ObjectId();
  const date = new Date(0);
  await inNotes((notes) =>
    notes.insertOne({ _id, ...fields, isDeleted: false, deletedAt: null, createdAt: date, updatedAt: date }),
  );
  return _id;
};

const options = (_id: ObjectId, more: InvokeOptions = {}): InvokeOptions => ({
  key: project.secretKey,
  params: { collectionName: 'notes', id: String(_id) },
  ...more,
});

const update = (_id: ObjectId, body: unknown) => invoke(updateDocument, options(_id, { body }));
const bytesOf = (_id: ObjectId) => inNotes((notes) => notes.findOne({ _id }, { raw: true })) as Promise<unknown>;

/** The writes to documents that the act makes the service send. */
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

/** Numbers below a bound that are the same in each run. */
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

describe('an update of whole fields', () => {
  test('200 with what the operator $set stores, byte by byte, whatever is there and whatever is sent', async () => {
    const now = clock.now();
    const realNow = clock.now;
    clock.now = () => now;
    const below = numbers(20_261_122);
    try {
      for (let n = 0; n < 150; n += 1) {
        const fields = someFields(below);
        const body = JSON.parse(JSON.stringify(someFields(below))) as Document;
        const [ours, twin] = [await store(fields), await store(fields)];
        const said = JSON.stringify([fields, body]);
        const answer = await update(ours, body);
        expect(answer.status, said).toBe(200);
        await inNotes((notes) => notes.updateOne({ _id: twin }, { $set: { ...body, updatedAt: new Date(now) } }));
        await inNotes((notes) => notes.updateOne({ _id: twin }, { $set: { _rev: 1 } }));
        const [made, wanted] = (await Promise.all([ours, twin].map(bytesOf))) as Buffer[];
        // The id is the first field: a byte of its type, its name and 12 bytes of its own, after the length.
        expect(made?.subarray(21).toString('hex'), said).toBe(wanted?.subarray(21).toString('hex'));
        const read = await inNotes((notes) => notes.findOne({ _id: ours }, { projection: { _rev: 0 } }));
        expect(answer.body.data, said).toEqual(JSON.parse(JSON.stringify(read)));
      }
    } finally {
      clock.now = realNow;
    }
  });

  test('is one write, which finds the document by its id alone', async () => {
    const _id = await store({ n: 1 });
    const writes = await writesOf(() => update(_id, { n: 2, text: 'x' }));
    expect(writes.map(({ command }) => Object.keys(command?.query as object))).toEqual([['_id']]);
  });

  test('200 by one write for a document that only it makes too large, by more for one that is', async () => {
    const _id = await store({ text: 'x'.repeat(730_000) });
    const counts = new Set<number>();
    for (let n = 0; n < 12; n += 1) {
      const { byteLength } = (await bytesOf(_id)) as Buffer;
      const writes = await writesOf(async () => {
        expect((await update(_id, { [`f${n}`]: 'y'.repeat(2000) })).status).toBe(200);
      });
      const [, most] = /"\$bsonSize":"\$\$ROOT"\},(\d+)\]/.exec(JSON.stringify(writes[0]?.command?.update)) ?? [];
      expect(writes.length, `${byteLength} of ${most}`).toBe(byteLength <= Number(most) ? 1 : 3);
      counts.add(writes.length);
    }
    expect([...counts]).toEqual([1, 3]);
    const stored = await inNotes((notes) => notes.findOne({ _id }));
    expect(Object.keys(stored ?? {}).filter((name) => name.startsWith('f'))).toHaveLength(12);
  });

  test('404 for all that come after a deletion, of 50 beside it: the trash stays as it was thrown away', async () => {
    const _id = await store({ n: -1 });
    const answers = await inParallel(51, (n) =>
      n === 25 ? invoke(deleteDocument, options(_id)) : update(_id, { n, [`f${n}`]: n }),
    );
    const done = answers.flatMap(({ status }, n) => (status === 200 && n !== 25 ? [n] : []));
    expect(Object.keys(tally(answers)).sort()).not.toContain('500');
    expect(answers[25]?.status).toBe(200);
    const trashed = await inNotes((notes) => notes.findOne({ _id }));
    expect(trashed).toMatchObject({ isDeleted: true, n: done.length > 0 ? expect.any(Number) : -1 });
    const set = Object.keys(trashed ?? {}).flatMap((name) => (/^f\d+$/.test(name) ? [Number(name.slice(1))] : []));
    expect(set.sort((a, b) => a - b)).toEqual(done);
    expect(await update(_id, { n: 99 })).toMatchObject({ status: 404, body: { code: 'DOCUMENT_NOT_FOUND' } });
    expect(await inNotes((notes) => notes.findOne({ _id }))).toEqual(trashed);
  });
});
