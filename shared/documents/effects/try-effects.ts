import type { ObjectId } from 'mongodb';
import { type Collection, systemFields } from '../../collections/collection.ts';
import { activeCollections } from '../../collections/collection-record.ts';
import { type Effect, type EffectEvent, effectFields } from '../../collections/effects/effect.ts';
import { effectList, parseEffects } from '../../collections/effects/parse-effects.ts';
import { byName } from '../../collections/rules/check-rules.ts';
import { rightsOf } from '../../collections/schema/field-rights.ts';
import { isTrashed } from '../../collections/trash-conditions.ts';
import { AppError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { onProject } from '../../persistence/mongo.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import type { AccessContext, EffectListener } from '../access/access.ts';
import { effectsOf } from '../access/rules-of.ts';
import { type Document, documentId, documentNotFound, type JsonObject, withoutHidden } from '../document.ts';
import type { BatchWrite } from '../store/batch-writes.ts';
import { PreviewedDocuments, previewWrite } from '../store/preview-write.ts';
import { asJson } from './compute.ts';
import {
  changeOf,
  type Heard,
  hearMails,
  hearWrites,
  type Rejection,
  rejectionOf,
  type TriedEffects,
  type Trying,
} from './tried.ts';
import { tryTimed } from './try-timed.ts';

/** A write of a document to try, or with `at` what happens at the times that the document has. */
export interface EffectTrial {
  readonly operation: EffectEvent | 'at';
  readonly documentId?: string | undefined;
  readonly document?: JsonObject | undefined;
  readonly changes?: JsonObject | undefined;
  readonly userId?: string | undefined;
  /** Effects in place of the saved ones. */
  readonly effects?: unknown;
}

type WriteTrial = EffectTrial & { readonly operation: EffectEvent };

/** The collection with the effects to try. Throws 400 `INVALID_EFFECT`. */
const withDraft = async ({ project, collection }: Pick<AccessContext, 'project' | 'collection'>, draft: unknown) => {
  if (draft === undefined) return collection;
  const { effects: _saved, ...rest } = collection;
  const effects = effectList(collection, draft);
  const drafted: Collection = effects.length > 0 ? { ...rest, effects } : rest;
  parseEffects(
    drafted,
    byName([...(await activeCollections(project)).filter(({ name }) => name !== rest.name), drafted]),
  );
  return drafted;
};

const findStored = async ({ project, collection }: AccessContext, id: ObjectId): Promise<Document> => {
  const found = await onProject(project, (db) =>
    db.collection<Document>(collection.name).findOne({ _id: id }, { maxTimeMS }),
  );
  if (!found || isTrashed(found)) throw documentNotFound();
  return found;
};

/** The body that would write a stored document again, without the fields that only the service and effects write. */
const bodyOf = ({ collection, caller }: AccessContext, stored: Document): JsonObject => {
  const { rls } = collection;
  const ofServer = rightsOf(collection).written.flatMap(({ path, write }) => (write === 'server' ? [path] : []));
  const withheld = new Set(caller.kind === 'publishable' ? [rls.ownerField, ...ofServer] : []);
  const computed = effectFields(collection);
  const isSent = (name: string) => !systemFields.has(name) && !computed.has(name) && !withheld.has(name);
  const entries = Object.entries(withoutHidden(stored)).filter(([name]) => isSent(name));
  return asJson(Object.fromEntries(entries)) as JsonObject;
};

const hasAny = (body: JsonObject | undefined): body is JsonObject => body !== undefined && Object.keys(body).length > 0;

const required = (stored: Document | undefined): Document => {
  if (stored) return stored;
  throw new AppError('INVALID_ID', '"documentId" must be the _id of the document to try.');
};

const writeOf = (access: AccessContext, trial: WriteTrial, stored: Document | undefined): BatchWrite => {
  const { operation, document, changes } = trial;
  if (operation === 'create') {
    const body = document ?? (stored ? bodyOf(access, stored) : {});
    // The document itself does not keep its unique values from a copy of it.
    return { op: 'insert', access, id: stored?._id ?? newId(), isChosen: false, document: body };
  }
  const known = required(stored);
  const { _id: id } = known;
  if (operation === 'delete') return { op: 'delete', access, id };
  return { op: 'update', access, id, changes: hasAny(changes) ? changes : bodyOf(access, known) };
};

/** What a write and its effects would do. Returns why it would be rejected. */
const tryWrite = async (
  trying: Trying,
  trial: WriteTrial,
  stored: Document | undefined,
  ended: (error: unknown) => Rejection,
): Promise<Rejection | undefined> => {
  const { context } = trying;
  const { operation } = trial;
  const sent = writeOf(context, trial, stored);
  const left = new PreviewedDocuments();
  try {
    const { before, after } = await previewWrite(sent, left);
    const document = operation === 'delete' ? before : after;
    if (!document || !after) return undefined;
    await hearMails(trying, before, after);
    const subject = { document, index: 0, ...(operation === 'update' && before && { stored: before }) };
    return await hearWrites(trying, { context, event: operation, written: [subject] }, left);
  } catch (error) {
    return ended(error);
  }
};

/** Whether an effect runs for an operation; at a time, those of updates that compute fields from it do too. */
const isTried = ({ on, due }: Effect, { applies }: Heard, operation: EffectTrial['operation']): boolean =>
  operation === 'at' ? due !== undefined || applies !== undefined : on.includes(operation);

const triedEffect = (
  effect: Effect,
  each: Heard = { writes: [], mails: [] },
  operation: EffectTrial['operation'],
  before: Document | undefined,
): TriedEffects['effects'][number] => {
  const { applies, set = [], writes, mails, refused, runsAt, state } = each;
  const outcome = applies ? 'runs' : 'skipped';
  const reached = state ?? (applies === undefined ? 'notReached' : outcome);
  const isRefused = refused !== undefined || writes.some((write) => write.refused);
  return {
    at: effect.at,
    state: isTried(effect, each, operation) ? (isRefused ? 'refused' : reached) : 'otherWrite',
    ...(runsAt && { runsAt }),
    set: set.map(([field, value]) => changeOf(field, asJson(before?.[field]), value)),
    writes,
    mails,
    ...(refused && { refused }),
  };
};

/**
 * What the effects of a collection would do if a document was written, or at the times that it has, by the checks and
 * computations of the real write. Writes nothing. Without `userId` the caller is the server; an effect at a time runs
 * with the rights of the owner. Throws 400 `INVALID_EFFECT` for effects that do not fit, 400 `INVALID_ID`, 404.
 */
export const tryEffects = async (owned: Omit<AccessContext, 'caller'>, trial: EffectTrial): Promise<TriedEffects> => {
  const { userId, operation } = trial;
  const collection = await withDraft(owned, trial.effects);
  const { effects, known } = await effectsOf(owned.project, collection);
  const heard = new Map(effects.map(({ at }): [string, Heard] => [at, { writes: [], mails: [] }]));
  /** The effect whose fields are being computed. */
  let running: Heard | undefined;
  const onEffect: EffectListener = (at, step) => {
    const each = heard.get(at);
    if (!each) return;
    if ('set' in step) {
      each.set = step.set;
      running = undefined;
    } else {
      each.applies = each.applies === true || step.applies;
      running = step.applies ? each : undefined;
    }
  };
  const caller: AccessContext['caller'] =
    userId === undefined ? { kind: 'secret' } : { kind: 'publishable', userId, mfa: true };
  const context: AccessContext = { ...owned, collection, caller, onEffect };
  const trying: Trying = { context, effects, heard };
  const stored = trial.documentId === undefined ? undefined : await findStored(context, documentId(trial.documentId));
  let refused: Rejection | undefined;
  if (operation === 'at') await tryTimed(trying, known, required(stored));
  else {
    refused = await tryWrite(trying, { ...trial, operation }, stored, (error) => {
      const rejection = rejectionOf(error);
      if (running) running.refused = rejection;
      return rejection;
    });
  }
  const before = operation === 'create' ? undefined : stored;
  return {
    ...(refused && { refused }),
    effects: effects.map((effect) => triedEffect(effect, heard.get(effect.at), operation, before)),
  };
};
