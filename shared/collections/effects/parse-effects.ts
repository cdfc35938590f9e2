import { hash } from 'node:crypto';
import { AppError } from '../../core/errors.ts';
import { isPlainObject } from '../../core/json.ts';
import { isAddress } from '../../core/schemas.ts';
import { type Collection, type EffectInput, ownerFieldOf, systemFields } from '../collection.ts';
import { usersCollection } from '../names.ts';
import { parseEffectCondition } from '../rules/parse-rules.ts';
import type { RuleNode } from '../rules/rule.ts';
import { fieldAt, isFieldPath, typeAt } from '../schema/field-path.ts';
import {
  type DueField,
  dueFieldsOf,
  type Effect,
  type EffectEvent,
  type EffectMail,
  type Expression,
  effectEvents,
  type MailReceiver,
} from './effect.ts';
import {
  below,
  type EffectScope,
  invalidEffect,
  parseExpression,
  requireField,
  requireFit,
} from './parse-expression.ts';
import { parseWrites } from './parse-writes.ts';

const mailMembers = ['template', 'to'] as const;
const maxTemplateLength = 100;

const parseField = (scope: EffectScope, value: unknown): string => {
  if (typeof value !== 'string') throw invalidEffect(scope.at, 'must name a field, as a text.');
  requireField(scope, scope.collection, value);
  return value;
};

const parseUserIn = (scope: EffectScope, value: unknown): MailReceiver => {
  const path = parseField(scope, value);
  const { collection } = scope;
  const isUser = path === ownerFieldOf(collection.rls) || typeAt(collection, path)?.ref === usersCollection;
  if (!isUser) throw invalidEffect(scope.at, 'must name the owner field, or a Ref to users.');
  return { kind: 'userIn', path };
};

const parseOpen = (scope: EffectScope, { $doc, open }: Readonly<Record<string, unknown>>): MailReceiver => {
  if (open !== true) {
    throw invalidEffect(below(scope, 'open').at, 'must be true, because the field may have the address of anyone.');
  }
  const inner = below(scope, '$doc');
  const path = parseField(inner, $doc);
  const type = typeAt(scope.collection, path)?.type;
  if (type !== undefined && type !== 'String') throw invalidEffect(inner.at, 'must name a String of the document.');
  return { kind: 'open', path };
};

const parseTo = (scope: EffectScope, value: unknown): MailReceiver => {
  if (typeof value === 'string') {
    if (!isAddress(value)) throw invalidEffect(scope.at, 'is not an email address.');
    return { kind: 'address', address: value };
  }
  const to = isPlainObject(value) ? value : {};
  const names = Object.keys(to);
  if (names.length === 1 && to.$user === 'email') return { kind: 'user' };
  if (names.length === 1 && names[0] === '$emailOf') return parseUserIn(below(scope, '$emailOf'), to.$emailOf);
  if (Object.hasOwn(to, '$doc') && names.every((name) => name === '$doc' || name === 'open')) {
    return parseOpen(scope, to);
  }
  throw invalidEffect(
    scope.at,
    'must be an address, {"$user": "email"}, {"$emailOf": "<field>"} or {"$doc": "<field>", "open": true}.',
  );
};

/** Parses the `mail` of an effect. Throws 400 `INVALID_EFFECT` naming the path. */
const parseMail = (scope: EffectScope, value: unknown): EffectMail => {
  if (!isPlainObject(value)) throw invalidEffect(scope.at, 'must be an object with template and to.');
  const other = Object.keys(value).find((key) => !mailMembers.some((member) => member === key));
  if (other !== undefined) throw invalidEffect(below(scope, other).at, 'is not known. A mail has template and to.');
  const { template } = value;
  if (typeof template !== 'string' || template.trim() === '' || template.length > maxTemplateLength) {
    throw invalidEffect(
      below(scope, 'template').at,
      `must be the id, name or key of a template, of at most ${maxTemplateLength} characters.`,
    );
  }
  return { template, to: parseTo(below(scope, 'to'), value.to) };
};

const maxEffects = 5;
const maxFields = 20;
const maxBytes = 8 * 1024;
const members = ['on', 'at', 'where', 'set', 'writes', 'mail', 'trusted'] as const;

const parseEvents = (at: string, value: unknown): readonly EffectEvent[] => {
  const given = Array.isArray(value) ? value : [value];
  const on = effectEvents.filter((event) => given.includes(event));
  if (on.length === 0 || on.length !== given.length) {
    throw invalidEffect(at, `must be "${effectEvents.join('", "')}", or a list of these.`);
  }
  return on;
};

/** Throws unless a path leads to a Date that the schema declares, outside of arrays. */
const requireDate = ({ at, collection: { name, schema } }: EffectScope, path: unknown): void => {
  if (typeof path !== 'string') throw invalidEffect(at, 'must name a Date of the document, as a text.');
  const [root = '', ...rest] = path.split('.');
  const known = isFieldPath(path) && schema?.some(({ key }) => key === root) ? schema : null;
  const around = [root, ...rest].map((_key, index, keys) => fieldAt(known, keys.slice(0, index).join('.')));
  if (known === null || !fieldAt(known, path)) {
    throw invalidEffect(at, `names a field that the schema of "${name}" does not have.`);
  }
  if (fieldAt(known, path)?.type !== 'Date' || around.some((each) => each?.type === 'Array')) {
    throw invalidEffect(at, 'must name a single Date. Fields of another type and of arrays have no time.');
  }
};

const isHalves = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isPlainObject(value) &&
  Object.keys(value).length > 0 &&
  Object.keys(value).every((key) => key === 'before' || key === 'after');

type Conditions = Pick<Effect, 'before' | 'after'>;

