import { createHash, randomUUID } from 'node:crypto';
import { clock } from '../../../core/clock.ts';
import { type Written, write } from '../../../table/item.ts';
import { itemKey, projectScope } from '../../../table/item-key.ts';
import * as kinds from '../../../table/keys.ts';
import type { Update } from '../../../table/write-input.ts';
import type { KeyedRequest } from './idempotency-key.ts';

// One item a project and key says which mails the key stands for, which run is at work on them and until when, and,
// once it is done, what was answered. Every step of it is one conditional update.

/** How long a key stands for its first request. */
const keptSeconds = 24 * 3600;

/** Longer than any function runs, so that a run whose time is up has ended. */
const leaseMs = 60_000;

/** A request of a project, as one run of a function works on it. */
export interface Run {
  readonly projectId: string;
  readonly request: KeyedRequest;
  readonly runId: string;
}

/** How a key stands: this run's, for mails with these ids; answered; being worked on; or that of another request. */
export type KeyState =
  | { readonly kind: 'mine'; readonly ids: readonly string[]; readonly begunBefore: boolean }
  | { readonly kind: 'answered'; readonly answer: string }
  | { readonly kind: 'under way' }
  | { readonly kind: 'taken' };

export const newRun = (projectId: string, request: KeyedRequest): Run => ({
  projectId,
  request,
  runId: randomUUID(),
});

/** What is kept of a key: `leasedUntil` in ms since 1970, `expiresAt` in seconds, the ids of its mails with spaces. */
interface KeyItem {
  readonly fingerprint: string;
  readonly mailIds: string;
  readonly runId: string;
  readonly leasedUntil: number;
  readonly expiresAt: number;
  readonly answer?: string;
}

const seconds = (): number => Math.floor(clock.now() / 1000);

/** Makes a change of a run, whose id is `:run`; the item as it was where the condition is against it. */
const update = ({ projectId, request, runId }: Run, by: Omit<Update, 'update'>): Promise<Written<KeyItem>> => {
  const hash = createHash('sha256').update(request.key).digest('base64url');
  const key = itemKey(kinds.idempotency, projectScope(projectId), { hash });
  return write({ update: key, ...by, values: { ...by.values, run: runId } }, 'ALL_NEW');
};

/** Goes on where a run ended without saying what came of it. */
const takeOver = async (run: Run): Promise<KeyState> => {
  const now = clock.now();
  const { done, item } = await update(run, {
    change: 'SET runId = :run, leasedUntil = :until',
    condition: 'fingerprint = :fingerprint AND attribute_not_exists(answer) AND (leasedUntil <= :now OR runId = :run)',
    values: { fingerprint: run.request.fingerprint, until: now + leaseMs, now },
  });
  return done ? { kind: 'mine', ids: (item?.mailIds ?? '').split(' '), begunBefore: true } : { kind: 'under way' };
};

/**
 * Takes a key for this run, by one conditional write that one of any number of parallel callers wins: `ids` are those
 * of the mails, where the key stands for none yet.
 */
export const claim = async (run: Run, ids: readonly string[]): Promise<KeyState> => {
  const now = clock.now();
  const { done, item } = await update(run, {
    change:
      'SET fingerprint = :fingerprint, mailIds = :ids, runId = :run, leasedUntil = :until, expiresAt = :end REMOVE answer',
    // The client writes a second time where the first answer got lost; what it finds then is its own run.
    condition: 'attribute_not_exists(pk) OR expiresAt <= :now OR runId = :run',
    values: {
      fingerprint: run.request.fingerprint,
      ids: ids.join(' '),
      until: now + leaseMs,
      end: seconds() + keptSeconds,
      now: seconds(),
    },
  });
  if (done) return { kind: 'mine', ids, begunBefore: false };
  if (item?.fingerprint !== run.request.fingerprint) return { kind: 'taken' };
  if (item.answer !== undefined) return { kind: 'answered', answer: item.answer };
  return item.leasedUntil > now ? { kind: 'under way' } : takeOver(run);
};

const condition = 'runId = :run';

/** Notes what was answered, for whoever comes with the key again. */
export const noteAnswer = async (run: Run, answer: string): Promise<void> => {
  await update(run, { change: 'SET answer = :answer', condition, values: { answer } });
};

/** Lets another run go on with the same mails at once; with `nothingDone` the key stands for nothing any more. */
export const updateHeld = async (run: Run, { nothingDone }: { readonly nothingDone: boolean }): Promise<void> => {
  await update(
    run,
    nothingDone
      ? { change: 'SET leasedUntil = :zero, expiresAt = :now', condition, values: { zero: 0, now: seconds() } }
      : { change: 'SET leasedUntil = :zero', condition, values: { zero: 0 } },
  );
};
