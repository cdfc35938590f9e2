import { createHash, randomUUID } from 'node:crypto';
import {
  type AttributeValue,
  ConditionalCheckFailedException,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { onTable } from '../../../clients/dynamo.ts';
import { clock } from '../../../core/clock.ts';
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
export type Standing =
  | { readonly kind: 'mine'; readonly ids: readonly string[]; readonly begunBefore: boolean }
  | { readonly kind: 'answered'; readonly answer: string }
  | { readonly kind: 'under way' }
  | { readonly kind: 'taken' };

export const newRun = (projectId: string, request: KeyedRequest): Run => ({
  projectId,
  request,
  runId: randomUUID(),
});

type Item = Readonly<Record<string, AttributeValue>>;

const number = (value: number): AttributeValue => ({ N: String(value) });
const seconds = (): number => Math.floor(clock.now() / 1000);
const idsIn = (item: Item | undefined): readonly string[] => (item?.mailIds?.S ?? '').split(' ');

/** Makes the update; the item as it was where the condition is against it. */
const update = async (
  { projectId, request, runId }: Run,
  change: Pick<UpdateItemCommandInput, 'UpdateExpression' | 'ConditionExpression'>,
  values: Record<string, AttributeValue>,
): Promise<{ readonly done: boolean; readonly item: Item | undefined }> => {
  const hash = createHash('sha256').update(request.key).digest('base64url');
  try {
    const { Attributes: item } = await onTable((dynamo, TableName) =>
      dynamo.send(
        new UpdateItemCommand({
          TableName,
          Key: { pk: { S: `p#${projectId}` }, sk: { S: `idempotency#mail#${hash}` } },
          ...change,
          ExpressionAttributeValues: { ...values, ':run': { S: runId } },
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
    return { done: true, item };
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    return { done: false, item: error.Item };
  }
};

/** Goes on where a run ended without saying what came of it. */
const takeOver = async (run: Run): Promise<Standing> => {
  const { done, item } = await update(
    run,
    {
      UpdateExpression: 'SET runId = :run, leasedUntil = :until',
      ConditionExpression:
        'fingerprint = :fingerprint AND attribute_not_exists(answer) AND (leasedUntil <= :now OR runId = :run)',
    },
    {
      ':fingerprint': { S: run.request.fingerprint },
      ':until': number(clock.now() + leaseMs),
      ':now': number(clock.now()),
    },
  );
  return done ? { kind: 'mine', ids: idsIn(item), begunBefore: true } : { kind: 'under way' };
};

/**
 * Takes a key for this run, by one conditional write that one of any number of parallel callers wins: `ids` are those
 * of the mails, where the key stands for none yet.
 */
export const claim = async (run: Run, ids: readonly string[]): Promise<Standing> => {
  const now = clock.now();
  const { done, item } = await update(
    run,
    {
      UpdateExpression:
        'SET fingerprint = :fingerprint, mailIds = :ids, runId = :run, leasedUntil = :until, expiresAt = :end REMOVE answer',
      // The client writes a second time where the first answer got lost; what it finds then is its own run.
      ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :now OR runId = :run',
    },
    {
      ':fingerprint': { S: run.request.fingerprint },
      ':ids': { S: ids.join(' ') },
      ':until': number(now + leaseMs),
      ':end': number(seconds() + keptSeconds),
      ':now': number(seconds()),
    },
  );
  if (done) return { kind: 'mine', ids, begunBefore: false };
  if (item?.fingerprint?.S !== run.request.fingerprint) return { kind: 'taken' };
  if (item.answer?.S !== undefined) return { kind: 'answered', answer: item.answer.S };
  return Number(item.leasedUntil?.N) > now ? { kind: 'under way' } : takeOver(run);
};

const ifMine = 'runId = :run';

/** Notes what was answered, for whoever comes with the key again. */
export const noteAnswer = async (run: Run, answer: string): Promise<void> => {
  await update(
    run,
    { UpdateExpression: 'SET answer = :answer', ConditionExpression: ifMine },
    { ':answer': { S: answer } },
  );
};

/** Lets another run go on with the same mails at once; with `nothingDone` the key stands for nothing any more. */
export const updateHeld = async (run: Run, { nothingDone }: { readonly nothingDone: boolean }): Promise<void> => {
  await update(
    run,
    nothingDone
      ? { UpdateExpression: 'SET leasedUntil = :zero, expiresAt = :now', ConditionExpression: ifMine }
      : { UpdateExpression: 'SET leasedUntil = :zero', ConditionExpression: ifMine },
    { ':zero': number(0), ...(nothingDone && { ':now': number(seconds()) }) },
  );
};
