import { isPlainObject } from '../../core/json.ts';
import { cutText } from '../../core/text.ts';
import { type Collection, systemFields } from '../collection.ts';
import { isUsersName } from '../names.ts';
import { isFieldPath, isUnknownPath } from '../schema/field-path.ts';
import type { EffectWrite, Expression } from './effect.ts';
import { below, type EffectScope, invalidEffect, parseExpression, requireFit } from './parse-expression.ts';

const maxWrites = 5;

type Op = EffectWrite['op'];
type Part = 'id' | 'document' | 'changes' | 'where';

/** The members of each kind of write; those with `true` are required. */
const members: Readonly<Record<Op, Readonly<Partial<Record<Part | 'ifMatch', boolean>>>>> = {
  insert: { id: false, document: true },
  update: { id: true, changes: true, where: false, ifMatch: false },
  delete: { id: true, where: false, ifMatch: false },
  check: { id: true, where: false },
};

const isOp = (value: unknown): value is Op => typeof value === 'string' && Object.hasOwn(members, value);

const combining = ['$and', '$or', '$not'];
const ofConditions = new Set([
  ...combining,
  ...['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$exists', '$regex', '$contains'],
  ...['$startsWith', '$endsWith', '$all', '$size', '$elemMatch'],
]);
const ofArrays = ['$each', '$position', '$slice'];
const ofFields = ['$inc', '$mul', '$min', '$max', '$push', '$addToSet', '$pull'];
const ofLists = ['$unset', '$currentDate'];
const ofChanges = new Set([...ofFields, ...ofLists, ...ofArrays, ...ofConditions]);

/** The place of a write, and the collection that it writes. */
interface WriteScope extends EffectScope {
  readonly target: Collection;
}

const requireTargetField = ({ at, target }: WriteScope, path: string): void => {
  const [root = ''] = path.split('.', 1);
  if (!isFieldPath(path)) throw invalidEffect(at, 'is not a field name.');
  if (systemFields.has(root)) throw invalidEffect(at, 'is a field that only the service writes.');
  if (target.schema && root !== target.rls.ownerField && isUnknownPath(target.schema, path)) {
    throw invalidEffect(at, `names a field that "${target.name}" does not have.`);
  }
};

const requireCondition = (scope: WriteScope, value: unknown): void => {
  if (!isPlainObject(value) || Object.keys(value).length === 0) {
    throw invalidEffect(scope.at, 'must be a condition, such as {"stock":{"$gte":1}}.');
  }
  for (const [key, inner] of Object.entries(value)) {
    const at = { ...scope, at: `${scope.at}.${key}` };
    if (key === '$not') requireCondition(at, inner);
    else if (combining.includes(key)) {
      if (!Array.isArray(inner)) throw invalidEffect(at.at, 'takes a list of conditions.');
      for (const [index, each] of inner.entries()) requireCondition({ ...at, at: `${at.at}.${index}` }, each);
    } else if (key.startsWith('$')) throw invalidEffect(at.at, 'can only be used inside a field of the condition.');
    else if (!systemFields.has(key)) requireTargetField(at, key);
  }
};

const requireChanges = (scope: WriteScope, changes: Readonly<Record<string, unknown>>): void => {
  if (Object.keys(changes).length === 0) throw invalidEffect(scope.at, 'must name at least one field.');
  for (const [key, value] of Object.entries(changes)) {
    const at = { ...scope, at: `${scope.at}.${key}` };
    if (!key.startsWith('$')) requireTargetField(at, key);
    else if (ofFields.includes(key)) {
      if (!isPlainObject(value)) throw invalidEffect(at.at, 'takes an object of fields and their values.');
      for (const path of Object.keys(value)) requireTargetField({ ...at, at: `${at.at}.${path}` }, path);
    } else if (ofLists.includes(key)) {
      if (!Array.isArray(value)) throw invalidEffect(at.at, 'takes a list of fields.');
      for (const [index, path] of value.entries()) {
        requireTargetField({ ...at, at: `${at.at}.${index}` }, String(path));
      }
    } else throw invalidEffect(at.at, `is not known. Changes take ${[...ofFields, ...ofLists].join(', ')}.`);
  }
};

