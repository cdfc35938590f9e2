import { ObjectId } from 'mongodb';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { permitAddresses } from '../../../../infra/local/permit-addresses.ts';
import { closeCustomerDatabases } from '../../../../shared/customer-database/client.ts';
import { performWrite } from '../../../../shared/documents/store/batch-writes.ts';
import { insertOne } from '../../../../shared/documents/store/insert.ts';
import { type ForWrite, insertTogether } from '../../../../shared/documents/store/insert-together.ts';
import { countWrites } from '../../../../shared/documents/store/joint-scope.ts';
import { jointly } from '../../../../shared/documents/store/jointly.ts';
import { maxOpenMs } from '../../../../shared/persistence/transaction.ts';
import type { Project } from '../../../../shared/projects/project.ts';
import { type FakeMongod, helloReply, startFakeMongod } from '../../../support/faults/fake-mongod.ts';
import { projectWithKey } from '../../accounts/project.ts';
import { collectionOf } from '../collections.ts';

process.env.ENCRYPTION_KEY = Buffer.alloc(32, 1).toString('base64');

type Command = Readonly<Record<string, unknown>>;

const replicaSet = { ...helloReply, setName: 'rs0', hosts: [], logicalSessionTimeoutMinutes: 30 };
const collection = collectionOf([
  { key: 'code', type: 'String', required: false, unique: true },
  { key: 'n', type: 'Number', required: false },
]);
const known = { _id: new ObjectId(), code: 'known', n: 1, _rev: 4, isDeleted: false, deletedAt: null };
const done = { ok: 1, n: 1, nModified: 1 };
const found = (...firstBatch: object[]) => ({ ok: 1, cursor: { id: 0n, ns: 'app.things', firstBatch } });
const changed = { ok: 1, lastErrorObject: { n: 1, updatedExisting: true }, value: { ...known, _rev: 5, n: 2 } };
const clash = {
  ok: 1,
  n: 0,
  writeErrors: [{ index: 0, code: 11000, errmsg: 'E11000 duplicate key', keyPattern: { code: 1 }, keyValue: {} }],
};
const transient = { ok: 0, code: 112, errmsg: 'conflict', errorLabels: ['TransientTransactionError'] };
const unknownResult = { ok: 0, code: 91, errmsg: 'shutdown', errorLabels: ['UnknownTransactionCommitResult'] };

let server: FakeMongod;
let commands: Command[];
/** The replica set's responses to commands, by name and in order; the last one repeats. */
let answers: Record<string, Command[]>;
let hello: object;
let project: Project;

beforeEach(async () => {
  commands = [];
  answers = { insert: [done], findAndModify: [changed], update: [done], find: [found(known)] };
  hello = replicaSet;
  server = await startFakeMongod((command) => {
    const [name = ''] = Object.keys(command);
    if (/^(hello|ismaster|ping|endSessions)$/i.test(name)) return { ...hello, ok: 1 };
    commands.push(command);
    const [next = { ok: 1 }, ...later] = answers[name] ?? [];
    if (later.length > 0) answers[name] = later;
    return next;
  });
  permitAddresses(`127.0.0.1:${server.port}`);
  const { port } = server;
  const openUri = async () => `mongodb://127.0.0.1:${port}/app?directConnection=true&retryWrites=false`;
  const placement = { kind: 'external' as const, host: '', encryptedUri: `sealed ${port}`, openUri };
  project = { ...(await projectWithKey('a'.repeat(24))), placement };
});

afterEach(async () => {
  vi.restoreAllMocks();
  await closeCustomerDatabases();
  await server.stop();
});

const names = (): string[] => commands.map((command) => Object.keys(command)[0] ?? '');
const access = () => ({ project, collection, caller: { kind: 'secret' as const } });
const { _id: id } = known;
const insert = () => insertOne(access(), { code: 'new' });
const update = () => performWrite({ op: 'update', access: access(), id, changes: { $inc: { n: 1 } } });
const both = () =>
  jointly(project, async () => {
    await insert();
    return update();
  });
const once = ['insert', 'find', 'findAndModify'];

