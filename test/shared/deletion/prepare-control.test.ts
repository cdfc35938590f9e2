import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { handler } from '../../../functions/jobs/prepare-control.ts';
import { closeMongo } from '../../../shared/persistence/mongo.ts';
import { forgetSecrets } from '../../../shared/persistence/secrets.ts';
import { answerForAws } from '../../support/faults/aws-answers.ts';
import { type FakeMongod, helloReply, startFakeMongod } from '../../support/faults/fake-mongod.ts';

const servers: FakeMongod[] = [];

/** A server that creates or rejects every index. */
const startServer = async (answer: Readonly<Record<string, unknown>>): Promise<string> => {
  const server = await startFakeMongod((command) =>
    /^(hello|ismaster)$/i.test(Object.keys(command)[0] ?? '') ? helloReply : answer,
  );
  servers.push(server);
  return `mongodb://127.0.0.1:${server.port}`;
};

beforeEach(() => {
  vi.stubEnv('MONGODB_URI', undefined);
  vi.stubEnv('MONGODB_SECRET_ARN', 'arn:of:the:uri');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await closeMongo();
  forgetSecrets();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

test('a process retries after a wrong URI', async () => {
  const refused = await startServer({ ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'not authorized' });
  const answers = [refused, await startServer({ ok: 1 })];
  answerForAws(() => ({ SecretString: answers.shift() }));
  await expect(handler()).rejects.toThrow();
  await expect(handler()).resolves.toBeUndefined();
  expect(servers[1]?.connections()).toBeGreaterThan(0);
});
