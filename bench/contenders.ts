import type { Contenders } from './compare.ts';
import { type Contender, startContender } from './contender.ts';
import type { Name } from './operation.ts';
import { startPeer } from './parse/start.ts';
import { passwordCost } from './password-cost.ts';
import { startPocketBase } from './pocketbase/start.ts';
import type { Backing } from './processes.ts';
import { makeQueues } from './queues.ts';
import type { Bed } from './seed.ts';

const most = '999999999';

/** The block size of a limit of 100 000 requests. */
const block = '100';

/** Variants of Basalt's request counting. */
const counting = {
  basalt: { RATE_LIMIT: '0' },
  counted: { RATE_LIMIT: most, AUTH_RATE_LIMIT: most, CREDENTIAL_RATE_LIMIT: most, RATE_BLOCK: '1' },
  blocks: { RATE_LIMIT: most, AUTH_RATE_LIMIT: most, CREDENTIAL_RATE_LIMIT: most, RATE_BLOCK: block },
} as const;

/** Also counts each request; `meterUrl` is a meter in front of DynamoDB. */
const metering = (meterUrl: string) => ({
  ...counting.counted,
  BENCH_COMMANDS: '1',
  AWS_ENDPOINT_URL_DYNAMODB: meterUrl,
});

const called = { basalt: 'uncounted', counted: 'counted', blocks: 'counted in blocks', metered: 'metered' } as const;

export interface ContenderSettings {
  readonly env: Readonly<Record<string, string>>;
  /** A folder for other products. */
  readonly directory: string;
  readonly backing: Backing | undefined;
  /** Counts DynamoDB's request units, if they are measured. */
  readonly meterUrl: string | undefined;
  /** The fake mail provider. */
  readonly providerUrl: string;
}

/** Starts the servers to compare, each in a process of its own. */
export const startContenders = async (
  names: readonly Name[],
  { env: stackEnv, directory, backing, meterUrl, providerUrl }: ContenderSettings,
  { database, secretKey }: Bed,
): Promise<Contenders> => {
  const [bareQueue = '', mailQueue = ''] = await makeQueues(stackEnv.AWS_ENDPOINT_URL ?? '', ['bare', 'basalt']);
  const env = {
    ...stackEnv,
    PASSWORD_COST: String(passwordCost),
    MAIL_QUEUE_URL: mailQueue,
    MAIL_PROVIDER_URL: providerUrl,
    ACCOUNT_MAILS_PER_DAY: '0',
  };
  const start = (name: Name): Promise<Contender> => {
    if (name === 'parse') return startPeer(env, directory, backing);
    if (name === 'pocketbase') return startPocketBase(directory);
    if (name === 'bare') {
      return startContender(
        name,
        'bare-server.ts',
        { ...env, BENCH_DATABASE: database, BENCH_QUEUE: bareQueue },
        {},
        backing,
      );
    }
    const key = { 'x-api-key': secretKey };
    const own = name === 'metered' ? metering(meterUrl ?? '') : counting[name];
    return startContender(called[name], 'basalt-server.ts', { ...env, ...own }, key, backing);
  };
  const started: [Name, Contender][] = [];
  for (const name of names) started.push([name, await start(name)]);
  return Object.fromEntries(started) as unknown as Contenders;
};
