import { expect, test } from 'vitest';
import { measured } from '../support/clients/measured-process.ts';
import type { WarmProject } from '../support/clients/warm-requests.ts';
import { newProviderKey } from '../support/fixtures/mail-project.ts';
import { newUsersProject } from '../support/fixtures/users.ts';

/** Half of the memory of a deployed function. */
const heapMiB = 256;

/** The most that the heap of a warm function may grow. */
const boundMiB = 2;

test('heap of a warm function grows by at most 2 MiB after 100 000 requests to every area', async () => {
  const project = await newUsersProject({ settings: { providerApiKey: newProviderKey() } });
  await project.addCollection({ name: 'notes', schema: null });
  const { email, password, accessToken } = await project.newUser();
  const { id, secretKey, publishableKey, developer } = project;
  const warm: WarmProject = {
    id,
    secretKey,
    publishableKey,
    credentials: { email, password },
    userToken: accessToken,
    developerToken: developer.token,
  };
  const { beforeMiB = 0, afterMiB = 0, seconds } = await measured('warm-function.ts', JSON.stringify(warm), heapMiB);
  process.stdout.write(
    `heap ${beforeMiB.toFixed(2)} MiB before, ${afterMiB.toFixed(2)} MiB after 100 000 requests in ${seconds.toFixed(0)} s\n`,
  );
  expect(beforeMiB).toBeGreaterThan(0);
  expect(afterMiB - beforeMiB).toBeLessThan(boundMiB);
});
