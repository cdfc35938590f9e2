import { isDeepStrictEqual } from 'node:util';
import type { ObjectId } from 'mongodb';
import { type Collection, systemFields } from '../../collections/collection.ts';
import { activeCollections } from '../../collections/collection-record.ts';
import { type EffectEvent, effectFields } from '../../collections/effects/effect.ts';
import { effectList, parseEffects } from '../../collections/effects/parse-effects.ts';
import { byName } from '../../collections/rules/check-rules.ts';
import { rightsOf } from '../../collections/schema/field-rights.ts';
import { isTrashed } from '../../collections/trash-conditions.ts';
import { AppError, type ErrorDetail, isClientError, statusOf } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { findAnyTemplate } from '../../mail/templates/templates.ts';
import { onProject } from '../../persistence/mongo.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import type { AccessContext, EffectListener } from '../access/access.ts';
import { effectsOf } from '../access/rules-of.ts';
import { type Document, documentId, documentNotFound, type JsonObject, withoutHidden } from '../document.ts';
import { type PreviewedWrite, previewWrite } from '../store/batch-check.ts';
import type { BatchWrite } from '../store/batch-writes.ts';
import { runCause } from '../store/effect-writes.ts';
import { asJson } from './compute.ts';
import { type PendingMail, pendingMailsOf } from './pending-mails.ts';
import { receiverOf } from './queue-mails.ts';

/** A write of a document to try. */
export interface EffectTrial {
  readonly operation: EffectEvent;
  readonly documentId?: string | undefined;
  readonly document?: JsonObject | undefined;
  readonly changes?: JsonObject | undefined;
  readonly userId?: string | undefined;
  /** Effects in place of the saved ones. */
  readonly effects?: unknown;
}

/** Why a write would be rejected. */
interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** A field before and after a write; a value is missing if the field is, or if it is too long to show. */
interface TriedField {
  readonly field: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly isLong?: true;
}

interface TriedWrite {
  readonly op: BatchWrite['op'];
  readonly collection: string;
  readonly id?: string;
  readonly fields: readonly TriedField[];
  readonly refused?: Refusal;
}

interface TriedMail {
  readonly template: string;
  readonly hasTemplate: boolean;
  /** The address, if the email has one. */
  readonly to?: string;
  /** Why nobody gets it. */
  readonly reason?: string;
}

interface TriedEffect {
  readonly at: string;
  /** `otherWrite`: it runs after other kinds of write. `skipped`: its condition does not hold. */
  readonly state: 'runs' | 'refused' | 'skipped' | 'otherWrite' | 'notReached';
  readonly set: readonly TriedField[];
  readonly writes: readonly TriedWrite[];
  readonly mails: readonly TriedMail[];
  readonly refused?: Refusal;
}

/** What effects would do; `refused` is the response that the write would get instead. */
interface TriedEffects {
  readonly refused?: Refusal;
  readonly effects: readonly TriedEffect[];
}

/** Longer values, as JSON, are not shown. */
const maxShownLength = 2000;

const changeOf = (field: string, before: unknown, after: unknown): TriedField => {
  const values = { ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
  return JSON.stringify(values).length > maxShownLength ? { field, isLong: true } : { field, ...values };
};

/** The fields that a write changes, except those of the service. */
const changesOf = ({ before, after }: PreviewedWrite): readonly TriedField[] => {
  const [from, to] = [withoutHidden(before ?? ({} as Document)), withoutHidden(after ?? ({} as Document))];
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])].filter((name) => !systemFields.has(name));
  const changed = after ? names.filter((name) => !isDeepStrictEqual(from[name], to[name])) : [];
  return changed.map((name) => changeOf(name, asJson(from[name]), asJson(to[name])));
};

const refusalOf = (error: unknown): Refusal => {
  if (!isClientError(error)) throw error;
  const { code, message, logged } = error;
  const detail: ErrorDetail | undefined = logged?.[0];
  const reason = detail?.message ?? message;
  return { status: statusOf[code], code, message: reason };
};

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

/** The body that would write a stored document again: without what only the service and effects write. */
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

