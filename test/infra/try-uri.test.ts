import dns from 'node:dns';
import { afterEach, expect, test, vi } from 'vitest';
import { tryUri } from '../../infra/operate/deploy/try-uri.ts';
import { type FakeMongod, helloReply, startFakeMongod } from '../support/faults/fake-mongod.ts';

let server: FakeMongod | undefined;
afterEach(() => server?.stop());

type Answer = (error: Error) => void;

/** A server with a response per command name, and `ok` for all others. */
const startServer = async (answers: Readonly<Record<string, Readonly<Record<string, unknown>>>>): Promise<string> => {
  server = await startFakeMongod((command) => {
    const [name = ''] = Object.keys(command);
    return answers[name] ?? (/^(hello|ismaster)$/i.test(name) ? helloReply : { ok: 1 });
  });
  return `127.0.0.1:${server.port}`;
};

const saslFailure = { ok: 0, code: 18, codeName: 'AuthenticationFailed', errmsg: 'Authentication failed.' };

test('MongoDB URI works when its user may do everything, and nothing is left behind', async () => {
  const dropped: unknown[] = [];
  server = await startFakeMongod((command) => {
    const [name = ''] = Object.keys(command);
    if (name === 'dropDatabase') dropped.push(command.$db);
    return /^(hello|ismaster)$/i.test(name) ? helloReply : { ok: 1, n: 1 };
  });
  expect(await tryUri(`mongodb://127.0.0.1:${server.port}`)).toBe('works');
  expect(dropped).toEqual([`p_${'0'.repeat(24)}`]);
});

test.each([
  ['the password is wrong', saslFailure],
  ['Atlas says that the password is wrong', { ...saslFailure, code: 8000, codeName: 'AtlasError' }],
])('MongoDB URI is rejected when %s', async (_what, saslStart) => {
  const uri = `mongodb://ann:hunter2@${await startServer({ saslStart })}/?authMechanism=SCRAM-SHA-256`;
  expect(await tryUri(uri)).toEqual({ problem: 'the user or the password is wrong' });
});

test('MongoDB URI is rejected with the missing roles when its user lacks permissions', async () => {
  const insert = { ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'not authorized' };
  const uri = `mongodb://${await startServer({ insert })}`;
  expect(await tryUri(uri)).toEqual({ problem: expect.stringContaining('readWriteAnyDatabase') as unknown });
});

test.each(['mongodb://ann:hunter2@host:port', 'mongodb://ann:50%@host', 'mongodb+srv://ann:x@cluster:27017'])(
  '%s is rejected as malformed',
  async (uri) => {
    expect(await tryUri(uri)).toEqual({ problem: expect.stringMatching(/^it is malformed/) as unknown });
  },
);

test('MongoDB URI is rejected when it uses an authentication mechanism that the bundles lack', async () => {
  const uri = 'mongodb+srv://cluster.example/?authSource=%24external&authMechanism=MONGODB-AWS';
  expect(await tryUri(uri)).toEqual({ problem: expect.stringMatching(/^it uses MONGODB-AWS/) as unknown });
});

test('MongoDB URI is rejected when its host does not exist', async () => {
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation(((_host: string, _options: object, done: Answer) => {
    done(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }));
  }) as typeof dns.lookup);
  expect(await tryUri('mongodb://clutser.example', 300)).toEqual({ problem: 'its host name does not exist' });
  expect(lookup).toHaveBeenCalled();
  lookup.mockRestore();
});

test('MongoDB URI is unreachable when its server does not respond', async () => {
  const address = await startServer({});
  await server?.stop();
  expect(await tryUri(`mongodb://${address}`, 300)).toBe('unreachable');
});
