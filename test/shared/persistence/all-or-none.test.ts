import { MongoClient } from 'mongodb';
import { afterEach, describe, expect, test } from 'vitest';
import { allOrNone } from '../../../shared/persistence/records.ts';
import { type FakeMongod, helloReply, startFakeMongod } from '../../support/faults/fake-mongod.ts';

type Command = Readonly<Record<string, unknown>>;

const replicaSet = { ...helloReply, setName: 'rs0', hosts: [], logicalSessionTimeoutMinutes: 30 };
const housekeeping = /^(hello|ismaster|isMaster|endSessions|ping)$/;
const taken = { ok: 1, n: 0, writeErrors: [{ index: 1, code: 11000, errmsg: 'taken', keyPattern: { a: 1 } }] };
const conflict = { ok: 0, code: 112, errmsg: 'conflict', errorLabels: ['TransientTransactionError'] };
const refused = { ok: 0, code: 263, errmsg: 'Cannot run this in a multi-document transaction' };

let server: FakeMongod;
let client: MongoClient;
let commands: Command[];

afterEach(async () => {
  await client.close();
  await server.stop();
});

/** A server with this `hello` response. It responds to inserts with `inserts` in turn, and then repeats the last one. */
const serve = async (hello: Command, ...inserts: readonly Command[]): Promise<void> => {
  commands = [];
  const answers = [...inserts];
  server = await startFakeMongod((command) => {
    const [name = ''] = Object.keys(command);
    if (housekeeping.test(name)) return hello;
    commands.push(command);
    if (name !== 'insert') return { ok: 1, n: 0 };
    return answers.length > 1 ? answers.shift() : answers[0];
  });
  client = new MongoClient(`mongodb://127.0.0.1:${server.port}/?directConnection=true`);
};

const insertTwo = () =>
  allOrNone(client.db('d'), async (session) => {
    await client
      .db('d')
      .collection('c')
      .insertMany([{ a: 1 }, { a: 2 }], session ? { session } : {});
    return session !== undefined;
  });

const names = (): string[] => commands.map((command) => Object.keys(command)[0] ?? '');

describe('several writes', () => {
  test('are one transaction, with one more command, on a replica set', async () => {
    await serve(replicaSet, { ok: 1, n: 2 });
    expect([await insertTwo(), await insertTwo()]).toEqual([true, true]);
    expect(names()).toEqual(['insert', 'commitTransaction', 'insert', 'commitTransaction']);
    expect(commands[0]).toMatchObject({ startTransaction: true, autocommit: false });
    expect(commands[0]).not.toHaveProperty('writeConcern');
  });

  test('are aborted when one fails, and the error names it', async () => {
    await serve(replicaSet, taken);
    await expect(insertTwo()).rejects.toMatchObject({ code: 11000, writeErrors: [{ index: 1 }] });
    expect(names()).toEqual(['insert', 'abortTransaction']);
  });

  test('start over when another writer changed the same document', async () => {
    await serve(replicaSet, conflict, conflict, { ok: 1, n: 2 });
    expect(await insertTwo()).toBe(true);
    expect(names().filter((name) => name === 'commitTransaction')).toHaveLength(1);
    expect(names().filter((name) => name === 'insert')).toHaveLength(3);
  });

  test('503 when every attempt conflicts with other writers', async () => {
    await serve(replicaSet, conflict);
    await expect(insertTwo()).rejects.toMatchObject({ code: 'TOO_MANY_WRITERS', retryAfter: 1 });
    expect(names()).not.toContain('commitTransaction');
  });

  test('need no transaction and no extra command on a single server', async () => {
    await serve(helloReply, { ok: 1, n: 2 });
    expect(await insertTwo()).toBe(false);
    expect(names()).toEqual(['insert']);
  });

  test('run without a transaction when a replica set rejects the first one, and never try again', async () => {
    await serve(replicaSet, refused, { ok: 1, n: 2 });
    expect([await insertTwo(), await insertTwo()]).toEqual([false, false]);
    expect(names().filter((name) => name === 'insert')).toHaveLength(3);
    expect(names()).not.toContain('commitTransaction');
  });
});