const writeOf = (access: AccessContext, trial: EffectTrial, stored: Document | undefined): BatchWrite => {
  const { operation, document, changes } = trial;
  if (operation === 'create') {
    const body = document ?? (stored ? bodyOf(access, stored) : {});
    return { op: 'insert', access, id: newId(), isChosen: false, document: body };
  }
  if (!stored) throw new AppError('INVALID_ID', '"documentId" must be the _id of the document to write.');
  const { _id: id } = stored;
  if (operation === 'delete') return { op: 'delete', access, id };
  return { op: 'update', access, id, changes: hasAny(changes) ? changes : bodyOf(access, stored) };
};

const triedMail = async ({ project }: AccessContext, pending: PendingMail): Promise<TriedMail> => {
  const { template } = pending;
  const [receiver, hasTemplate] = await Promise.all([
    receiverOf(project, pending),
    findAnyTemplate(project, template).then(
      () => true,
      (error: unknown) => {
        if (error instanceof AppError && error.code === 'TEMPLATE_NOT_FOUND') return false;
        throw error;
      },
    ),
  ]);
  const { address } = receiver;
  return {
    template,
    hasTemplate,
    ...(address !== undefined && { to: address }),
    ...('reason' in receiver && { reason: receiver.reason }),
  };
};

/** What was heard of one effect. */
interface Heard {
  applies?: boolean;
  set?: readonly (readonly [field: string, value: unknown])[];
  refused?: Refusal;
  readonly writes: TriedWrite[];
  readonly mails: TriedMail[];
}

/**
 * What the effects of a collection would do if a document was written, by the checks and computations of the real
 * write. Writes nothing. Without `userId` the caller is the server. Throws 400 `INVALID_EFFECT` for effects that do
 * not fit, 400 `INVALID_ID`, 404.
 */
export const tryEffects = async (owned: Omit<AccessContext, 'caller'>, trial: EffectTrial): Promise<TriedEffects> => {
  const { userId, operation } = trial;
  const collection = await withDraft(owned, trial.effects);
  const { effects } = await effectsOf(owned.project, collection);
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
  const stored = trial.documentId === undefined ? undefined : await findStored(context, documentId(trial.documentId));
  const sent = writeOf(context, trial, stored);
  const left = new Map<string, Document>();
  let refused: Refusal | undefined;
  try {
    const { before, after } = await previewWrite(sent, left);
    const document = operation === 'delete' ? before : after;
    if (document) {
      running = undefined;
      const known = new Set(before && pendingMailsOf(before).map(({ id }) => id.toHexString()));
      const fresh = operation === 'delete' ? [] : pendingMailsOf(document);
      for (const pending of fresh.filter(({ id }) => !known.has(id.toHexString()))) {
        const effect = effects.find(({ key }) => key === pending.effect);
        heard.get(effect?.at ?? '')?.mails.push(await triedMail(context, pending));
      }
      const subject = { document, index: 0, ...(operation === 'update' && before && { stored: before }) };
      await runCause(
        { context, event: operation, written: [subject] },
        {
          perform: async (write, { effect }) => {
            const { op, access, id } = write;
            const tried = { op, collection: access.collection.name, id: id.toHexString() };
            const preview = await previewWrite(write, left);
            heard.get(`effects.${effect}`)?.writes.push({ ...tried, fields: changesOf(preview) });
          },
          onRefused: (error, { effect, write }) => {
            const refusal = refusalOf(error);
            refused ??= refusal;
            const declared = effects[effect]?.writes[write];
            const { op = 'check', collection: name = '' } = declared ?? {};
            heard.get(`effects.${effect}`)?.writes.push({ op, collection: name, fields: [], refused: refusal });
          },
        },
      );
    }
  } catch (error) {
    refused = refusalOf(error);
    if (running) (running as Heard).refused = refused;
  }
  const before = operation === 'update' ? stored : undefined;
  return {
    ...(refused && { refused }),
    effects: effects.map(({ at, on }) => {
      const { applies, set = [], writes, mails, refused: own } = heard.get(at) ?? { writes: [], mails: [] };
      const isRefused = own !== undefined || writes.some((write) => write.refused);
      const outcome = applies ? 'runs' : 'skipped';
      const reached = applies === undefined ? 'notReached' : outcome;
      const state = isRefused ? 'refused' : reached;
      return {
        at,
        state: on.includes(operation) ? state : 'otherWrite',
        set: set.map(([field, value]) => changeOf(field, asJson(before?.[field]), value)),
        writes,
        mails,
        ...(own && { refused: own }),
      };
    }),
  };
};
