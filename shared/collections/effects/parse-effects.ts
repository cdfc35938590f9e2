import { hash } from 'node:crypto';
import { AppError } from '../../core/errors.ts';
import { isPlainObject } from '../../core/json.ts';
import { type Collection, type EffectInput, systemFields } from '../collection.ts';
import { usersCollection } from '../names.ts';
import { parseEffectCondition } from '../rules/parse-rules.ts';
import type { RuleNode } from '../rules/rule.ts';
import { fieldAt, isFieldPath } from '../schema/field-path.ts';
import { type DueField, dueFieldsOf, type Effect, type EffectEvent, type Expression, effectEvents } from './effect.ts';
import { below, type EffectScope, invalidEffect, parseExpression } from './parse-expression.ts';
import { parseMail } from './parse-mail.ts';
import { parseWrites } from './parse-writes.ts';

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
    return [field, parseExpression(inner, each)] as const;
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
