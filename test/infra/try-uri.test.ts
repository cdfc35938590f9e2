import dns from 'node:dns';
import { afterEach, expect, test, vi } from 'vitest';
import { tryUri } from '../../infra/operate/deploy/try-uri.ts';
import { type FakeMongod, helloReply, startFakeMongod } from '../support/faults/fake-mongod.ts';

let server: FakeMongod | undefined;
afterEach(() => server?.stop());

type Answer = (error: Error) => void;

/** A server that answers each command by its name, and all others by `ok`. */
const startServer = async (answers: Readonly<Record<string, Readonly<Record<string, unknown>>>>): Promise<string> => {
  server = await startFakeMongod((command) => {
    const [name = ''] = Object.keys(command);
    return answers[name] ?? (/^(hello|ismaster)$/i.test(name) ? helloReply : { ok: 1 });
  });
  return `127.0.0.1:${server.port}`;
};

const saslFailure = { ok: 0, code: 18, codeName: 'AuthenticationFailed', errmsg: 'Authentication failed.' };

test('a URI that can do what the service does works, and leaves nothing behind', async () => {
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
  ['a wrong password', saslFailure],
  ['a wrong password at Atlas', { ...saslFailure, code: 8000, codeName: 'AtlasError' }],
])('%s is refused', async (_what, saslStart) => {
  const uri = `mongodb://ann:hunter2@${await startServer({ saslStart })}/?authMechanism=SCRAM-SHA-256`;
  expect(await tryUri(uri)).toEqual({ refused: 'the cluster answers that user or password is wrong' });
});

test('a user with too few rights is refused, and what to give it is said', async () => {
  const insert = { ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'not authorized' };
  const uri = `mongodb://${await startServer({ insert })}`;
  expect(await tryUri(uri)).toEqual({ refused: expect.stringContaining('readWriteAnyDatabase') as unknown });
});

test.each(['mongodb://ann:hunter2@host:port', 'mongodb://ann:50%@host', 'mongodb+srv://ann:x@cluster:27017'])(
  '%s is refused without trying',
  async (uri) => {
    expect(await tryUri(uri)).toEqual({ refused: expect.stringMatching(/^it cannot be read/) as unknown });
  },
);

test('a way to sign in that the bundles leave out is refused without trying', async () => {
  const uri = 'mongodb+srv://cluster.example/?authSource=%24external&authMechanism=MONGODB-AWS';
  expect(await tryUri(uri)).toEqual({ refused: 'functions sign in by a user and a password, not by MONGODB-AWS' });
});

test('a host that is not known is refused', async () => {
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation(((_host: string, _options: object, done: Answer) => {
    done(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }));
  }) as typeof dns.lookup);
  expect(await tryUri('mongodb://clutser.example', 300)).toEqual({ refused: 'its host is not known to the DNS' });
  expect(lookup).toHaveBeenCalled();
  lookup.mockRestore();
});

test('a server that is not there may be so from this machine alone', async () => {
  const address = await startServer({});
  await server?.stop();
  expect(await tryUri(`mongodb://${address}`, 300)).toBe('unreachable');
});
