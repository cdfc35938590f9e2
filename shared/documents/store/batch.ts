import type { ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { findCollections } from '../../collections/find-collections.ts';
import { isCollectionName, isUsersName } from '../../collections/names.ts';
import { AppError, statusOf } from '../../core/errors.ts';
import { newId, requestIds } from '../../core/ids.ts';
import { comparableJson, fitsResponse, isPlainObject, jsonOf } from '../../core/json.ts';
import { logFailure } from '../../core/log.ts';
import { currentRequest } from '../../core/request.ts';
import {
  acquireKey,
  endWithoutResponse,
  keyedRequest,
  outcomeUnknown,
  type Run,
  storedResponse,
  storeResponse,
} from '../../persistence/idempotency.ts';
import type { Caller, Project } from '../../projects/project.ts';
import type { Document } from '../document.ts';
import { maxPageBytes } from '../page-size.ts';
import { previewWrites } from './batch-check.ts';
import { type BatchWrite, eventsOf, type IdOf, type PerformedWrite, parseWrite, performWrite } from './batch-writes.ts';
import { runCausedWrites, withEffects } from './effect-writes.ts';
import { insertOne } from './insert.ts';
import { type ForWrite, insertsAt, insertTogether } from './insert-together.ts';
import { numbered } from './item-errors.ts';
import { currentScope } from './joint-scope.ts';
import { jointly } from './jointly.ts';

interface Batch {
  readonly project: Project;
  readonly caller: Caller;
  /** The writes as sent. */
  readonly writes: readonly unknown[];
}

const maxBatchWrites = 50;

const requireFew = ({ writes }: Batch): void => {
  if (writes.length > 0 && writes.length <= maxBatchWrites) return;
  throw new AppError('INVALID_BODY', `Send 1 to ${maxBatchWrites} writes; this batch has ${writes.length}.`);
};

const namesIn = (writes: readonly unknown[]): readonly string[] =>
  writes.flatMap((write) => {
    const name = isPlainObject(write) ? write.collection : undefined;
    return typeof name === 'string' && isCollectionName(name) && !isUsersName(name) ? [name] : [];
  });

/** Runs `act` for a write, whose number is added to an error. */
const forWrite: ForWrite = async (index, act) => {
  try {
    return await act();
  } catch (error) {
    throw numbered(error, 'write', index);
  }
};

const noInsert = (number: unknown): AppError =>
  new AppError('INVALID_BODY', `{"$id": ${JSON.stringify(number)}} names no earlier insert of this batch.`);

/** The ids of the inserts so far. */
const idsOf =
  (ids: readonly (ObjectId | string | undefined)[]): IdOf =>
  (number) => {
    const id = typeof number === 'number' ? ids[number] : undefined;
    if (id === undefined) throw noInsert(number);
    return String(id);
  };

interface Parsed {
  readonly writes: readonly BatchWrite[];
  /** The error of the first malformed write, which follows `writes`. */
  readonly malformed?: unknown;
}

const parseAll = async ({ project, caller, writes }: Batch): Promise<Parsed> => {
  const collections = await findCollections(project, namesIn(writes));
  const accessOf = (collection: Collection) => ({ project, collection, caller });
  const parsed: BatchWrite[] = [];
  const ids: (ObjectId | undefined)[] = [];
  try {
    for (const [index, sent] of writes.entries()) {
      const nextId = isPlainObject(sent) && sent.op === 'insert' ? newId() : undefined;
      const how = { accessOf, collections, idOf: idsOf(ids), nextId, isKeyed: false };
      const write = await forWrite(index, () => parseWrite(sent, how));
      parsed.push(write);
      ids.push(write.op === 'insert' ? write.id : undefined);
    }
  } catch (malformed) {
    return { writes: parsed, malformed };
  }
  return { writes: parsed };
};

const performAll = async ({ writes, malformed }: Parsed): Promise<PerformedWrite[]> => {
  const scope = currentScope.getStore();
  if (scope && !scope.isAtomic) {
    // A single write makes every check itself.
    if (writes.length + (malformed ? 1 : 0) > 1) await previewWrites(writes, forWrite);
    if (malformed) throw malformed;
  }
  const outcomes: PerformedWrite[] = [];
  for (;;) {
    const index = outcomes.length;
    const write = writes[index];
    if (!write) break;
    if (scope) scope.index = index;
    const perform = async () => {
      const outcome = await performWrite(write);
      await runCausedWrites();
      return outcome;
    };
    const inserts = await insertsAt(writes, index);
    if (inserts.length > 0) outcomes.push(...(await insertTogether(inserts, index, forWrite)));
    else outcomes.push(await forWrite(index, perform));
  }
  if (malformed) throw malformed;
  return outcomes;
};

/** The results without documents if these are larger than 5 MiB, or too large for a response. */
const fitted = <T extends { readonly document?: unknown }>(results: readonly T[]) => {
  const text = jsonOf(results);
  if (text.length < maxPageBytes && Buffer.byteLength(text) <= maxPageBytes && fitsResponse(text)) return { results };
  return { results: results.map(({ document: _document, ...rest }) => rest), truncated: true };
};

/**
 * Carries out 1 to 50 writes, all or none. The refused write with the lowest number decides the error, whose
 * `errors` have its `index`. Contract 2, "Batches".
 */
export const runBatch = async (batch: Batch) => {
  requireFew(batch);
  const parsed = await parseAll(batch);
  const { result, isAtomic } = await jointly(batch.project, () => performAll(parsed));
  return { ...fitted(result), atomic: isAtomic };
};

/** The result of a write of `each`. */
interface Result {
  readonly status: number;
  readonly code?: string;
  readonly message?: string;
  readonly document?: Document;
}

/** The status and code of a write that was refused. */
const refused = (error: unknown): Result => {
  if (!(error instanceof AppError)) {
    logFailure({ message: 'A write of a batch failed' }, error);
    return { status: 500, code: 'INTERNAL_ERROR', message: 'The service failed. Retry this write.' };
  }
  return { status: statusOf[error.code], code: error.code, message: error.message };
};

/** The parts that decide whether two writes with the same key are the same. */
const partsOf = ({ access, id, ...write }: BatchWrite): string => {
  const isNew = write.op === 'insert' && !write.isChosen;
  return comparableJson(JSON.stringify({ ...write, collection: access.collection.name, ...(!isNew && { id }) }));
};

const acquireRun = async ({ project, caller }: Batch, key: string, write: BatchWrite): Promise<Run | Result> => {
  const name = caller.kind === 'secret' ? 'secret' : `user ${caller.userId}`;
  const request = keyedRequest(name, key, ['batch', partsOf(write)]);
  const state = await acquireKey(project.id, request, write.op === 'insert' && !write.isChosen);
  switch (state.kind) {
    case 'acquired':
      return state.run;
    case 'answered': {
      const stored = await storedResponse(state.answer);
      if (!stored) throw outcomeUnknown();
      return JSON.parse(stored.body);
    }
    case 'in_progress':
      throw new AppError(
        'IDEMPOTENCY_IN_PROGRESS',
        'The first write with this idempotencyKey is still running. Retry in a second.',
      );
    case 'unknown':
      throw outcomeUnknown();
    case 'mismatch':
      throw new AppError(
        'IDEMPOTENCY_KEY_REUSED',
        'This idempotencyKey was used in the last 24 hours for another request. Use a new key for each write.',
      );
  }
};

const perform = async (write: BatchWrite): Promise<Result> => {
  try {
    return await withEffects(write.access, eventsOf(write), async () => {
      if (write.op !== 'insert' || write.isChosen) return performWrite(write);
      return { status: 201, document: (await insertOne(write.access, write.document)).document };
    });
  } catch (error) {
    return refused(error);
  }
};

/** Carries out a write, once for each key. */
const performKeyed = async (batch: Batch, key: string, write: BatchWrite): Promise<Result> => {
  const run = await acquireRun(batch, key, write);
  if (!('runId' in run)) return run;
  const record = currentRequest.getStore();
  const ids = record?.ids;
  if (record) record.ids = requestIds(run.seed, run.begunAt, run.isRepeat);
  const result = await perform(write).finally(() => {
    if (record) Object.assign(record, { ids });
  });
  // After these errors nothing was written, so the key can be used again.
  const isFree = result.code === 'TOO_MANY_WRITERS' || result.code === 'RATE_LIMITED';
  if (result.status >= 500 || isFree) await endWithoutResponse(run, isFree && !run.isRepeat);
  else await storeResponse(run, { statusCode: result.status, headers: {}, body: jsonOf(result) });
  return result;
};

/**
 * Carries out 1 to 50 writes in order, each on its own. A refused one does not stop the others. Contract 2,
 * "Batches".
 */
export const runEach = async (batch: Batch) => {
  requireFew(batch);
  const { project, caller, writes } = batch;
  const collections = await findCollections(project, namesIn(writes));
  const accessOf = (collection: Collection) => ({ project, collection, caller });
  const ids: (string | undefined)[] = [];
  const results: Result[] = [];
  for (const sent of writes) {
    const result = await performOne(batch, sent, { accessOf, collections, idOf: idsOf(ids) });
    results.push(result);
    const isInserted = result.status === 201 && isPlainObject(sent) && sent.op === 'insert';
    ids.push(isInserted ? String(Object(result.document)._id) : undefined);
  }
  return fitted(results);
};

const performOne = async (
  batch: Batch,
  sent: unknown,
  how: Omit<Parameters<typeof parseWrite>[1], 'isKeyed' | 'nextId'>,
): Promise<Result> => {
  try {
    const write = parseWrite(sent, { ...how, isKeyed: true, nextId: undefined });
    const key = isPlainObject(sent) ? sent.idempotencyKey : undefined;
    return typeof key === 'string' ? await performKeyed(batch, key, write) : await perform(write);
  } catch (error) {
    return refused(error);
  }
};

/** The collections that a batch names. */
export const collectionsOf = async ({ project, writes }: Batch): Promise<readonly Collection[]> => [
  ...(await findCollections(project, namesIn(writes))).values(),
];
