import { ObjectId } from 'mongodb';
import { type Collection, ownerFieldOf } from '../../collections/collection.ts';
import {
  type DueField,
  type Effect,
  effectFields,
  partsOf,
  ranField,
  seenField,
} from '../../collections/effects/effect.ts';
import { isTrashed } from '../../collections/trash-conditions.ts';
import { clock } from '../../core/clock.ts';
import { AppError, isClientError } from '../../core/errors.ts';
import { log } from '../../core/log.ts';
import { requestIdNow } from '../../core/request.ts';
import { onProject } from '../../persistence/mongo.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import type { Caller, Project } from '../../projects/project.ts';
import { storeRejected } from '../../usage/rejected-requests.ts';
import type { AccessContext } from '../access/access.ts';
import { wholeAt } from '../access/decide.ts';
import type { KnownEffects } from '../access/rules-of.ts';
import { type Document, isAt, type JsonObject, nextOf, present, revisionOf } from '../document.ts';
import { compute } from '../effects/compute.ts';
import { pendingMails, pendingMailsOf } from '../effects/pending-mails.ts';
import { chosenBy, sourcesFor } from '../effects/set-fields.ts';
import { appliedBy } from './applied.ts';
import { runEffects } from './effect-writes.ts';
import type { Guard } from './guarded-write.ts';
import { noteTimed } from './joint-scope.ts';
import { jointly } from './jointly.ts';
import { requireReferences, setsReferences } from './references.ts';
import { convertComputed, requireRoom, settleEffects } from './settle-effects.ts';
import { setFields } from './write-fields.ts';

/** An effect that runs at a time. */
export interface TimedEffect {
  readonly project: Project;
  readonly collection: Collection;
  readonly known: KnownEffects['known'];
  readonly effect: Effect;
  /** Its place in the list of the collection. */
  readonly number: number;
  readonly due: DueField;
}

/** The last run of an effect for a document. */
interface Ran {
  /** The date for which it ran. */
  readonly date: Date;
  readonly at: Date;
}

/** The shortest time between two runs of an effect for one document, because an effect may set its own date. */
export const pauseMs = 10 * 60_000;

const ranOf = ({ _effects }: Document, { mark }: DueField): Ran | undefined =>
  (_effects as { readonly ran?: Readonly<Record<string, Ran>> } | undefined)?.ran?.[mark];

/**
 * The rights with which an effect reads and finds what it writes: those of the owner. Only a server can store a document
 * without an owner, except under rules, which may let anyone do it.
 */
const callerFor = ({ rls }: Collection, document: Document): Caller => {
  const owner = document[ownerFieldOf(rls) ?? '_id'];
  const isOwned = ownerFieldOf(rls) !== undefined;
  const userId = owner instanceof ObjectId ? owner.toHexString() : owner;
  if (isOwned && typeof userId === 'string') return { kind: 'publishable', userId };
  return rls.enabled && rls.mode === 'rules' ? { kind: 'publishable' } : { kind: 'secret' };
};

/** Writes of the effect itself set `seen`, so they are not stamped as changes after which effects look again. */
const writerOf = ({ project, collection: { effects: _effects, ...collection } }: TimedEffect): AccessContext => ({
  project,
  collection,
  caller: { kind: 'secret' },
  runsOnlySets: true,
});

const isSameDate = (value: unknown, date: Date): boolean => value instanceof Date && value.getTime() === date.getTime();

/** Sets hidden fields of a document if it is still as it was read. */
const mark = async (
  { project, collection, due }: TimedEffect,
  document: Document,
  date: Date,
  fields: JsonObject,
): Promise<boolean> => {
  const same = { _id: document._id, [due.path]: date, ...isAt(revisionOf(document)) };
  const { matchedCount } = await onProject(project, (db) =>
    db.collection(collection.name).updateOne(same, { $set: fields }),
  );
  return matchedCount === 1;
};

const dateChanged = (): AppError => new AppError('REVISION_MISMATCH', 'The date of an effect was changed.');

/** Other programs change documents of customers' databases without a new revision. */
const keepsDate = ({ due: { path } }: TimedEffect, date: Date): Guard => ({
  filter: { [path]: date },
  refusal: (document) => (isSameDate(wholeAt(document, path), date) ? undefined : dateChanged()),
});

/** What the effect sets, and the fields that effects of updates compute from it. */
const fieldsFor = async (timed: TimedEffect, acting: AccessContext, document: Document): Promise<JsonObject> => {
  const { collection, known, effect } = timed;
  if (effect.set.length === 0) return {};
  const parts = effect.set.flatMap(([, value]) => partsOf(value));
  const sources = (await sourcesFor(acting, known, effect, parts, [document]))({ document });
  const computed = new Map(effect.set.map(([field, value]) => [field, compute(value, field, sources)]));
  const given = { ...convertComputed(acting, computed), updatedAt: new Date(clock.now()) };
  const writing: AccessContext = { ...acting, runsOnlySets: true };
  const fields =
    effectFields(collection, 'update').size > 0
      ? await settleEffects(writing, async () => given, undefined)(document)
      : given;
  if (setsReferences(collection, fields)) await requireReferences(writerOf(timed), fields);
  return fields;
};

