import { UpdateItemCommand, type UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import { nowSeconds } from '../clock.ts';
import { AppError } from '../errors.ts';

/** A fixed window of 15 minutes, counted for one source address. `name` is the attribute that counts it. */
export interface Window {
  readonly name: 'all' | 'auth' | 'credential' | 'dashboard';
  readonly limit: number;
}

/** How the tightest window stands after a request was counted. `reset` is in whole seconds from now. */
export interface Standing {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
}

const windowSeconds = 900;

/** Sources that are over a limit until a time; they are refused without another write. */
const refused = new Map<string, number>();
const rememberedRefusals = 10_000;

/** The part of an address that one party controls: IPv6 is counted by its /64. */
export const sourceOf = (address: string): string => {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const rest = tail.split(':').filter(Boolean);
  const filled = [...groups, ...Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill('0'), ...rest];
  return `${filled.slice(0, 4).join(':')}::/64`;
};

const limited = (standing: Standing): AppError =>
  new AppError('RATE_LIMITED', `Too many requests. Try again in ${standing.reset} seconds.`, {
    retryAfter: standing.reset,
  });

const update = (table: string, source: string, start: number, windows: readonly Window[]): UpdateItemCommandInput => ({
  TableName: table,
  Key: { pk: { S: `rate#${source}` }, sk: { S: String(start) } },
  UpdateExpression: `ADD ${windows.map(({ name }) => `n_${name} :one`).join(', ')} SET expiresAt = :end`,
  ExpressionAttributeValues: { ':one': { N: '1' }, ':end': { N: String(start + windowSeconds + 60) } },
  ReturnValues: 'UPDATED_NEW',
});

const remember = (key: string, until: number, now: number): void => {
  if (refused.size >= rememberedRefusals) {
    for (const [known, end] of refused) if (end <= now) refused.delete(known);
    if (refused.size >= rememberedRefusals) refused.clear();
  }
  refused.set(key, until);
};

/** Thrown by `countRequest` with how the window stands, so that a refusal carries the same headers as an answer. */
export class OverLimit extends Error {
  override readonly name = 'OverLimit';
  readonly standing: Standing;
  readonly refusal: AppError;

  constructor(standing: Standing) {
    super('Over the rate limit');
    this.standing = standing;
    this.refusal = limited(standing);
  }
}

/**
 * Counts one request of a source address in all its windows, by one update, and tells how the tightest stands. Windows are
 * aligned to the clock. Over a limit → `OverLimit`; the table out of reach → `SERVICE_UNAVAILABLE`.
 */
export const countRequest = async (address: string, windows: readonly Window[]): Promise<Standing> => {
  const now = nowSeconds();
  const start = now - (now % windowSeconds);
  const reset = start + windowSeconds - now;
  const source = sourceOf(address);
  for (const { name, limit } of windows) {
    if ((refused.get(`${source} ${name}`) ?? 0) > now) throw new OverLimit({ limit, remaining: 0, reset });
  }
  const { Attributes } = await onTable((dynamo, table) =>
    dynamo.send(new UpdateItemCommand(update(table, source, start, windows))),
  );
  const standings = windows.map(({ name, limit }) => ({
    name,
    limit,
    left: limit - Number(Attributes?.[`n_${name}`]?.N),
  }));
  const tightest = standings.reduce((least, standing) => (standing.left < least.left ? standing : least));
  const standing = { limit: tightest.limit, remaining: Math.max(0, tightest.left), reset };
  if (tightest.left < 0) {
    remember(`${source} ${tightest.name}`, start + windowSeconds, now);
    throw new OverLimit(standing);
  }
  return standing;
};