describe('writes on a replica set', () => {
  test('run in one transaction, whose commands carry its session', async () => {
    expect(await both()).toMatchObject({ isAtomic: true, result: { status: 200, document: { n: 2 } } });
    expect(names()).toEqual([...once, 'commitTransaction']);
    const [first, ...others] = commands;
    expect(first).toMatchObject({ startTransaction: true, autocommit: false, readConcern: { level: 'snapshot' } });
    for (const command of others) {
      expect(command).toMatchObject({ lsid: first?.lsid, txnNumber: first?.txnNumber, autocommit: false });
      expect(command).not.toHaveProperty('startTransaction');
    }
    expect(commands.at(-1)).toMatchObject({ writeConcern: { w: 'majority' } });
  });

  test('run one after the other, although they are sent at the same time', async () => {
    await jointly(project, () => Promise.all([insert(), insert(), insert()]));
    expect(names()).toEqual(['insert', 'insert', 'insert', 'commitTransaction']);
    expect(commands.filter((command) => 'startTransaction' in command)).toHaveLength(1);
  });

  test('409 DUPLICATE_VALUE aborts the transaction, and no command undoes anything', async () => {
    answers.insert = [clash];
    await expect(both()).rejects.toMatchObject({ code: 'DUPLICATE_VALUE' });
    expect(names()).toEqual(['insert', 'abortTransaction']);
  });

  test('start over after a transient failure of a write', async () => {
    answers.findAndModify = [transient, changed];
    expect((await both()).isAtomic).toBe(true);
    expect(names()).toEqual([...once, 'abortTransaction', ...once, 'commitTransaction']);
  });

  test('start over after a transient failure of the commit', async () => {
    answers.commitTransaction = [transient, { ok: 1 }];
    await both();
    expect(names()).toEqual([...once, 'commitTransaction', ...once, 'commitTransaction']);
  });

  test('only repeat the commit when its result is unknown', async () => {
    answers.commitTransaction = [unknownResult, { ok: 1 }];
    await both();
    expect(names().filter((name) => name === 'insert')).toHaveLength(1);
    expect(new Set(names().slice(3))).toEqual(new Set(['commitTransaction']));
  });

  test('503 OWN_DATABASE_UNAVAILABLE when the result of the commit stays unknown', async () => {
    answers.commitTransaction = [unknownResult];
    await expect(both()).rejects.toMatchObject({ code: 'OWN_DATABASE_UNAVAILABLE' });
    expect(names().filter((name) => name === 'insert')).toHaveLength(1);
  });

  test('503 TOO_MANY_WRITERS when every try fails transiently', async () => {
    answers.findAndModify = [transient];
    await expect(both()).rejects.toMatchObject({ code: 'TOO_MANY_WRITERS' });
    expect(names().filter((name) => name === 'insert')).toHaveLength(10);
    expect(names()).not.toContain('commitTransaction');
  });

  test('503 TOO_MANY_WRITERS when the transaction is open for more than 8 s', async () => {
    const { now } = performance;
    let passed = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + passed);
    const slow = jointly(project, async () => {
      await insert();
      passed = maxOpenMs + 1;
    });
    await expect(slow).rejects.toMatchObject({ code: 'TOO_MANY_WRITERS' });
    expect(names()).toEqual(['insert', 'abortTransaction']);
  });

  test('wait for the commit with everything that follows them', async () => {
    const { afterwards } = await import('../../../../shared/documents/store/joint-scope.ts');
    const after = vi.fn(async () => expect(names()).toContain('commitTransaction'));
    answers.findAndModify = [transient, changed];
    await jointly(project, async () => {
      await afterwards(after);
      await update();
    });
    expect(after).toHaveBeenCalledOnce();
  });

  test('hold a checked document until the commit', async () => {
    await jointly(project, () => performWrite({ op: 'check', access: access(), id }));
    expect(names()).toEqual(['find', 'update', 'commitTransaction']);
    const [, held] = commands;
    expect(held).toMatchObject({ txnNumber: commands[0]?.txnNumber, autocommit: false });
  });

  const rejected: number[] = [];
  const forWrite: ForWrite = async (index, act) => {
    try {
      return await act();
    } catch (error) {
      rejected.push(index);
      throw error;
    }
  };
  const insertThree = () =>
    jointly(project, () => {
      const inserts = [1, 2, 3].map((n) => {
        const write = { op: 'insert', access: access(), id: new ObjectId(), isChosen: false } as const;
        return { ...write, document: { code: `code ${n}` } };
      });
      return insertTogether(inserts, 4, forWrite);
    });

  test('do consecutive inserts with one command', async () => {
    answers.insert = [{ ok: 1, n: 3 }];
    const { result, isAtomic } = await insertThree();
    expect([isAtomic, result.map(({ document }) => document?.code)]).toEqual([true, ['code 1', 'code 2', 'code 3']]);
    expect(names()).toEqual(['insert', 'commitTransaction']);
    expect(commands[0]).toMatchObject({ startTransaction: true, ordered: true });
  });

  test('409 DUPLICATE_VALUE of the second of three inserts aborts the transaction, and no command follows', async () => {
    answers.insert = [{ ...clash, n: 1, writeErrors: [{ ...clash.writeErrors[0], index: 1 }] }];
    rejected.length = 0;
    await expect(insertThree()).rejects.toMatchObject({
      code: 'DUPLICATE_VALUE',
      message: expect.not.stringContaining('Item'),
    });
    expect(rejected).toEqual([5]);
    expect(names()).toEqual(['insert', 'abortTransaction']);
  });

  test('start over after a transient failure of several inserts', async () => {
    answers.insert = [transient, { ok: 1, n: 3 }];
    expect((await insertThree()).isAtomic).toBe(true);
    expect(names()).toEqual(['insert', 'abortTransaction', 'insert', 'commitTransaction']);
  });

  test('400 TOO_MANY_WRITES aborts above 1000 writes', async () => {
    const many = jointly(project, async () => {
      countWrites(998);
      for (let n = 0; n <= 1000; n += 1) await insertOne(access(), { n });
    });
    await expect(many).rejects.toMatchObject({ code: 'TOO_MANY_WRITES' });
    expect(names().filter((name) => name === 'insert')).toHaveLength(2);
    expect(names().at(-1)).toBe('abortTransaction');
  });
});

describe('writes on a server without transactions', () => {
  test('run without a session and tell that they were not atomic', async () => {
    hello = helloReply;
    expect((await both()).isAtomic).toBe(false);
    expect(names()).toEqual(once);
    for (const command of commands) expect(command).not.toHaveProperty('txnNumber');
  });

  test('run without one when the server rejects the first command of a transaction', async () => {
    answers.insert = [
      { ok: 0, code: 20, errmsg: 'Transaction numbers are only allowed on a replica set member' },
      done,
    ];
    expect((await both()).isAtomic).toBe(false);
    expect(names().filter((name) => name !== 'abortTransaction')).toEqual(['insert', ...once]);
  });
});
