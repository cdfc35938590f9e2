import { ObjectId } from 'mongodb';
import type { Outcome } from '../../../shared/collections/rules/rule.ts';
import type { JsonObject } from '../../../shared/documents/document.ts';
import {
  all,
  any,
  isMissing,
  isRecord,
  not,
  relates,
  same,
  segmentsOf,
  texts,
  valuesOf,
  wholeOf,
} from './rule-values.ts';

/*
 * The semantics of access rules (docs/reference/rules.md) in the simplest code: it reads a rule as the developer wrote
 * it, and knows nothing of parsed or bound rules.
 */

/** What a rule is decided for. */
export interface ModelContext {
  readonly document: JsonObject;
  /** The document before the write. */
  readonly stored?: JsonObject | undefined;
  /** The caller's record, with the defaults of its schema. */
  readonly user: JsonObject | undefined;
  readonly now: number;
  /** Arrays that are not declared make a comparison unknown: in `create` and `after`. */
  readonly isStrict: boolean;
  readonly collection: string;
  readonly isDeclaredList: (collection: string, path: string) => boolean;
  readonly isDate: (collection: string, path: string) => boolean;
  readonly collections: ReadonlyMap<string, readonly JsonObject[]>;
  /** The collection of the Ref fields' targets. */
  readonly targets: string;
}

interface Subject extends ModelContext {
  /** What paths begin at: the document, the stored one, the caller, a target, or an element of an array. */
  readonly at: unknown;
  readonly isUser?: boolean;
  /** The path of the array that `at` is an element of, with a dot. */
  readonly prefix: string;
}

const isActive = (document: JsonObject): boolean => document.isDeleted !== true;
const targetOf = (subject: Subject, path: string): JsonObject | undefined => {
  const id = wholeOf(subject.document, segmentsOf(path));
  const found = subject.collections.get(subject.targets)?.find((one) => same(one._id, id));
  return id instanceof ObjectId && found && isActive(found) ? found : undefined;
};

/** The values of a path of the caller; `undefined` if there are none. */
const userValues = ({ user }: Subject, path: string): readonly unknown[] | undefined => {
  const whole = user && wholeOf(user, segmentsOf(path));
  if (isMissing(whole)) return undefined;
  return Array.isArray(whole) ? whole.flat().filter((one) => !isMissing(one)) : [whole];
};

/** The whole value after `plus`, `adds` or `removes`; if it cannot be computed, the outcome of the comparison. */
const storedValue = (subject: Subject, { $stored: path, plus, adds, removes }: JsonObject) => {
  const value = wholeOf(subject.stored, segmentsOf(String(path)));
  if (plus !== undefined) {
    if (!isMissing(value) && typeof value !== 'number') return { outcome: false as const };
    return { value: Number(value ?? 0) + Number(plus) };
  }
  const change = adds ?? removes;
  if (change === undefined) return { value };
  const elements = isRecord(change) ? userValues(subject, String(change.$user)) : [change];
  if (elements?.length !== 1) return { outcome: 'unknown' as const };
  const list = value ?? [];
  if (!Array.isArray(list)) return { outcome: false as const };
  const isThere = list.some((one) => same(one, elements[0]));
  if (adds !== undefined) return isThere ? { outcome: false as const } : { value: [...list, elements[0]] };
  return isThere ? { value: list.filter((one) => !same(one, elements[0])) } : { outcome: false as const };
};

const fromValues = (outer: Subject, { $from, select, where = {} }: JsonObject) => {
  const subject = { ...outer, collection: String($from), isUser: false };
  const documents = (subject.collections.get(String($from)) ?? []).filter(isActive);
  const inner = (document: JsonObject): Subject => ({ ...subject, at: document, prefix: '', isStrict: false });
  const outcomes = documents.map((document) => conditionOf(inner(document), where as JsonObject));
  // A condition that is unknown could hold for documents that are not there.
  const isOpen = needsOther(subject, where) && !isAlways(subject, where as JsonObject, false);
  const values = documents
    .filter((_document, at) => outcomes[at] === true)
    .flatMap((document) => valuesOf(document, String(select)))
    .filter((value) => !isMissing(value) && !isRecord(value) && !Array.isArray(value));
  return { values, isOpen };
};

