import { MongoBulkWriteError } from 'mongodb';
import { countEffectWrites } from '../../collections/effects/effect.ts';
import { checkedTargets } from '../../collections/schema/references.ts';
import { type AppError, isClientError, validationFailed } from '../../core/errors.ts';
import { writeFailure } from '../../persistence/mongo-errors.ts';
import { currentTransaction } from '../../persistence/transaction.ts';
import { requireDatabaseRoom } from '../../projects/database-quota.ts';
import { type AccessContext, obeysRules } from '../access/access.ts';
import { hasProtected } from '../access/field-rights.ts';
import { createLooksUp, requireCreate } from '../access/writing.ts';
import { runsEffects } from '../effects/set-fields.ts';
import { type BatchWrite, type PerformedWrite, performWrite } from './batch-writes.ts';
import { clashById, rejectedAt, requireInsertAccess, store } from './insert.ts';
import { countWrites, currentScope } from './joint-scope.ts';
import { madeOf, type NewDocument } from './new-document.ts';
import { publishChange } from './publish.ts';
import { missingReferences } from './references.ts';
import { throwUnlessRetried } from './stored-earlier.ts';
import { countingClashes } from './unique-clashes.ts';
import { shownToWriter } from './written.ts';

type Insert = Extract<BatchWrite, { op: 'insert' }>;

/** Runs `act` for the write with this number, which is added to its error. */
export type ForWrite = <T>(index: number, act: () => T | Promise<T>) => Promise<T>;

/** True if no insert can depend on a document that the inserts before it write. */
const areIndependent = async (access: AccessContext): Promise<boolean> => {
  const { collection, caller } = access;
  if (runsEffects(access, 'create') || countEffectWrites(collection, 'create') > 0) return false;
  if (hasProtected(access)) return false;
  if (obeysRules(access) && (await createLooksUp(access))) return false;
  const targets = checkedTargets(collection);
  return targets.size === 0 || (caller.kind === 'secret' && !targets.has(collection.name));
};

/**
 * The inserts into one collection, starting with a write, that one command can do; none if there are fewer than two.
 */
export const insertsAt = async (writes: readonly BatchWrite[], first: number): Promise<readonly Insert[]> => {
  const inserts: Insert[] = [];
  for (const write of writes.slice(first)) {
    const isSame = write.op === 'insert' && write.access.collection === writes[first]?.access.collection;
    if (!isSame) break;
    inserts.push(write);
  }
  const [head, second] = inserts;
  return head && second && (await areIndependent(head.access)) ? inserts : [];
};

interface Ready {
  readonly write: Insert;
  readonly made: NewDocument;
}

/** Checks inserts in order. Those from the first rejected one on are left out, with its error. */
const prepare = async (inserts: readonly Insert[], first: number, forWrite: ForWrite) => {
  const ready: Ready[] = [];
  let rejected: { readonly error: unknown } | undefined;
  const checkEach = async <T>(items: readonly T[], check: (item: T, at: number) => Promise<void>): Promise<void> => {
    for (const [at, item] of items.entries()) {
      try {
        await forWrite(first + at, () => check(item, at));
      } catch (error) {
        rejected = { error };
        ready.splice(at);
        return;
      }
    }
  };
  await checkEach(inserts, async (write) => {
    const { access, document, id } = write;
    await requireInsertAccess(access);
    write.made ??= await madeOf(access, document, id);
    if (obeysRules(access)) await requireCreate(access, write.made.document);
    ready.push({ write, made: write.made });
  });
  const [head] = ready;
  if (!head) return { ready, rejected };
  const { access } = head.write;
  const missing = await missingReferences(
    access,
    ready.map(({ made }) => made.document),
  );
  await checkEach([...ready], async ({ made }, at) => {
    const errors = missing.filter(({ index }) => index === at);
    if (errors.length > 0) throw validationFailed(...errors.map(({ field, message }) => ({ field, message })));
    await requireDatabaseRoom(access.project, made.size);
    countWrites();
  });
  return { ready, rejected };
};

/** Throws the error of the insert that was rejected. */
const throwRejected = async ({ write, made }: Ready, error: AppError): Promise<never> => {
  const [failed] = error.cause instanceof MongoBulkWriteError ? [error.cause.writeErrors].flat() : [];
  const clash = failed ? writeFailure(failed, made.document) : error;
  if (!isClientError(clash) || clash.code !== 'DUPLICATE_VALUE') throw clash;
  return write.isChosen ? clashById(write.access, write.id.toHexString())(clash) : throwUnlessRetried(clash);
};

/** Inserts with one command. Returns how many were inserted; in a transaction throws the error of the rejected one. */
const insertSome = (ready: readonly [Ready, ...Ready[]], first: number, forWrite: ForWrite): Promise<number> => {
  const { access } = ready[0].write;
  return countingClashes(access, async () => {
    try {
      await store(
        access,
        ready.map(({ made }) => made),
      );
      return ready.length;
    } catch (error) {
      if (!isClientError(error)) throw error;
      const at = rejectedAt(error);
      if (currentTransaction.getStore()) await forWrite(first + at, () => throwRejected(ready[at] ?? ready[0], error));
      return at;
    }
  });
};

/** Inserts as many as one command can, and then the one that it rejected alone, which throws its error. */
const insertNext = async (
  ready: readonly [Ready, ...Ready[]],
  first: number,
  forWrite: ForWrite,
): Promise<PerformedWrite[]> => {
  const { access } = ready[0].write;
  const scope = currentScope.getStore();
  if (scope) scope.index = first;
  const inserted = await insertSome(ready, first, forWrite);
  const done = ready.slice(0, inserted);
  await publishChange(
    access,
    done.map(({ made }) => made.document),
  );
  const outcomes: PerformedWrite[] = [];
  for (const { made } of done) {
    outcomes.push({ status: 201, document: (await shownToWriter(access, made.document)).document });
  }
  const rejected = ready[inserted]?.write;
  if (!rejected) return outcomes;
  // It is counted again when it is done again.
  countWrites(-1);
  if (scope) scope.index = first + inserted;
  return [...outcomes, await forWrite(first + inserted, () => performWrite(rejected))];
};

/**
 * Carries out consecutive inserts into one collection, with one command if none is rejected. `first` is the number of
 * the first one. Throws the error of the first one that is rejected, after the inserts before it.
 */
export const insertTogether = async (
  inserts: readonly Insert[],
  first: number,
  forWrite: ForWrite,
): Promise<readonly PerformedWrite[]> => {
  const { ready, rejected } = await prepare(inserts, first, forWrite);
  const outcomes: PerformedWrite[] = [];
  for (;;) {
    const [next, ...others] = ready.slice(outcomes.length);
    if (!next) break;
    outcomes.push(...(await insertNext([next, ...others], first + outcomes.length, forWrite)));
  }
  if (rejected) throw rejected.error;
  return outcomes;
};
