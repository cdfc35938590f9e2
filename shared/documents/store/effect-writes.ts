import type { Collection } from '../../collections/collection.ts';
import {
  countEffectWrites,
  type EffectEvent,
  type EffectWrite,
  expressionsOf,
} from '../../collections/effects/effect.ts';
import { isShownIn } from '../../collections/trash-conditions.ts';
import { AppError, type ErrorDetail, isClientError } from '../../core/errors.ts';
import { newId, withSameIds } from '../../core/ids.ts';
import { onProject } from '../../persistence/mongo.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import { currentTransaction } from '../../persistence/transaction.ts';
import type { Project } from '../../projects/project.ts';
import { isHooked, wakeWebhookWorker } from '../../webhooks/events.ts';
import { type AccessContext, isClosed } from '../access/access.ts';
import { hiddenIn, relationOf, unreadableFor } from '../access/field-rights.ts';
import { filterTargets, mayGet } from '../access/reading.ts';
import { effectsOf, type KnownEffects } from '../access/rules-of.ts';
import { type Document, documentNotFound } from '../document.ts';
import { type EffectSources, filledWrite } from '../effects/compute.ts';
import { chosenBy, sourcesFor } from '../effects/set-fields.ts';
import { type BatchWrite, parseWrite, performWrite } from './batch-writes.ts';
import { afterwards, currentScope, type EffectCause } from './joint-scope.ts';
import { jointly } from './jointly.ts';

/** A write of an effect that is about to run. */
interface Running {
  /** The access context of the request's caller in the target collection. */
  readonly asking: AccessContext;
  readonly trusted: boolean;
  /** In `errors`. */
  readonly place: Required<Pick<ErrorDetail, 'index' | 'effect' | 'write'>>;
}

/** Whether the caller may read every active document of a collection. */
const readsAll = async (context: AccessContext): Promise<boolean> =>
  context.caller.kind === 'secret' || (!isClosed(context) && (await filterTargets(context, false)) === undefined);

const findReadable = async (context: AccessContext, write: BatchWrite): Promise<Document | undefined> => {
  const { project, collection } = context;
  if (write.op === 'insert' || isClosed(context)) return undefined;
  const document = await onProject(project, (db) =>
    db.collection<Document>(collection.name).findOne({ _id: write.id }, { maxTimeMS }),
  );
  if (!document || !isShownIn(collection, false, document)) return undefined;
  return (await mayGet(context, document)) ? document : undefined;
};

const textOf = (errors: readonly ErrorDetail[]): string => errors[0]?.message ?? '';

const refusal = (shown: readonly ErrorDetail[], logged: readonly ErrorDetail[], cause: AppError): AppError => {
  const text = textOf(shown);
  const message = `An effect of the collection could not run${text && `: ${text.replace(/\.$/, '')}`}.`;
  return new AppError('EFFECT_REFUSED', message, { errors: shown, logged, cause });
};

/** The errors as the caller may see them. */
const shownTo = async (
  { asking, place }: Running,
  write: BatchWrite | undefined,
  errors: readonly ErrorDetail[],
): Promise<readonly ErrorDetail[]> => {
  if (!write || asking.caller.kind === 'secret') return errors;
  const all = await readsAll(asking);
  const document = all ? undefined : await findReadable(asking, write);
  if (!all && !document) return [place];
  const unreadable = await unreadableFor(asking);
  const hidden = unreadable ? hiddenIn(unreadable, document ?? { _id: write.id }) : [];
  return errors.map((error) => {
    const { field } = error;
    const isHidden = field && hidden.some((right) => relationOf(field, right).kind !== 'none');
    return isHidden ? place : error;
  });
};

/** Errors that are not caused by the write itself: the caller can fix them, or no one can. */
const passes = ({ code }: AppError): boolean => code === 'TOO_MANY_WRITES';

/** The 409 of a write that was rejected; other failures as they are. */
const refusedWrite = async (running: Running, write: BatchWrite | undefined, error: unknown): Promise<unknown> => {
  if (!isClientError(error) || passes(error)) return error;
  const { errors = [], message } = error;
  const { place } = running;
  // The fields of STILL_REFERENCED belong to other collections, which the caller may not know.
  const isOfFields = errors.length > 0 && error.code !== 'STILL_REFERENCED';
  const found: readonly ErrorDetail[] = isOfFields ? errors : [{ message }];
  const logged = found.map(({ field, message: text = message }) => ({
    ...place,
    ...(field && { field }),
    message: text,
  }));
  // An error of MongoDB has ended a transaction.
  const shown = await currentTransaction.exit(() => shownTo(running, write, logged));
  return refusal(shown, logged, error);
};