/** Runs the effect by one write at the revision that was read, which also carries the mark. */
const write = async (timed: TimedEffect, acting: AccessContext, document: Document, date: Date): Promise<void> => {
  const { due, effect } = timed;
  const set = await fieldsFor(timed, acting, document);
  const made = appliedBy(set).to(document);
  const mails = effect.mail ? pendingMails(acting, [effect], made, nextOf(document)) : [];
  const ran: Ran = { date, at: new Date(clock.now()) };
  const fields = {
    ...set,
    [`${ranField}.${due.mark}`]: ran,
    [seenField]: isSameDate(wholeAt(made, due.path), date) ? { [due.mark]: true } : {},
    ...(mails.length > 0 && { '_effects.mails': [...pendingMailsOf(document), ...mails] }),
  };
  await requireRoom(acting, document, appliedBy(fields).to(document));
  const { written } = await setFields(writerOf(timed), document._id.toHexString(), {
    operation: 'update',
    state: 'active',
    ifMatch: revisionOf(document),
    guards: [keepsDate(timed, date)],
    fields,
  });
  if (effect.writes.length > 0) noteTimed(acting, effect, { document: written, index: 0 });
};

const perform = async (timed: TimedEffect, acting: AccessContext, document: Document, date: Date): Promise<void> => {
  const act = () => write(timed, acting, document, date);
  if (timed.effect.writes.length === 0) return act();
  await jointly(timed.project, async () => {
    await act();
    await runEffects();
  });
};

const logRefused = async (
  { project, collection, number, due }: TimedEffect,
  document: Document,
  { userId }: Caller,
  error: AppError,
): Promise<void> => {
  const requestId = requestIdNow() ?? '';
  log.info({ job: 'run-effects', project: project.id, collection: collection.name, effect: number, code: error.code });
  await storeRejected({
    projectId: project.id,
    error,
    method: `effects.${number}`,
    path: `at ${due.path}`,
    key: 'secret',
    userId,
    address: '',
    requestId,
    collection,
    sent: () => [JSON.parse(JSON.stringify(present(document)))],
  });
};

const findById = ({ project, collection }: TimedEffect, _id: ObjectId): Promise<Document | null> =>
  onProject(project, (db) => db.collection<Document>(collection.name).findOne({ _id }, { maxTimeMS }));

const isOutdated = ({ code }: AppError): boolean => code === 'REVISION_MISMATCH' || code === 'DOCUMENT_NOT_FOUND';

/** Without transactions, a rejected write and its undo count as two revisions. */
const isAsBefore = (before: Document, now: Document): boolean => [0, 2].includes(revisionOf(now) - revisionOf(before));

/** Returns false if the document was changed meanwhile. */
const tryRun = async (timed: TimedEffect, _id: ObjectId): Promise<boolean> => {
  const { project, collection, known, effect, due } = timed;
  const document = await findById(timed, _id);
  const date = document && wholeAt(document, due.path);
  const now = clock.now();
  if (!document || !(date instanceof Date) || date.getTime() > now) return true;
  const seen = { [`${seenField}.${due.mark}`]: true };
  const ran = ranOf(document, due);
  if (isTrashed(document) || (ran && isSameDate(ran.date, date))) return mark(timed, document, date, seen);
  if (ran && ran.at.getTime() > now - pauseMs) return true;
  const caller = callerFor(collection, document);
  const acting = { project, collection, caller };
  try {
    const [isChosen] = await chosenBy(acting, known, effect, [{ document }]);
    if (!isChosen) return await mark(timed, document, date, seen);
    await perform(timed, acting, document, date);
    return true;
  } catch (error) {
    if (!isClientError(error)) throw error;
    if (isOutdated(error)) return false;
    await logRefused(timed, document, caller, error);
    const refused: Ran = { date, at: new Date(clock.now()) };
    const left = await findById(timed, _id);
    if (!left || !isAsBefore(document, left)) return false;
    return mark(timed, left, date, { ...seen, [`${ranField}.${due.mark}`]: refused });
  }
};

const maxTries = 20;

/**
 * Runs an effect for a document if its date is due, it has not run for that date, and its condition holds. A rejected
 * effect is logged and marked like one that ran. Returns false for a document that others keep changing.
 */
export const runTimedEffect = async (timed: TimedEffect, _id: ObjectId): Promise<boolean> => {
  for (let tries = 0; tries < maxTries; tries += 1) if (await tryRun(timed, _id)) return true;
  return false;
};
