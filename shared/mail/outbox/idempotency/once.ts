import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { AppError, statusOf } from '../../../core/errors.ts';
import { describeError, log } from '../../../core/log.ts';
import { newId } from '../../../core/new-id.ts';
import { claim, newRun, noteAnswer, type Run, updateHeld } from './claim.ts';
import type { KeyedRequest } from './idempotency-key.ts';

/** What is done once, for mails with ids that are known before anything is done. */
export interface OnceOnly<T> {
  readonly mails: number;
  readonly act: (ids: readonly ObjectId[]) => Promise<T>;
  /** What came of a run that ended before it could say so; `undefined` where it has accepted nothing. */
  readonly recover: (ids: readonly ObjectId[]) => Promise<T | undefined>;
}

/** How long a caller waits for the answer of another one with the same key, step by step, in milliseconds. */
const waits = [100, 200, 400, 800, 1600];

const underWay = (): AppError =>
  new AppError(
    'IDEMPOTENCY_KEY_IN_USE',
    'Another request with this Idempotency-Key is under way. Try again in a few seconds, with the same key.',
  );

const taken = (): AppError =>
  new AppError(
    'IDEMPOTENCY_KEY_REUSED',
    'This Idempotency-Key was used in the last 24 hours for a request with another body. Give every mail a key of its own.',
  );

const isRefusal = (error: unknown): boolean => error instanceof AppError && statusOf[error.code] < 500;

/** What the item says afterwards is for repeats alone, so not to have written it is no failure. */
const note = async (write: Promise<void>): Promise<void> => {
  try {
    await write;
  } catch (error) {
    log.warn({ message: 'An idempotency key was left unsettled for a minute', error: describeError(error) });
  }
};

const toObjectIds = (ids: readonly string[]): readonly ObjectId[] => ids.map((id) => new ObjectId(id));

const carryOut = async <T>(run: Run, ids: readonly ObjectId[], { act }: OnceOnly<T>): Promise<T> => {
  let result: T;
  try {
    result = await act(ids);
  } catch (error) {
    await note(updateHeld(run, { nothingDone: isRefusal(error) }));
    throw error;
  }
  await note(noteAnswer(run, JSON.stringify(result)));
  return result;
};

/**
 * Does what a request asks for, once for each key of a project in 24 hours (contract 5, "Idempotency-Key"): a repeat
 * with the same body gets the first one's answer. Another body → 409 `IDEMPOTENCY_KEY_REUSED`; the first one still at
 * work after 3 seconds → 409 `IDEMPOTENCY_KEY_IN_USE`. A refusal frees the key. Where a run ends without an answer, the
 * next one with the key goes on with the same mails, a minute later at most. Without a key it is simply done.
 */
export const once = async <T>(projectId: string, request: KeyedRequest | undefined, work: OnceOnly<T>): Promise<T> => {
  const fresh = Array.from({ length: work.mails }, () => newId());
  if (!request) return work.act(fresh);
  const run = newRun(projectId, request);
  const wanted = fresh.map((id) => id.toHexString());
  for (const wait of [...waits, 0]) {
    const standing = await claim(run, wanted);
    if (standing.kind === 'taken') throw taken();
    if (standing.kind === 'answered') return JSON.parse(standing.answer) as T;
    if (standing.kind === 'mine') {
      const ids = toObjectIds(standing.ids);
      const recovered = standing.begunBefore ? await work.recover(ids) : undefined;
      if (recovered === undefined) return carryOut(run, ids, work);
      await note(updateHeld(run, { nothingDone: false }));
      return recovered;
    }
    if (wait > 0) await pause(wait);
  }
  throw underWay();
};
