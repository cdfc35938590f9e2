import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleFunctions } from '../../infra/build/bundle.ts';
import { queueMail } from '../../shared/mail/send.ts';
import { closeMongo } from '../../shared/persistence/mongo.ts';
import { closeSqs } from '../../shared/persistence/sqs.ts';
import { codeIn, mailsTo, mailTo } from '../support/clients/inbox.ts';
import { type RunningStack, startTestStack } from '../support/clients/start-stack.ts';
import { stillQueue } from '../support/fixtures/still-queue.ts';

let directory: string;
let stack: RunningStack;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-mail-'));
  stack = await startTestStack(directory);
});
afterAll(async () => {
  await stack.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

test('accepted emails are sent after the next start when everything was killed, also with bundles', async () => {
  Object.assign(process.env, stack.env, { MAIL_QUEUE_URL: await stillQueue(stack.env.AWS_ENDPOINT_URL ?? '') });
  const addresses = Array.from({ length: 25 }, (_, index) => `reader-${index}@example.com`);
  for (const to of addresses) {
    const variables = { link: '', code: 'ABCD-2345', minutes: '10' };
    await queueMail({ projectId: null, template: 'password-reset', to, variables, siteName: 'Notes' });
  }
  await closeMongo();
  closeSqs();
  process.kill(stack.pid, 'SIGKILL');
  await stack.stop();

  const BUNDLES = path.join(directory, 'functions');
  await bundleFunctions(BUNDLES, { prefixes: ['jobs-'] });
  stack = await startTestStack(directory, { BUNDLES });
  const provider = stack.env.MAIL_PROVIDER_URL ?? '';
  for (const to of addresses) expect(codeIn(await mailTo(to, 1, provider))).toBe('ABCD-2345');
  for (const to of addresses) expect(await mailsTo(to, provider)).toHaveLength(1);
});
