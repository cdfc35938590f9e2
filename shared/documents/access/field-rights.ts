import { hasRules, isPrivate } from '../../collections/collection.ts';
import { usersCollection } from '../../collections/names.ts';
import { isTrue, type RuleNode } from '../../collections/rules/rule.ts';
import { type FieldRight, rightsOf } from '../../collections/schema/field-rights.ts';
import { AppError, type FieldError, maxErrors } from '../../core/errors.ts';
import type { Document, JsonObject } from '../document.ts';
import { isJsonObject } from '../values.ts';
import { type AccessContext, owns } from './access.ts';
import { bind, needsRecord } from './bind.ts';
import { decide } from './decide.ts';
import { fieldRulesOf, type KnownFieldRules, rulesOf, userOf } from './rules-of.ts';

/** How a path relates to a field with rights; `rest` leads from the path to the field inside. */
type Relation =
  | { readonly kind: 'none' | 'same' | 'inside' }
  | { readonly kind: 'around'; readonly rest: readonly string[]; readonly throughArray: boolean };

/** A path may contain array positions; the path of a field has none. */
const isDigits = (segment: string): boolean => /^\d+$/.test(segment);

/** How a dotted path from a caller relates to a field with rights. */
export const relationOf = (path: string, { segments, arrays }: FieldRight): Relation => {
  const asked = path.split('.');
  let [at, matched, positions] = [0, 0, 0];
  while (at < asked.length && matched < segments.length) {
    const segment = asked[at] ?? '';
    if (segment === segments[matched]) matched += 1;
    else if (at > 0 && isDigits(segment)) positions += 1;
    else return { kind: 'none' };
    at += 1;
  }
  if (matched < segments.length) {
    while (isDigits(asked[at] ?? '')) at += 1;
    return { kind: 'around', rest: segments.slice(matched), throughArray: positions < arrays };
  }
  return { kind: at < asked.length ? 'inside' : 'same' };
};

/** The fields of a collection that a caller may not read. */
export interface Unreadable {
  /** In every document. */
  readonly always: readonly FieldRight[];
  /** In other users' documents. */
  readonly ofOthers: readonly FieldRight[];
  readonly isOwn: (document: Document) => boolean;
  readonly ownerField: string;
}

const decideRule = async (
  { project, collection, caller }: AccessContext,
  rule: RuleNode,
  known: KnownFieldRules['known'],
  document: JsonObject,
  stored?: JsonObject,
): Promise<boolean> => {
  if (rule.kind === 'constant') return isTrue(rule);
  const user = await userOf(project, caller, known, needsRecord([rule]));
  const bound = await bind(rule, { project, caller, collection, known, user, document, stored });
  return decide(bound, { document, user, ...(stored && { stored }) }) === true;
};

const isUsers = ({ collection }: AccessContext): boolean => collection.name === usersCollection;

const isOwnOf =
  (context: AccessContext) =>
  (document: Document): boolean =>
    isUsers(context) ? String(document._id) === context.caller.userId : owns(context, document);

/** Whether the caller only sees their own documents, and so all `owner` fields. */
const showsOwnOnly = (context: AccessContext): boolean => !isUsers(context) && isPrivate(context.collection.rls);

const mayReadField = async (context: AccessContext, { path }: FieldRight): Promise<boolean> => {
  const { rules, known } = await fieldRulesOf(context.project, context.collection);
  const rule = rules.read.get(path);
  return rule !== undefined && decideRule(context, rule, known, {});
};

/** Whether any field could be hidden from the caller. If not, nothing needs to be looked up. */
export const hasUnreadable = ({ collection, caller }: AccessContext): boolean =>
  caller.kind !== 'secret' && rightsOf(collection).read.length > 0;

/**
 * The fields that the caller may not read; `undefined` if there are none. Costs one command if a rule needs the
 * caller's record, which is read once per request.
 */
export const unreadableFor = async (context: AccessContext): Promise<Unreadable | undefined> => {
  if (!hasUnreadable(context)) return undefined;
  const { read } = rightsOf(context.collection);
  const always: FieldRight[] = [];
  const ofOthers: FieldRight[] = [];
  for (const right of read) {
    if (right.read === 'server') always.push(right);
    else if (right.read !== 'owner') {
      if (!(await mayReadField(context, right))) always.push(right);
    } else if (context.caller.userId === undefined) always.push(right);
    else if (!showsOwnOnly(context)) ofOthers.push(right);
  }
  if (always.length + ofOthers.length === 0) return undefined;
  const ownerField = isUsers(context) ? '_id' : context.collection.rls.ownerField;
  return { always, ofOthers, isOwn: isOwnOf(context), ownerField };
};

/** Whether a `read` rule limits lists to the caller's own documents. */
const allowsOwnOnly = (rule: RuleNode, ownerField: string): boolean => {
  switch (rule.kind) {
    case 'constant':
      return rule.outcome !== true;
    case 'all':
      return rule.of.some((part) => allowsOwnOnly(part, ownerField));
    case 'any':
      return rule.of.every((part) => allowsOwnOnly(part, ownerField));
    case 'compare': {
      const { path, operator, operand } = rule;
      return path === ownerField && operator === '$eq' && operand.kind === 'user' && operand.path === '_id';
    }
    default:
      return false;
  }
};