/** `{"$id": n}` belongs to batches. */
const noId = (): never => {
  throw new AppError('INVALID_BODY', '"$id" cannot be used in a write of an effect.');
};

/** How the writes of effects are carried out: a dry run previews them and goes through all, also after an error. */
export interface WriteHandler {
  readonly perform: (write: BatchWrite, place: Running['place']) => Promise<unknown>;
  readonly onRefused?: (error: unknown, place: Running['place']) => void;
}

const performOne = async (
  running: Running,
  effectWrite: EffectWrite,
  sources: EffectSources,
  known: ReadonlyMap<string, Collection>,
  { perform, onRefused }: WriteHandler,
): Promise<void> => {
  const { asking, trusted, place } = running;
  const { project } = asking;
  let write: BatchWrite | undefined;
  try {
    write = parseWrite(filledWrite(effectWrite, sources), {
      accessOf: (collection) => ({ project, collection, caller: { kind: 'secret' }, runsOnlySets: true }),
      collections: known,
      idOf: noId,
      nextId: newId(),
      isKeyed: false,
    });
    const isHidden = !trusted && write.op !== 'insert' && !(await readsAll(asking));
    if (isHidden && !(await findReadable(asking, write))) throw documentNotFound();
    await perform(write, place);
  } catch (error) {
    // Values come from the document that was written, so their errors are the caller's.
    const refused = await refusedWrite(running, write, error);
    if (!onRefused) throw refused;
    onRefused(refused, place);
  }
};

/** Carries out the writes that effects make after documents were written. Throws 409 `EFFECT_REFUSED`. */
export const runCause = async (
  { context, event, written }: EffectCause,
  handler: WriteHandler = { perform: performWrite },
): Promise<void> => {
  const { effects, known } = await effectsOf(context.project, context.collection);
  for (const [number, effect] of effects.entries()) {
    const isTimed = typeof event === 'object';
    const runs = isTimed ? event.at === effect.at : effect.on.includes(event);
    if (effect.writes.length === 0 || !runs) continue;
    const applies = isTimed ? written.map(() => true) : await chosenBy(context, known, effect, written);
    const chosen = written.filter((_each, at) => applies[at]);
    context.onEffect?.(effect.at, { applies: chosen.length > 0 });
    if (chosen.length === 0) continue;
    const parts = expressionsOf({ set: [], writes: effect.writes });
    const documents = chosen.map(({ document }) => document);
    const sourcesOf = await sourcesFor(context, known, effect, parts, documents);
    for (const subject of chosen) {
      for (const [at, write] of effect.writes.entries()) {
        const collection = targetOf(known, write);
        const place = { index: subject.index, effect: number, write: at };
        const running = { asking: { ...context, collection }, trusted: effect.trusted, place };
        await performOne(running, write, sourcesOf(subject), known, handler);
      }
    }
  }
};

const targetOf = (known: KnownEffects['known'], write: EffectWrite): Collection => {
  const collection = known.get(write.collection);
  if (collection) return collection;
  throw new AppError('EFFECT_REFUSED', `The collection "${write.collection}" of an effect is being changed. Retry.`);
};

/** Runs what the writes of a joint run have caused so far. Throws 409 `EFFECT_REFUSED`, 400 `TOO_MANY_WRITES`. */
export const runCausedWrites = async (): Promise<void> => {
  const scope = currentScope.getStore();
  if (!scope) return;
  for (const cause of scope.causes.splice(0)) {
    await runCause(cause);
    await afterwards(() => wakeFor(cause));
  }
  for (const act of scope.last.splice(0)) await act();
};

/** For the collection of the request itself, the worker is woken after every write. */
const wakeFor = async ({ context: { project, collection } }: EffectCause): Promise<void> => {
  if (!isHooked(project, 'document')) return;
  const { known } = await effectsOf(project, collection);
  if ([...known.values()].some(({ feed }) => feed?.on)) await wakeWebhookWorker(project.id);
};

/** Runs writes of documents and the writes of their effects, all or none. Throws as `withEffects`. */
export const allWithEffects = async <T>(project: Project, act: () => Promise<T>): Promise<T> => {
  const run = async () => {
    const result = await act();
    await runCausedWrites();
    return result;
  };
  return (await jointly(project, withSameIds(run))).result;
};

/**
 * Runs a write of documents and the writes of its effects, all or none. Without such effects, runs only the write.
 * Throws the errors of `act`; 409 `EFFECT_REFUSED`; those of `jointly`.
 */
export const withEffects = async <T>(
  { project, collection }: Pick<AccessContext, 'project' | 'collection'>,
  events: readonly EffectEvent[],
  act: () => Promise<T>,
): Promise<T> => {
  if (!events.some((event) => countEffectWrites(collection, event) > 0)) return act();
  return allWithEffects(project, act);
};