const parseWhere = (scope: EffectScope, on: readonly EffectEvent[], value: unknown): Conditions => {
  if (value === undefined) return {};
  const { collection, known } = scope;
  const parse = (at: string, half: unknown, kind: 'write' | 'after'): RuleNode => {
    try {
      return parseEffectCondition(collection, known, at, half, kind);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'INVALID_RLS') throw error;
      throw new AppError('INVALID_EFFECT', error.message, { errors: error.errors ?? [], cause: error });
    }
  };
  if (!isHalves(value)) {
    const after = parse(scope.at, value, 'write');
    return on.includes('update') ? { before: after, after } : { after };
  }
  if (on.length !== 1 || on[0] !== 'update') {
    throw invalidEffect(scope.at, 'has before and after, which only an effect of "update" can have.');
  }
  return {
    ...(value.before !== undefined && { before: parse(`${scope.at}.before`, value.before, 'write') }),
    ...(value.after !== undefined && { after: parse(`${scope.at}.after`, value.after, 'after') }),
  };
};

const requireSettable = ({ at, collection, updates }: EffectScope, field: string): void => {
  const { schema, rls } = collection;
  if (!isFieldPath(field) || field.includes('.')) throw invalidEffect(at, 'must be a top-level field.');
  if (systemFields.has(field)) throw invalidEffect(at, 'is a field that only the service writes.');
  if (rls.enabled && field === rls.ownerField) throw invalidEffect(at, 'is the owner of the document.');
  if (updates && field === collection.partition) {
    throw invalidEffect(at, 'is the partition, which an update cannot change. Set it on "create" only.');
  }
  if (schema && !schema.some(({ key }) => key === field)) {
    throw invalidEffect(at, `names a field that "${collection.name}" does not have.`);
  }
};

const parseSet = (scope: EffectScope, value: unknown): readonly (readonly [string, Expression])[] => {
  const entries = isPlainObject(value) ? Object.entries(value) : [];
  if (entries.length === 0 || entries.length > maxFields) {
    throw invalidEffect(scope.at, `must name 1 to ${maxFields} fields and their values.`);
  }
  return entries.map(([field, each]) => {
    const inner = below(scope, field);
    requireSettable(inner, field);
    const expression = parseExpression(inner, each);
    requireFit(inner, field, expression);
    return [field, expression] as const;
  });
};

/** When an effect runs: after writes, or at a time. */
const parseTime = (scope: EffectScope, { on, at }: EffectInput): readonly EffectEvent[] => {
  if (at === undefined) return parseEvents(below(scope, 'on').at, on);
  const inner = below(scope, 'at');
  if (on !== undefined) throw invalidEffect(inner.at, 'cannot be combined with on. Use one of the two.');
  requireDate(inner, at);
  return [];
};

const parseEffect = (scope: EffectScope, value: unknown, due: DueField | undefined): Effect => {
  if (!isPlainObject(value)) throw invalidEffect(scope.at, 'must be an object.');
  const other = Object.keys(value).find((key) => !members.some((member) => member === key));
  if (other !== undefined) {
    throw invalidEffect(below(scope, other).at, `is not known. An effect has ${members.join(', ')}.`);
  }
  const { trusted = false } = value;
  if (typeof trusted !== 'boolean') throw invalidEffect(below(scope, 'trusted').at, 'must be true or false.');
  const on = parseTime(scope, value);
  const hasStored = on.includes('update');
  const inner = { ...scope, hasStored, updates: hasStored || due !== undefined };
  const writes = parseWrites(below(inner, 'writes'), value.writes);
  const { set, mail } = value;
  const isSet = set !== undefined || (writes.length === 0 && mail === undefined);
  if (isSet && on.includes('delete')) {
    throw invalidEffect(
      below(scope, 'on').at,
      'has "delete", after which nothing can be set. Give the effect writes and mail only.',
    );
  }
  return {
    at: scope.at,
    on,
    ...(due && { due }),
    ...parseWhere(below(inner, 'where'), on, value.where),
    set: isSet ? parseSet(below(inner, 'set'), set) : [],
    writes,
    ...(mail !== undefined && { mail: parseMail(below(inner, 'mail'), mail) }),
    trusted,
    key: hash('sha256', JSON.stringify(value), 'base64url').slice(0, 12),
  };
};

/** A list of effects as the developer sent it. Throws 400 `INVALID_EFFECT` unless it is a list of objects. */
export const effectList = (collection: Pick<Collection, 'name'>, value: unknown): readonly EffectInput[] => {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > maxEffects) {
    throw invalidEffect('effects', `must be a list of at most ${maxEffects} effects.`);
  }
  if (value.length > 0 && collection.name === usersCollection) {
    throw invalidEffect('effects', 'cannot be given to users.');
  }
  if (Buffer.byteLength(JSON.stringify(value)) > maxBytes) {
    throw invalidEffect('effects', `must have at most ${maxBytes / 1024} KiB of JSON.`);
  }
  return value.map((effect, index) => {
    if (!isPlainObject(effect)) throw invalidEffect(`effects.${index}`, 'must be an object.');
    return effect;
  });
};

/**
 * Parses the effects of a collection. `known`: all collections of the project by name. Throws 400 `INVALID_EFFECT`
 * naming the path, such as `effects.0.set.total`.
 */
export const parseEffects = (collection: Collection, known: ReadonlyMap<string, Collection>): readonly Effect[] =>
  (collection.effects ?? []).map((effect, index, effects) =>
    parseEffect(
      { at: `effects.${index}`, collection, known, hasStored: false, updates: false, level: 1, tally: { parts: 0 } },
      effect,
      dueFieldsOf(effects)[index],
    ),
  );