/** Whether a condition has this outcome because of the caller alone. */
const isAlways = (subject: Subject, where: JsonObject, outcome: boolean): boolean => {
  const isEach = (parts: readonly boolean[], isAll: boolean) =>
    isAll === outcome ? parts.every(Boolean) : parts.some(Boolean);
  const parts = Object.entries(where).map(([key, value]) => {
    if (key === '$user') return conditionOf(subject, { $user: value }) === outcome;
    if (key === '$not') return isAlways(subject, value as JsonObject, !outcome);
    if (key !== '$and' && key !== '$or') return false;
    const members = (value as JsonObject[]).map((one) => isAlways(subject, one, outcome));
    return isEach(members, key === '$and');
  });
  return isEach(parts, true);
};

/** Whether a part of a condition is unknown whatever the document: its operand, or the caller, is. */
const needsOther = (subject: Subject, where: unknown): boolean => {
  if (Array.isArray(where)) return where.some((one) => needsOther(subject, one));
  if (!isRecord(where)) return false;
  return Object.entries(where).some(([key, value]) => {
    if (key === '$user' && typeof value === 'string') return userValues(subject, value) === undefined;
    if (key === '$user') return conditionOf(subject, { $user: value }) === 'unknown';
    if (key === '$doc') return isMissing(wholeOf(subject.document, segmentsOf(String(value))));
    return needsOther(subject, value);
  });
};

/** Ids are texts in a comparison of two fields. */
const asText = (value: unknown): unknown => (value instanceof ObjectId ? value.toHexString() : value);

const whole = (subject: Subject, path: string, operator: string, other: unknown): Outcome =>
  relates(operator, [asText(wholeOf(subject.at, segmentsOf(path)))], asText(other));

const hasArray = (value: unknown, segments: readonly string[]): boolean =>
  segments.some((_segment, at) => Array.isArray(wholeOf(value, segments.slice(0, at + 1))));

const comparisonOf = (subject: Subject, path: string, operator: string, given: unknown): Outcome => {
  const isList = path !== '' && subject.isDeclaredList(subject.collection, subject.prefix + path);
  if (subject.isStrict && !isList && hasArray(subject.at, segmentsOf(path))) return 'unknown';
  const values = valuesOf(subject.at, path);
  const isListed = operator === '$in' || operator === '$nin';
  const known = (operands: readonly unknown[]): Outcome => {
    if (isListed) return relates(operator, values, operands);
    if (isList && operands.length !== 1) return relates(operator === '$ne' ? '$nin' : '$in', values, operands);
    if (operands.length !== 1 || (operator in texts && operands[0] === '')) return 'unknown';
    return relates(operator, values, operands[0]);
  };
  if (!isRecord(given)) {
    if (subject.isUser && values.every(isMissing)) return 'unknown';
    const isDate = subject.isDate(subject.collection, subject.prefix + path) && typeof given === 'string';
    return relates(operator, values, isDate ? new Date(given) : given);
  }
  if ('$user' in given) {
    const operands = userValues(subject, String(given.$user));
    return operands ? known(operands) : 'unknown';
  }
  if ('$now' in given) return known([new Date(subject.now + Number(given.$now))]);
  if ('$from' in given) {
    const { values: found, isOpen } = fromValues(subject, given);
    const outcome = relates(operator, values, found);
    // One more value could be found, which can only decide in one direction.
    return isOpen && outcome === (operator === '$nin') ? 'unknown' : outcome;
  }
  if ('$stored' in given) {
    if (!subject.stored) return 'unknown';
    const { value, outcome } = storedValue(subject, given);
    return outcome ?? whole(subject, path, operator, value);
  }
  const [first = '', ...rest] = segmentsOf(String(given.$doc));
  const isThrough = first === 'ref' && rest.length > 0;
  const other = isThrough ? wholeOf(targetOf(subject, 'ref'), rest) : wholeOf(subject.document, [first, ...rest]);
  if (isMissing(other) || (operator in texts && other === '')) return 'unknown';
  // Within `$from`, and through a Ref, the value of the outer document is one value like a literal.
  return isThrough || subject.at !== subject.document ? known([other]) : whole(subject, path, operator, other);
};

