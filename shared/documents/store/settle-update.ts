import { isDeepStrictEqual } from 'node:util';
import { fieldAt, fieldsOf } from '../../collections/schema/field-path.ts';
import { type FieldRight, rightsOf } from '../../collections/schema/field-rights.ts';
import { type FieldError, validationFailed } from '../../core/errors.ts';
import { databaseFull, hasDatabaseRoom } from '../../projects/database-quota.ts';
import type { AccessContext } from '../access/access.ts';
import { wholeAt } from '../access/decide.ts';
import {
  fieldProtected,
  hiddenIn,
  mayWriteField,
  namedAt,
  relationOf,
  type Unreadable,
  unreadableFor,
} from '../access/field-rights.ts';
import { type Document, type JsonObject, nextOf } from '../document.ts';
import { pendingMails, pendingMailsOf } from '../effects/pending-mails.ts';
import { computeFields } from '../effects/set-fields.ts';
import { convert, isJsonObject } from '../values.ts';
import { wireDocument } from '../wire.ts';
import { appliedBy, type FieldOperation, rootOf, withValue } from './operations.ts';
import { requireFit, requireNames, sizeOf } from './validate.ts';

/**
 * The fields that an update sets of a document that was read: dotted path → stored value. Throws 403
 * `FIELD_PROTECTED`.
 */
export type Settle = (document: Document) => Promise<JsonObject>;

const copy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(copy);
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copy(inner)]))
    : value;
};

/** A stored value as JSON; a missing one is `null`. */
const asShown = (value: unknown): unknown => JSON.parse(JSON.stringify(wireDocument({ value: copy(value) ?? null })));

const isSame = (one: unknown, other: unknown): boolean => isDeepStrictEqual(asShown(one), asShown(other));

/** A path of the update, and a field with rights that it touches. */
interface Touch {
  readonly path: string;
  readonly right: FieldRight;
  readonly relation: ReturnType<typeof relationOf>;
}

const touchesOf = ({ collection }: AccessContext, paths: readonly string[]): readonly Touch[] => {
  const { written, read } = rightsOf(collection);
  if (written.length + read.length === 0) return [];
  const rights = [...new Set([...written, ...read])];
  return paths.flatMap((path) =>
    rights
      .map((right) => ({ path, right, relation: relationOf(path, right) }))
      .filter(({ relation: { kind } }) => kind !== 'none'),
  );
};

/** A caller who may write a document may replace a field of it that they may not read. */
const isPlainWrite = ({ relation: { kind }, right: { write } }: Touch): boolean =>
  kind === 'same' && write === undefined;

/** The state of settling one update of one document. */
interface Settling {
  readonly document: Document;
  readonly sent: JsonObject;
  readonly set: Record<string, unknown>;
  readonly refused: Set<string>;
  readonly hides: (right: FieldRight) => boolean;
  /** Whether the caller may change a field. */
  readonly mayWrite: (right: FieldRight) => Promise<boolean>;
}

/** The path leads to a field with rights, or into it. */
const settleField = async ({ path, right, relation }: Touch, settling: Settling): Promise<void> => {
  const { document, set, refused } = settling;
  const isHidden = settling.hides(right);
  if (relation.kind === 'inside' && isHidden) refused.add(right.path);
  else if (right.write !== undefined && !(await settling.mayWrite(right))) {
    if (isHidden || !isSame(wholeAt(document, path), set[path])) refused.add(right.path);
    else delete set[path];
  }
};

/** The path leads to an object or array around a field with rights. */
const settleAround = async (
  { path, right }: Touch,
  rest: readonly string[],
  throughArray: boolean,
  settling: Settling,
): Promise<void> => {
  const { document, sent, set, refused } = settling;
  const isHidden = settling.hides(right);
  if (throughArray) {
    // If an array is replaced, it is unknown to which new element a kept value belongs.
    if (isHidden) refused.add(right.path);
    return;
  }
  const stored = wholeAt(document, [path, ...rest].join('.'));
  if (namedAt(sent[path], rest) !== undefined) {
    if (right.write === undefined || (await settling.mayWrite(right))) return;
    if (isHidden || !isSame(stored, namedAt(set[path], rest))) {
      refused.add(right.path);
      return;
    }
  } else if (right.write === undefined && !isHidden) return;
  if (stored !== undefined) set[path] = withValue(set[path], rest, stored);
};

const settleAll = async (touches: readonly Touch[], settling: Settling): Promise<void> => {
  for (const touch of touches) {
    const { relation } = touch;
    if (relation.kind === 'around') await settleAround(touch, relation.rest, relation.throughArray, settling);
    else await settleField(touch, settling);
  }
};

/** The paths that operators of an update change. An operator is a write even if it changes nothing. */
interface Operated {
  readonly operated: readonly string[];
  readonly operations?: readonly FieldOperation[];
}

/** Operators on a field with rights, inside it, or on an object or array around it. */
const settleOperator = async (
  { path, right, relation }: Touch,
  settling: Omit<Settling, 'sent' | 'set'>,
): Promise<void> => {
  const { document, refused } = settling;
  const changesIt =
    relation.kind !== 'around' ||
    (!relation.throughArray && wholeAt(document, [path, ...relation.rest].join('.')) !== undefined);
  const isRefused =
    settling.hides(right) || (right.write !== undefined && changesIt && !(await settling.mayWrite(right)));
  if (isRefused) refused.add(right.path);
};

/** Whether a rule decides. The rule sees the result of the update, including the values that are kept. */
const decidesByRule = ({ path, right, relation }: Touch, sent: JsonObject): boolean =>
  typeof right.write === 'object' && (relation.kind !== 'around' || namedAt(sent[path], relation.rest) !== undefined);

/**
 * Applies the rights of fields to an update of a known document; `undefined` if it touches no field with rights. A
 * field that the caller may not set is left out if its stored value was sent, and is kept if the object around it is
 * replaced. `set` is the update by dotted paths; `sent` is the update as the caller sent it.
 */
export const settleUpdate = (
  context: AccessContext,
  set: JsonObject,
  sent: JsonObject,
  { operated, operations }: Operated = { operated: [] },
): Settle | undefined => {
  if (context.caller.kind === 'secret') return undefined;
  const paths = Object.keys(set);
  const plain = operated.length > 0 ? paths.filter((path) => !operated.includes(path)) : paths;
  const touches = touchesOf(context, plain).filter((touch) => !isPlainWrite(touch));
  const byOperators = touchesOf(context, operated);
  if (touches.length + byOperators.length === 0) return undefined;
  return async (document) => {
    const unreadable: Unreadable | undefined = await unreadableFor(context);
    const hidden = new Set(unreadable && hiddenIn(unreadable, document));
    const refused = new Set<string>();
    const settled: Record<string, unknown> = { ...set };
    const settling = { document, sent, set: settled, refused, hides: (right: FieldRight) => hidden.has(right) };
    const mayWrite = (right: FieldRight) => mayWriteField(context, right, document, document);
    const byRule = touches.filter((touch) => decidesByRule(touch, sent));
    const others = touches.filter((touch) => !byRule.includes(touch));
    await settleAll(others, { ...settling, mayWrite });
    const made = () => appliedBy({ ...settled }, operations).to(document);
    const mayMake = (right: FieldRight) => mayWriteField(context, right, made(), document);
    await settleAll(byRule, { ...settling, mayWrite: mayMake });
    for (const touch of byOperators) await settleOperator(touch, { ...settling, mayWrite: mayMake });
    if (refused.size > 0) throw fieldProtected([...refused]);
    return settled;
  };
};

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
