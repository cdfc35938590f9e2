import type { ObjectId } from 'mongodb';
import { effectFields } from '../../collections/effects/effect.ts';
import { clock } from '../../core/clock.ts';
import { AppError, type ErrorDetail, maxErrors } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { AccessContext } from '../access/access.ts';
import { requireBulkRights, requireInsertRights } from '../access/field-rights.ts';
import type { JsonObject } from '../document.ts';
import { type Computed, computeFields, runsEffects } from '../effects/set-fields.ts';
import { documentForEffects, type NewDocument, newDocument, withComputed, withMails } from './new-document.ts';

/** A body and the id of its document. */
interface Inserting {
  readonly body: JsonObject;
  readonly _id: ObjectId;
  readonly owner?: string | undefined;
}

/** A body with what effects set, and the effects that send an email. */
interface BodyWithEffects {
  readonly body: JsonObject;
  readonly mails?: Computed['mails'] | undefined;
}

/** The bodies of an insert with what effects do. Throws 403 `FIELD_PROTECTED` if a body names a field of an effect. */
const withEffects = async (
  context: AccessContext,
  inserting: readonly Inserting[],
): Promise<readonly BodyWithEffects[]> => {
  const { collection, caller } = context;
  const now = clock.now();
  const make = ({ body, _id, owner }: Inserting) => documentForEffects(collection, caller, body, now, _id, owner);
  const documents = inserting.length === 1 ? inserting.map(make) : eachValid(inserting, make);
  const fields = effectFields(collection);
  const protectedIn = (body: JsonObject) => Object.fromEntries(Object.entries(body).filter(([key]) => fields.has(key)));
  const bodies = inserting.map(({ body }) => protectedIn(body));
  if (inserting.length === 1) await requireInsertRights(context, bodies[0] ?? {}, {});
  else await requireBulkRights(context, bodies, bodies);
  const computed = await computeFields(
    context,
    'create',
    documents.map((document) => ({ document })),
  );
  return inserting.map(({ body }, index) => ({
    body: withComputed(body, computed[index]?.values),
    mails: computed[index]?.mails,
  }));
};

/** Makes a body into the document to insert, with what effects do. Without `owner`, the caller's user owns it. */
export const madeOf = async (
  context: AccessContext,
  body: JsonObject,
  _id = newId(),
  owner?: string,
): Promise<NewDocument> => {
  const { collection, caller } = context;
  if (!runsEffects(context, 'create')) return newDocument(collection, caller, body, clock.now(), _id, owner);
  const [{ body: whole, mails } = { body }] = await withEffects(context, [{ body, _id, owner }]);
  return withMails(context, newDocument(collection, caller, whole, clock.now(), _id, owner), mails);
};

/** The errors of an item with its index. An error without a field applies to the whole item. */
export const atIndex = ({ code, errors = [], message }: AppError, index: number): ErrorDetail[] =>
  code === 'EFFECT_REFUSED'
    ? errors.map((error) => ({ ...error, index }))
    : (errors.length > 0 ? errors : [{ field: '', message }]).map((error) => ({ index, field: '', ...error }));

/** Makes every item. The first 100 validation errors are reported together, other errors immediately. */
const eachValid = <Item, Made>(items: readonly Item[], make: (item: Item) => Made): Made[] => {
  const errors: ErrorDetail[] = [];
  let first: string | undefined;
  const made = items.flatMap((item, index) => {
    try {
      return [make(item)];
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const message = `${error.message} (item ${index})`;
      if (error.code !== 'VALIDATION_FAILED') {
        throw new AppError(error.code, message, { errors: atIndex(error, index) });
      }
      first ??= message;
      errors.push(...atIndex(error, index));
      return [];
    }
  });
  if (!first) return made;
  const named = errors.slice(0, maxErrors);
  const cut = named.length < errors.length ? `; errors has the first ${maxErrors} of at least ${errors.length}` : '';
  throw new AppError('VALIDATION_FAILED', first + cut, { errors: named });
};

/** Makes every body into a document, with what effects set. */
export const newDocuments = async (context: AccessContext, bodies: readonly JsonObject[]): Promise<NewDocument[]> => {
  const { collection, caller } = context;
  const inserting = bodies.map((body) => ({ body, _id: newId() }));
  const prepared: readonly BodyWithEffects[] = runsEffects(context, 'create')
    ? await withEffects(context, inserting)
    : inserting;
  const now = clock.now();
  const given = inserting.map(({ _id }, index) => ({ body: {}, ...prepared[index], _id }));
  return eachValid(given, ({ body, mails, _id }) =>
    withMails(context, newDocument(collection, caller, body, now, _id), mails),
  );
};
