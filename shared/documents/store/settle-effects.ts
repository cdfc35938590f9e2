import { fieldAt, fieldsOf } from '../../collections/schema/field-path.ts';
import { type FieldError, validationFailed } from '../../core/errors.ts';
import { databaseFull, hasDatabaseRoom } from '../../projects/database-quota.ts';
import type { AccessContext } from '../access/access.ts';
import { type Document, type JsonObject, nextOf } from '../document.ts';
import { pendingMails, pendingMailsOf } from '../effects/pending-mails.ts';
import { computeFields } from '../effects/set-fields.ts';
import { convert } from '../values.ts';
import { appliedBy, rootOf } from './applied.ts';
import type { FieldOperation } from './operations.ts';
import type { Settle } from './settle-update.ts';
import { requireFit, requireNames, sizeOf } from './validate.ts';

/** The operations of an update, without those on fields that are set as a whole. */
export const operationsBeside = (
  set: JsonObject,
  operations: readonly FieldOperation[] | undefined,
): readonly FieldOperation[] | undefined => operations?.filter(({ path }) => !Object.hasOwn(set, rootOf(path)));

/** The computed values in the form that an update stores: a missing value is `null`. Throws 400 `VALIDATION_FAILED`. */
export const convertComputed = ({ collection }: AccessContext, computed: ReadonlyMap<string, unknown>): JsonObject => {
  const fields = fieldsOf(collection);
  const errors: FieldError[] = [];
  const values = [...computed].map(([name, value = null]): [string, unknown] => {
    requireNames(value, name);
    const field = fieldAt(fields, name);
    return [name, field ? convert(field, value, name, errors) : value];
  });
  if (errors.length > 0) throw validationFailed(...errors);
  return Object.fromEntries(values);
};

/** In a full database no write may make a document larger. */
export const requireRoom = async ({ project }: AccessContext, document: Document, made: Document): Promise<void> => {
  const size = sizeOf(made);
  requireFit(made, size);
  const growth = size - sizeOf(document);
  if (growth > 0 && !(await hasDatabaseRoom(project, growth))) throw databaseFull(project);
};

/**
 * Adds the values that effects set, and the emails that they send, to an update of a document that was read. These
 * values replace those of the body. Throws 409 `EFFECT_REFUSED`, 400 `VALIDATION_FAILED`, 403
 * `DATABASE_QUOTA_EXCEEDED`, 413.
 */
export const settleEffects =
  (context: AccessContext, given: Settle, operations: readonly FieldOperation[] | undefined): Settle =>
  async (document) => {
    const set = await given(document);
    const written = { document: appliedBy(set, operations).to(document), stored: document };
    const [{ values: computed, mails } = { values: new Map<string, unknown>(), mails: [] }] = await computeFields(
      context,
      'update',
      [written],
    );
    if (computed.size + mails.length === 0) return set;
    const values = Object.entries(convertComputed(context, computed));
    const kept = Object.entries(set).filter(([path]) => !computed.has(rootOf(path)));
    const fieldsSet = Object.fromEntries([...kept, ...values]);
    const made = appliedBy(fieldsSet, operationsBeside(fieldsSet, operations)).to(document);
    const pending = pendingMails(context, mails, made, nextOf(document));
    const settled =
      pending.length > 0 ? { ...fieldsSet, '_effects.mails': [...pendingMailsOf(document), ...pending] } : fieldsSet;
    await requireRoom(context, document, appliedBy(settled, operationsBeside(settled, operations)).to(document));
    return settled;
  };
