import type { Db } from 'mongodb';
import type { Stack } from '../infra/local/stack.ts';
import { type LimitedDelivery, measureDelivery } from './delivery.ts';
import type { Flags } from './flags.ts';
import type { InstantProvider } from './instant-provider.ts';
import { measureNeighbours, type Neighbour } from './neighbours.ts';
import { noises } from './noise.ts';
import { measureOwnDatabase } from './own-database.ts';
import type { Pair } from './pairs.ts';
import { measurePurge } from './purge.ts';
import { renderLimited, renderPairs } from './report.ts';
import type { Bed } from './seed.ts';

export interface Scenery {
  readonly stack: Stack;
  readonly bed: Bed;
  readonly database: Db;
  readonly provider: InstantProvider;
  /** Collections to purge. */
  readonly trash: { readonly basalt: string; readonly bare: string };
}

/** Work outside of requests, as Markdown. */
export const renderJobs = async ({ stack, bed, database, trash }: Scenery, flags: Flags): Promise<string[]> => {
  const { env, dashboardUrl, mongoUri } = stack;
  const { only, rounds } = flags;
  const pairs: Pair[] = [];
  let limited: LimitedDelivery | undefined;
  if ('get, own database'.includes(only)) {
    pairs.push(await measureOwnDatabase({ env, dashboardUrl, mongoUri }, flags));
  }
  if ('deliver mail'.includes(only)) {
    const delivery = await measureDelivery({ ...bed, env, database }, rounds);
    pairs.push(delivery.free);
    limited = delivery.limited;
  }
  if ('purge the trash'.includes(only)) pairs.push(await measurePurge(database, bed.projectId, trash, rounds));
  return [...(pairs.length > 0 ? [renderPairs(pairs)] : []), ...(limited ? [renderLimited(limited)] : [])];
};

/** Measures the effect of one project's work on another's requests. */
export const measureStreet = async ({ stack, provider }: Scenery, flags: Flags): Promise<readonly Neighbour[]> => {
  const { only, rounds, seconds } = flags;
  const wanted = noises.filter((noise) => `neighbour's ${noise}`.includes(only));
  if (wanted.length === 0) return [];
  const { dashboardUrl, mongoUri } = stack;
  const env = { ...stack.env, MAIL_PROVIDER_URL: provider.url, ACCOUNT_MAILS_PER_DAY: '0' };
  return measureNeighbours({ env, dashboardUrl, mongoUri }, { rounds, seconds, noises: wanted });
};