const elementsOf = (subject: Subject, path: string, operator: string, where: JsonObject): Outcome => {
  const array = wholeOf(subject.at, segmentsOf(path));
  if (!Array.isArray(array)) return subject.isUser && isMissing(array) ? 'unknown' : false;
  const outcomes = array.map((element) => {
    const inner = { ...subject, at: element, isStrict: false, isUser: false, prefix: `${path}.` };
    return isTests(where) ? testsOf(inner, '', where) : conditionOf(inner, where);
  });
  return operator === '$every' ? all(outcomes) : any(outcomes);
};

const keys = new Set(['$and', '$or', '$not', '$user', '$ref', '$stored', '$only']);
const operands = new Set(['$user', '$doc', '$stored', '$from', '$now']);
const isTests = (where: JsonObject): boolean => {
  const [first = ''] = Object.keys(where);
  return first.startsWith('$') && !keys.has(first);
};

const testsOf = (subject: Subject, path: string, value: unknown): Outcome => {
  if (!isRecord(value) || operands.has(Object.keys(value)[0] ?? '')) return comparisonOf(subject, path, '$eq', value);
  return all(
    Object.entries(value).map(([operator, operand]) =>
      operator === '$every' || operator === '$elemMatch'
        ? elementsOf(subject, path, operator, operand as JsonObject)
        : comparisonOf(subject, path, operator, operand),
    ),
  );
};

const serverFields = new Set(['_id', 'isDeleted', 'deletedAt', 'createdAt', 'updatedAt', '_rev', '_pos', '_fuse']);

const entryOf = (subject: Subject, key: string, value: unknown): Outcome => {
  const { document, stored, user } = subject;
  switch (key) {
    case '$and':
      return all((value as JsonObject[]).map((one) => conditionOf(subject, one)));
    case '$or':
      return any((value as JsonObject[]).map((one) => conditionOf(subject, one)));
    case '$not':
      return not(conditionOf(subject, value as JsonObject));
    case '$user':
      return user
        ? conditionOf(
            { ...subject, collection: 'users', at: user, isUser: true, isStrict: false, prefix: '' },
            value as JsonObject,
          )
        : 'unknown';
    case '$ref':
      return all(
        Object.entries(value as JsonObject).map(([path, where]) => {
          const target = targetOf(subject, path);
          if (!target) return false;
          const inner = { ...subject, collection: subject.targets, at: target, isStrict: false, prefix: '' };
          return conditionOf(inner, where as JsonObject);
        }),
      );
    case '$stored':
      return stored ? conditionOf({ ...subject, at: stored, isStrict: false }, value as JsonObject) : 'unknown';
    case '$only': {
      const fields = new Set([...Object.keys(document), ...Object.keys(stored ?? {})]);
      const changed = [...fields].filter((field) => !same(document[field], stored?.[field]));
      return changed.every((field) => (value as string[]).includes(field) || serverFields.has(field));
    }
    default:
      return testsOf(subject, key, value);
  }
};

const conditionOf = (subject: Subject, where: JsonObject): Outcome =>
  all(Object.entries(where).map(([key, value]) => entryOf(subject, key, value)));

/** The outcome of a rule as the developer wrote it. */
export const outcomeOf = (rule: unknown, context: ModelContext): Outcome =>
  typeof rule === 'boolean' ? rule : conditionOf({ ...context, at: context.document, prefix: '' }, rule as JsonObject);
