import type { ObjectId } from 'mongodb';
import { ranField, seenField } from '../../collections/effects/effect.ts';
import { clock } from '../../core/clock.ts';
import { AppError, isClientError } from '../../core/errors.ts';
import { log } from '../../core/log.ts';
import { requestIdNow } from '../../core/request.ts';
import { onProject } from '../../persistence/mongo.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import type { Caller } from '../../projects/project.ts';
import { storeRejected } from '../../usage/rejected-requests.ts';
import type { AccessContext } from '../access/access.ts';
import { wholeAt } from '../access/decide.ts';
import { type Document, isAt, type JsonObject, present, revisionOf } from '../document.ts';
import { chosenBy } from '../effects/set-fields.ts';
import { runCausedWrites } from './effect-writes.ts';
import type { Guard } from './guarded-write.ts';
import { noteTimed } from './joint-scope.ts';
import { jointly } from './jointly.ts';
import { actingFor, fieldsOfRun, isSameDate, nextRun, type Ran, type TimedEffect, writerOf } from './timed-run.ts';
import { setFields } from './write-fields.ts';

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

/** Other programs change documents in customers' databases without a new revision. */
const keepsDate = ({ due: { path } }: TimedEffect, date: Date): Guard => ({
  filter: { [path]: date },
  refusal: (document) => (isSameDate(wholeAt(document, path), date) ? undefined : dateChanged()),
});

/** Runs the effect by one write at the revision that was read, which also carries the mark. */
const write = async (timed: TimedEffect, acting: AccessContext, document: Document, date: Date): Promise<void> => {
  const fields = await fieldsOfRun(timed, acting, document, date);
  const written = await setFields(writerOf(timed), document._id.toHexString(), {
    operation: 'update',
    state: 'active',
    ifMatch: revisionOf(document),
    guards: [keepsDate(timed, date)],
    fields,
  });
  if (timed.effect.writes.length > 0) noteTimed(acting, timed.effect, { document: written, index: 0 });
};

const perform = async (timed: TimedEffect, acting: AccessContext, document: Document, date: Date): Promise<void> => {
  const act = () => write(timed, acting, document, date);
  if (timed.effect.writes.length === 0) return act();
  await jointly(timed.project, async () => {
    await act();
    await runCausedWrites();
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
  const { known, effect, due } = timed;
  const document = await findById(timed, _id);
  const next = document && nextRun(timed, document);
  const now = clock.now();
  if (!next || next.date.getTime() > now) return true;
  const { date, isOver, from } = next;
  const seen = { [`${seenField}.${due.mark}`]: true };
  if (isOver) return mark(timed, document, date, seen);
  if (from > now) return true;
  const acting = actingFor(timed, document);
  try {
    const [isChosen] = await chosenBy(acting, known, effect, [{ document }]);
    if (!isChosen) return await mark(timed, document, date, seen);
    await perform(timed, acting, document, date);
    return true;
  } catch (error) {
    if (!isClientError(error)) throw error;
    if (isOutdated(error)) return false;
    await logRefused(timed, document, acting.caller, error);
    const refused: Ran = { date, at: new Date(clock.now()) };
    const left = await findById(timed, _id);
    if (!left || !isAsBefore(document, left)) return false;
    return mark(timed, left, date, { ...seen, [`${ranField}.${due.mark}`]: refused });
  }
};

const maxTries = 20;

/**
 * Runs an effect for a document if its date is due, it has not run for that date, and its condition holds. A rejected
 * effect is logged and marked as run. Returns false for a document that other requests keep changing.
 */
export const runTimedEffect = async (timed: TimedEffect, _id: ObjectId): Promise<boolean> => {
  for (let tries = 0; tries < maxTries; tries += 1) if (await tryRun(timed, _id)) return true;
  return false;
};