const requireDocument = (scope: WriteScope, document: Readonly<Record<string, unknown>>): void => {
  for (const key of Object.keys(document)) {
    const at = { ...scope, at: `${scope.at}.${key}` };
    if (key.includes('.')) throw invalidEffect(at.at, 'must be a top-level field.');
    requireTargetField(at, key);
  }
};

const requirePart = (scope: WriteScope, part: Part, value: unknown): void => {
  if (part === 'id') {
    if (typeof value !== 'string' && !isPlainObject(value)) {
      throw invalidEffect(scope.at, 'must be the id of a document, or a value such as {"$doc":"product"}.');
    }
  } else if (part === 'where') requireCondition(scope, value);
  else if (!isPlainObject(value)) throw invalidEffect(scope.at, 'must be an object of fields and their values.');
  else if (part === 'changes') requireChanges(scope, value);
  else requireDocument(scope, value);
};

const none: ReadonlySet<string> = new Set();
const kept = { id: none, document: none, where: ofConditions, changes: ofChanges } as const;

const parsePart = (scope: WriteScope, part: Part, value: unknown): Expression => {
  const { target, ...at } = scope;
  requirePart(scope, part, value);
  const expression = parseExpression({ ...at, keeps: kept[part] }, value);
  const fields = (part === 'document' || part === 'changes') && expression.kind === 'object' ? expression.of : [];
  for (const [key, each] of fields) requireFit({ at: `${scope.at}.${key}`, collection: target }, key, each);
  return expression;
};

const targetOf = (scope: EffectScope, name: unknown): Collection => {
  if (typeof name !== 'string') throw invalidEffect(scope.at, 'must be the name of a collection.');
  if (isUsersName(name)) throw invalidEffect(scope.at, 'cannot be users. No effect writes them.');
  const target = scope.known.get(name);
  if (!target) throw invalidEffect(scope.at, `is "${cutText(name, 64, '…')}", a collection that does not exist.`);
  return target;
};

const parseWrite = (scope: EffectScope, value: unknown): EffectWrite => {
  if (!isPlainObject(value)) throw invalidEffect(scope.at, 'must be an object such as {"op":"update",…}.');
  const { op, collection, ifMatch } = value;
  if (!isOp(op)) throw invalidEffect(below(scope, 'op').at, `must be "${Object.keys(members).join('", "')}".`);
  const known = members[op];
  const other = Object.keys(value).find((key) => key !== 'op' && key !== 'collection' && !Object.hasOwn(known, key));
  if (other !== undefined) {
    throw invalidEffect(
      below(scope, other).at,
      `is not known. ${op} takes collection, ${Object.keys(known).join(', ')}.`,
    );
  }
  const target = targetOf(below(scope, 'collection'), collection);
  if (ifMatch !== undefined && !(Number.isSafeInteger(ifMatch) && Number(ifMatch) >= 0)) {
    throw invalidEffect(below(scope, 'ifMatch').at, 'must be a revision, a whole number.');
  }
  const parse = (part: Part): Partial<Record<Part, Expression>> => {
    const at = { ...below(scope, part), target };
    if (value[part] !== undefined) return { [part]: parsePart(at, part, value[part]) };
    if (known[part]) throw invalidEffect(at.at, `is missing. A write with op "${op}" needs it.`);
    return {};
  };
  return {
    at: scope.at,
    op,
    collection: target.name,
    ...parse('id'),
    ...(ifMatch !== undefined && { ifMatch: Number(ifMatch) }),
    ...parse('document'),
    ...parse('changes'),
    ...parse('where'),
  };
};

/** Parses the writes of an effect. Throws 400 `INVALID_EFFECT` naming the path. */
export const parseWrites = (scope: EffectScope, value: unknown): readonly EffectWrite[] => {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length === 0 || value.length > maxWrites) {
    throw invalidEffect(scope.at, `must be a list of 1 to ${maxWrites} writes.`);
  }
  return value.map((write, index) => parseWrite(below(scope, index), write));
};
