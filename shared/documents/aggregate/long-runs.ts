import { hash } from 'node:crypto';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { currentRequest } from '../../core/log.ts';
import { remember } from '../../core/remember.ts';
import type { Project } from '../../projects/project.ts';
import { itemKey, partitionKey, projectScope } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';
import { inTurn, type Turns } from '../../work/turns.ts';

/** The longest that an aggregation may take. */
const limitMs = 5000;

/** One that takes no longer needs no turn; nor does one that a busy machine keeps waiting. */
const quickMs = 1000;

/** Aggregations that this process has found to be long, and when: for a minute they are not tried without a turn. */
const found = new Map<string, number>();
const rememberedMs = 60_000;
const rememberedAggregations = 1000;

const isLong = (key: string): boolean => clock.now() - (found.get(key) ?? 0) < rememberedMs;

/** Three that take as long as one may can end meanwhile; the limit of a function is 29 s. */
const patienceMs = 15_000;

/** Long ones of a project go one at a time: with two, on two cores, the p95 of others was three times as long. */
export const turnsOf = (projectId: string): Turns => ({
  key: itemKey(kinds.longAggregations, partitionKey('rate', { source: projectScope(projectId) })),
  leaseMs: limitMs + 3000,
  patienceMs,
  refusal: (retryAfter) =>
    new AppError(
      'TOO_MANY_AGGREGATIONS',
      `An aggregation of this project that takes longer than a second is under way, and one at a time may. Try again when it has ended, send them one after the other, or make them quicker: filter in a first $match that an index serves.`,
      { retryAfter },
    ),
});

const isTimeout = (error: unknown): boolean => error instanceof AppError && error.code === 'QUERY_TIMEOUT';

/**
 * Runs an aggregation, `run` with the milliseconds that it may take. Where projects share a database, one that is not
 * done in a second begins again in its project's turn, so that what takes long is bounded and what is quick
 * costs nothing. No turn free within 15 s → 429 `TOO_MANY_AGGREGATIONS`. `asked` tells aggregations apart, whoever
 * asks.
 */
export const boundedRun = async <T>(
  { id, placement }: Project,
  asked: readonly unknown[],
  run: (limitMs: number) => Promise<T>,
): Promise<T> => {
  if (placement.kind !== 'managed') return run(limitMs);
  const key = hash('sha256', JSON.stringify([id, ...asked]), 'base64url');
  if (!isLong(key)) {
    const record = currentRequest.getStore();
    const lostMs = record?.lostMs ?? 0;
    try {
      return await run(quickMs);
    } catch (error) {
      if (!isTimeout(error)) throw error;
    }
    // That it takes long is no failure, which would shorten what it may take now.
    if (record) record.lostMs = lostMs;
    remember(found, key, clock.now(), rememberedAggregations);
  }
  return inTurn(turnsOf(id), () => run(limitMs));
};
