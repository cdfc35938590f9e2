import { randomBytes } from 'node:crypto';
import { call, cookieOf } from './client.ts';
import type { TestStack } from './start-stack.ts';

/** The project of a write load, and the documents that it updates. */
export interface LoadTarget {
  readonly secretKey: string;
  readonly counters: readonly string[];
}

/** A session whose refresh token is rotated repeatedly. */
export interface Chain {
  /** The last cookie and the one before it. */
  cookie: string;
  previous: string | undefined;
  /** A rotation without a response. */
  uncertain: boolean;
}

/** Acknowledged writes. */
export class Ledger {
  readonly inserted: number[] = [];
  /** Counter document → last acknowledged value, last sent value. */
  readonly counters = new Map<string, { acknowledged: number; sent: number }>();
  readonly registered: { readonly email: string; readonly password: string }[] = [];
  chains: readonly Chain[] = [];
}

let nextNumber = 0;

/** `fetch` throws this if nobody listens or the response breaks off. */
const isConnectionLoss = (end: PromiseSettledResult<unknown>): end is PromiseFulfilledResult<unknown> =>
  end.status === 'fulfilled' || end.reason instanceof TypeError;

const insert = async ({ baseUrl }: TestStack, { secretKey: key }: LoadTarget, ledger: Ledger): Promise<void> => {
  const n = nextNumber++;
  const { status } = await call(baseUrl, 'POST', '/api/data/notes', { key, body: { n } });
  if (status === 201) ledger.inserted.push(n);
};

const update = async (
  { baseUrl }: TestStack,
  { secretKey: key }: LoadTarget,
  ledger: Ledger,
  id: string,
): Promise<void> => {
  const counter = ledger.counters.get(id) ?? { acknowledged: 0, sent: 0 };
  ledger.counters.set(id, counter);
  counter.sent += 1;
  const body = { value: counter.sent };
  const { status } = await call(baseUrl, 'PATCH', `/api/data/notes/${id}`, { key, body });
  if (status === 200) counter.acknowledged = body.value;
};

const register = async ({ dashboardUrl }: TestStack, ledger: Ledger): Promise<Chain> => {
  const body = { email: `${randomBytes(8).toString('hex')}@example.com`, password: randomBytes(9).toString('hex') };
  const answer = await call(dashboardUrl, 'POST', '/api/auth/register', { body });
  if (answer.status === 201) ledger.registered.push(body);
  return { cookie: cookieOf(answer), previous: undefined, uncertain: false };
};

const refresh = async ({ dashboardUrl }: TestStack, chain: Chain): Promise<void> => {
  chain.uncertain = true;
  const answer = await call(dashboardUrl, 'POST', '/api/auth/refresh', { headers: { cookie: chain.cookie } });
  if (answer.status !== 200) return;
  Object.assign(chain, { cookie: cookieOf(answer), previous: chain.cookie, uncertain: false });
};

/** Sends writes of every kind concurrently until the service stops responding, and records the acknowledged ones. */
export const writeUntilGone = async (stack: TestStack, target: LoadTarget, ledger: Ledger): Promise<void> => {
  const chains = await Promise.all([register(stack, ledger), register(stack, ledger)]);
  ledger.chains = chains;
  const writes: readonly (() => Promise<unknown>)[] = [
    ...[0, 1, 2].map(() => () => insert(stack, target, ledger)),
    ...target.counters.map((id) => () => update(stack, target, ledger, id)),
    () => register(stack, ledger),
    ...chains.map((chain) => () => refresh(stack, chain)),
  ];
  const repeat = async (write: () => Promise<unknown>): Promise<void> => {
    for (;;) await write();
  };
  const ended = await Promise.allSettled(writes.map(repeat));
  for (const end of ended) if (!isConnectionLoss(end)) throw end.reason;
};
