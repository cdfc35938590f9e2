import { ObjectId } from 'mongodb';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { permitAddresses } from '../../../../infra/local/permit-addresses.ts';
import { closeCustomerDatabases } from '../../../../shared/customer-database/client.ts';
import { upsertDocuments } from '../../../../shared/documents/store/upsert.ts';
import { type FakeMongod, helloReply, startFakeMongod } from '../../../support/faults/fake-mongod.ts';
import { projectWithKey } from '../../accounts/project.ts';
import { collectionOf } from '../collections.ts';

process.env.ENCRYPTION_KEY = Buffer.alloc(32, 1).toString('base64');

type Command = Readonly<Record<string, unknown>>;

const replicaSet = { ...helloReply, setName: 'rs0', hosts: [], logicalSessionTimeoutMinutes: 30 };
const collection = collectionOf([
  { key: 'code', type: 'String', required: false, unique: true },
  { key: 'other', type: 'String', required: false, unique: true },
]);
const known = { _id: new ObjectId(), code: 'known', _rev: 4, isDeleted: false, deletedAt: null };
const done = { ok: 1, n: 1, nModified: 1 };
const found = (document: object) => ({ ok: 1, cursor: { id: 0n, ns: 'app.c', firstBatch: [document] } });
const updated = { ok: 1, lastErrorObject: { n: 1, updatedExisting: true }, value: { ...known, other: 'x', _rev: 5 } };
const clash = (keyPattern: object) => ({
  ok: 1,
  n: 0,
  writeErrors: [{ index: 0, code: 11000, errmsg: 'E11000 duplicate key', keyPattern, keyValue: {} }],
});
const conflict = { ok: 0, code: 112, errmsg: 'conflict', errorLabels: ['TransientTransactionError'] };

let server: FakeMongod;
let commands: Command[];
/** The replica set’s responses to commands, by name and in order; the last one repeats. */
let answers: Record<string, Command[]>;

beforeEach(async () => {
  commands = [];
  answers = { find: [found(known)], insert: [done], findAndModify: [updated] };
  server = await startFakeMongod((command) => {
    const [name = ''] = Object.keys(command);
    if (/^(hello|ismaster|ping|endSessions)$/i.test(name)) return replicaSet;
    commands.push(command);
    const [next = { ok: 1 }, ...later] = answers[name] ?? [];
    if (later.length > 0) answers[name] = later;
    return next;
  });
  permitAddresses(`127.0.0.1:${server.port}`);
});

afterEach(async () => {
  await closeCustomerDatabases();
  await server.stop();
});

const upsertThree = async () => {
  const { port } = server;
  const openUri = async () => `mongodb://127.0.0.1:${port}/app?directConnection=true`;
  const placement = { kind: 'external' as const, host: '', encryptedUri: `sealed ${port}`, openUri };
  const project = { ...(await projectWithKey('a'.repeat(24))), placement };
  const bodies = [{ code: 'a' }, { code: 'known', other: 'x' }, { code: 'b' }];
  return upsertDocuments({ project, collection, caller: { kind: 'secret' } }, bodies, 'code');
};

const names = (): string[] => commands.map((command) => Object.keys(command)[0] ?? '');
/** The update reads its document in the transaction, because a joint run may have to undo it. */
const writes = ['insert', 'find', 'findAndModify', 'insert'];

describe('a bulk upsert on a replica set', () => {
  test('writes all documents in one transaction', async () => {
    const { ids, ...counts } = await upsertThree();
    expect(counts).toEqual({ inserted: 2, updated: 1 });
    expect(ids[1]).toBe(known._id.toHexString());
    expect(names()).toEqual(['find', ...writes, 'commitTransaction']);
    const [first, ...others] = commands;
    expect(first).toMatchObject({ startTransaction: true, autocommit: false });
    for (const { lsid, txnNumber } of others) {
      expect({ lsid, txnNumber }).toEqual({ lsid: first?.lsid, txnNumber: first?.txnNumber });
    }
  });

  test('409 DUPLICATE_VALUE aborts the transaction, and no command removes documents', async () => {
    answers.insert = [done, clash({ other: 1 })];
    await expect(upsertThree()).rejects.toMatchObject({
      code: 'DUPLICATE_VALUE',
      errors: [{ index: 2, field: 'other' }],
    });
    expect(names()).toEqual(['find', ...writes, 'abortTransaction']);
  });

  test('starts over when another request inserts the same value, or changes that of the document, in between', async () => {
    const moved = found({ ...known, code: 'moved' });
    for (const [given, before] of [
      [{ insert: [clash({ code: 1 }), done] }, ['insert']],
      [{ find: [found(known), moved, found(known)] }, ['insert', 'find']],
    ] as const) {
      for (const [name, all] of Object.entries(given)) answers[name] = [...all];
      commands = [];
      expect(await upsertThree()).toMatchObject({ inserted: 2, updated: 1 });
      expect(names()).toEqual(['find', ...before, 'abortTransaction', 'find', ...writes, 'commitTransaction']);
    }
  });

  test('retries a transaction that conflicts with another one', async () => {
    answers.findAndModify = [conflict, updated];
    expect(await upsertThree()).toMatchObject({ inserted: 2, updated: 1 });
    expect(names().filter((name) => name === 'commitTransaction')).toHaveLength(1);
    expect(names().filter((name) => name === 'findAndModify')).toHaveLength(2);
  });

  test('503 TOO_MANY_WRITERS when transactions keep conflicting', async () => {
    answers.findAndModify = [conflict];
    await expect(upsertThree()).rejects.toMatchObject({ code: 'TOO_MANY_WRITERS' });
    expect(names()).not.toContain('commitTransaction');
  });
});
