import { passwordCost } from './accounts.ts';
import type { Contenders } from './compare.ts';
import { startContender } from './contender.ts';
import { makeQueues } from './queues.ts';
import type { Bed } from './seed.ts';

const most = '999999999';
const unlimited = { RATE_LIMIT: most, AUTH_RATE_LIMIT: most, CREDENTIAL_RATE_LIMIT: most };

/** What a limit of 100 000 requests counts at once. */
const block = '100';

/** Starts the servers to compare, each in a process of its own, with the environment of the stack. */
export const startContenders = async (
  stackEnv: Readonly<Record<string, string>>,
  { database, secretKey }: Bed,
): Promise<Contenders> => {
  const [bareQueue = '', mailQueue = ''] = await makeQueues(stackEnv.AWS_ENDPOINT_URL ?? '', ['bare', 'basalt']);
  const key = { 'x-api-key': secretKey };
  const env = { ...stackEnv, PASSWORD_COST: String(passwordCost), MAIL_QUEUE_URL: mailQueue };
  return {
    bare: await startContender(
      'bare',
      'bare-server.ts',
      { ...stackEnv, BENCH_DATABASE: database, BENCH_QUEUE: bareQueue },
      {},
    ),
    basalt: await startContender('uncounted', 'basalt-server.ts', { ...env, RATE_LIMIT: '0' }, key),
    counted: await startContender('counted', 'basalt-server.ts', { ...env, ...unlimited, RATE_BLOCK: '1' }, key),
    blocks: await startContender(
      'counted in blocks',
      'basalt-server.ts',
      { ...env, ...unlimited, RATE_BLOCK: block },
      key,
    ),
  };
};
