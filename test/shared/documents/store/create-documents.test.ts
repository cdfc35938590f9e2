import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { permitAddresses } from '../../../../infra/local/permit-addresses.ts';
import { closeCustomerDatabases } from '../../../../shared/customer-database/client.ts';
import { createDocuments } from '../../../../shared/documents/store/write-documents.ts';
import { type FakeMongod, helloReply, startFakeMongod } from '../../../support/faults/fake-mongod.ts';
import { projectWithKey } from '../../accounts/project.ts';
import { collectionOf } from '../collections.ts';

process.env.ENCRYPTION_KEY = Buffer.alloc(32, 1).toString('base64');

type Command = Readonly<Record<string, unknown>>;

const replicaSet = { ...helloReply, setName: 'rs0', hosts: [], logicalSessionTimeoutMinutes: 30 };
const stored = { ok: 1, n: 3 };
const taken = { ok: 1, n: 1, writeErrors: [{ index: 1, code: 11000, errmsg: 'taken', keyPattern: { a: 1 } }] };
const refused = { ok: 0, code: 13, errmsg: 'not authorized', codeName: 'Unauthorized' };

let server: FakeMongod;
let commands: Command[];
/** The replica set’s responses to commands, by name. */
let answers: Readonly<Record<string, Command | ((socket: Socket) => Command | undefined)>>;

beforeEach(async () => {
  commands = [];
  server = await startFakeMongod((command, _port, socket) => {
    const [name = ''] = Object.keys(command);
    if (/^(hello|ismaster|ping|endSessions)$/i.test(name)) return replicaSet;
    commands.push(command);
    const answer = answers[name] ?? { ok: 1 };
    return typeof answer === 'function' ? answer(socket) : answer;
  });
  permitAddresses(`127.0.0.1:${server.port}`);
});

afterEach(async () => {
  await closeCustomerDatabases();
  await server.stop();
});

const insertThree = async () => {
  const { port } = server;
  const openUri = async () => `mongodb://127.0.0.1:${port}/app?directConnection=true`;
  const placement = { kind: 'external' as const, host: '', encryptedUri: `sealed ${port}`, openUri };
  const project = { ...(await projectWithKey('a'.repeat(24))), placement };
  return createDocuments({ project, collection: collectionOf(null), caller: { kind: 'secret' } }, [
    { a: 1 },
    { a: 2 },
    { a: 3 },
  ]);
};

const names = (): string[] => commands.map((command) => Object.keys(command)[0] ?? '');

/** Checks that every command belongs to one transaction, which the first one starts, outside any other session. */
const expectOneTransaction = (): void => {
  const [first] = commands;
  expect(first).toMatchObject({ startTransaction: true, autocommit: false, txnNumber: 1 });
  expect(first?.lsid).toMatchObject({ id: expect.anything() });
  for (const { lsid, txnNumber, autocommit, startTransaction } of commands.slice(1)) {
    expect({ lsid, txnNumber, autocommit, startTransaction }).toEqual({
      lsid: first?.lsid,
      txnNumber: first?.txnNumber,
      autocommit: false,
      startTransaction: undefined,
    });
  }
};

describe('a bulk insert on a replica set', () => {
  test('is one transaction: the insert starts it, and a commit ends it', async () => {
    answers = { insert: stored };
    expect(await insertThree()).toMatchObject({ insertedCount: 3 });
    expect(names()).toEqual(['insert', 'commitTransaction']);
    expect(commands[0]).not.toHaveProperty('writeConcern');
    expect(commands[1]).toMatchObject({ writeConcern: { w: 'majority' } });
    expectOneTransaction();
  });

  test('409 DUPLICATE_VALUE aborts the transaction, and no command removes documents', async () => {
    answers = { insert: taken };
    await expect(insertThree()).rejects.toMatchObject({ code: 'DUPLICATE_VALUE' });
    expect(names()).toEqual(['insert', 'abortTransaction']);
    expectOneTransaction();
  });

  test.each<[string, Command]>([
    ['the insert', { insert: refused }],
    ['the commit', { insert: stored, commitTransaction: refused }],
  ])('503 when %s fails, and nothing is inserted outside a transaction', async (_what, given) => {
    answers = given as typeof answers;
    await expect(insertThree()).rejects.toMatchObject({ code: 'OWN_DATABASE_UNAVAILABLE' });
    expect(names().filter((name) => name === 'insert')).toHaveLength(1);
    expect(names()).not.toContain('delete');
    expectOneTransaction();
  });

  test('commits the same transaction again when the response to the commit is lost', async () => {
    let lost = false;
    answers = {
      insert: stored,
      commitTransaction: (socket) => {
        if (lost) return { ok: 1 };
        lost = true;
        socket.destroy();
        return undefined;
      },
    };
    expect(await insertThree()).toMatchObject({ insertedCount: 3 });
    expect(names()).toEqual(['insert', 'commitTransaction', 'commitTransaction']);
    expectOneTransaction();
  });
});