/** The fields that the caller cannot filter, sort or compute by, because some document in the list would hide them. */
export const unusableIn = async (
  { project, collection }: AccessContext,
  { always, ofOthers }: Unreadable,
): Promise<readonly FieldRight[]> => {
  const { rls } = collection;
  if (ofOthers.length === 0) return always;
  const isOwnOnly = hasRules(rls) && allowsOwnOnly((await rulesOf(project, collection)).rules.list, rls.ownerField);
  return isOwnOnly ? always : [...always, ...ofOthers];
};

const without = (value: unknown, [segment = '', ...rest]: readonly string[]): unknown => {
  if (Array.isArray(value)) return value.map((element) => without(element, [segment, ...rest]));
  if (!isJsonObject(value) || !Object.hasOwn(value, segment)) return value;
  const { [segment]: inner, ...others } = value;
  return rest.length === 0 ? others : { ...value, [segment]: without(inner, rest) };
};

/** The fields of a document that are hidden from the caller. */
export const hiddenIn = ({ always, ofOthers, isOwn }: Unreadable, document: Document): readonly FieldRight[] =>
  ofOthers.length === 0 || isOwn(document) ? always : [...always, ...ofOthers];

/**
 * The paths of an update that lead to, into or around fields that the caller may not read in a document they may
 * write.
 */
export const unreadablePaths = async (
  context: AccessContext,
  paths: readonly string[],
): Promise<ReadonlySet<string>> => {
  const unreadable = await unreadableFor(context);
  if (!unreadable) return new Set();
  // Without rules only the owner writes.
  const { always, ofOthers } = unreadable;
  const rights = hasRules(context.collection.rls) ? [...always, ...ofOthers] : always;
  return new Set(paths.filter((path) => rights.some((right) => relationOf(path, right).kind !== 'none')));
};

/** A document without its hidden fields. `whole` is the full document if this is a part of it. */
export const withoutUnreadable = <T extends object>(unreadable: Unreadable, shown: T, whole: Document): T =>
  hiddenIn(unreadable, whole).reduce<unknown>((made, { segments }) => without(made, segments), shown) as T;

/** The error of a write of fields that the caller may not set (403). */
export const fieldProtected = (paths: readonly string[]): AppError => {
  const errors = paths.slice(0, maxErrors).map((field) => ({ field, message: `${field} is not yours to set` }));
  return new AppError('FIELD_PROTECTED', `${errors[0]?.message}. Leave it out.`, { errors });
};

/** The value in a body at a path through objects, which may be `null`; `undefined` if the body does not name it. */
export const namedAt = (body: unknown, segments: readonly string[]): unknown =>
  segments.reduce<unknown>(
    (at, segment) => (isJsonObject(at) && Object.hasOwn(at, segment) ? at[segment] : undefined),
    body,
  );

export const mayWriteField = async (
  context: AccessContext,
  right: FieldRight,
  made: JsonObject,
  stored: JsonObject | undefined,
): Promise<boolean> => {
  if (right.write === 'server') return false;
  if (right.write === 'create') return stored === undefined || (namedAt(stored, right.segments) ?? null) === null;
  const { rules, known } = await fieldRulesOf(context.project, context.collection);
  const rule = rules.write.get(right.path);
  if (!rule) return false;
  if (stored && !(await decideRule(context, rule.before, known, stored))) return false;
  return decideRule(context, rule.after, known, made, stored);
};

/**
 * The fields of an insert that the caller may not set. `sent` is the body, `made` the document as it would be
 * stored.
 */
const protectedInInsert = async (context: AccessContext, sent: JsonObject, made: JsonObject) => {
  // A sign-up ignores dotted names, but a name like a protected field's must be rejected.
  const dotted = Object.keys(sent).filter((key) => key.includes('.'));
  const named = rightsOf(context.collection).written.filter(
    (right) =>
      namedAt(sent, right.segments) !== undefined || dotted.some((key) => relationOf(key, right).kind !== 'none'),
  );
  const refused: string[] = [];
  for (const right of named) if (!(await mayWriteField(context, right, made, undefined))) refused.push(right.path);
  return refused;
};

/** Whether an insert by the caller could name a field that they may not set. */
export const hasProtected = ({ collection, caller }: AccessContext): boolean =>
  caller.kind !== 'secret' && rightsOf(collection).written.length > 0;

/** Throws 403 `FIELD_PROTECTED` if an insert sets fields that the caller may not set. */
export const requireInsertRights = async (
  context: AccessContext,
  sent: JsonObject,
  made: JsonObject,
): Promise<void> => {
  if (!hasProtected(context)) return;
  const refused = await protectedInInsert(context, sent, made);
  if (refused.length > 0) throw fieldProtected(refused);
};

/** The same for several documents, with their index. */
export const requireBulkRights = async (
  context: AccessContext,
  bodies: readonly JsonObject[],
  made: readonly JsonObject[],
): Promise<void> => {
  if (!hasProtected(context)) return;
  const errors: FieldError[] = [];
  for (const [index, body] of bodies.entries()) {
    for (const field of await protectedInInsert(context, body, made[index] ?? {})) {
      errors.push({ index, field, message: `${field} is not yours to set` });
    }
  }
  const [first] = errors;
  if (!first) return;
  const message = `${first.message} (item ${first.index}). Leave it out.`;
  throw new AppError('FIELD_PROTECTED', message, { errors: errors.slice(0, maxErrors) });
};
