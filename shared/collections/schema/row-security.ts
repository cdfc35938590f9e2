import { clock } from '../../core/clock.ts';
import { feedSettings } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import { type Feed, type Field, isPrivate, noRowSecurity, type RowSecurity, type ValueType } from '../collection.ts';
import type { CollectionRecord } from '../collection-record.ts';
import { requireIndexRoom } from '../indexes/indexes.ts';
import { requireFieldKey, schemaError, usersCollection } from '../names.ts';
import { invalidRls } from '../rules/rule-scope.ts';
import { rightHints } from './right-hints.ts';
import { listLabel, type UniqueList } from './unique-lists.ts';

export type RowSecurityInput = Pick<RowSecurity, 'enabled'> & RowSecurityChanges;

export type RowSecurityChanges = { readonly [K in keyof RowSecurity]?: RowSecurity[K] | null | undefined };

const said = (input: RowSecurityChanges | null | undefined): Partial<RowSecurity> =>
  Object.fromEntries(Object.entries(input ?? {}).filter(([, value]) => value != null));

/**
 * Applies defaults: mode `public-read`, owner field `userId`, everyone's trash, no second factor. Throws 400
 * `INVALID_SCHEMA` unless the owner field is a top-level `String` and no system field. `users` has no owner field,
 * because only its own routes reach it.
 */
export const parseRowSecurity = (
  input: RowSecurityInput | null | undefined,
  name: string,
  schema: readonly Field[] | null,
): RowSecurity => {
  const given = said(input);
  const mode = given.mode ?? noRowSecurity.mode;
  const byRules = given.enabled === true && mode === 'rules';
  if (byRules && name === usersCollection)
    throw invalidRls('rules', 'cannot decide about users: only the user routes reach them.');
  if (given.rules !== undefined && !byRules) throw invalidRls('rules', 'need "enabled": true and "mode": "rules".');
  // With rules, documents have no owner unless the developer names the field.
  const rls: RowSecurity = { ...noRowSecurity, ...(byRules && { ownerField: '' }), ...given };
  const { enabled, ownerField } = rls;
  if (byRules && ownerField === '') {
    if (rls.trash === 'owner') throw invalidRls('trash', 'can only be "owner" if rls.ownerField is set.');
    return withoutOwner(rls, schema);
  }
  if (enabled && name === usersCollection) {
    throw new AppError(
      'INVALID_SCHEMA',
      'The users collection has no row security, because only the user routes access it.',
    );
  }
  requireFieldKey(ownerField, ownerField === '' ? 'rls.ownerField' : ownerField, true);
  const declared = schema?.find(({ key }) => key === ownerField);
  const isOwner = declared?.type === 'String' || (declared?.type === 'Ref' && declared.ref === usersCollection);
  if (enabled && declared && !isOwner) {
    throw schemaError(ownerField, 'is the owner field of row security and must be a String, or a Ref to users');
  }
  const perOwner = schema?.find(({ uniquePer }) => uniquePer === 'owner');
  if (!enabled && perOwner) {
    throw schemaError(perOwner.key, 'is unique per owner, which needs row security (rls.enabled)');
  }
  return rls;
};

const withoutOwner = (rls: RowSecurity, schema: readonly Field[] | null): RowSecurity => {
  const perOwner = schema?.find(({ uniquePer }) => uniquePer === 'owner');
  if (perOwner) throw schemaError(perOwner.key, 'is unique per owner, which needs an owner field (rls.ownerField)');
  return rls;
};

/** Positions of the changes feed contain a second; those of the current second must become invalid too. */
const nextSecond = (): Date => new Date(clock.now() + 1000);

/** Omitted and `null` options keep their values, so that no edit opens a private collection by accident. */
export const changedRowSecurity = (
  before: CollectionRecord['rls'],
  input: RowSecurityChanges | null | undefined,
): RowSecurityInput => {
  const { rules, ...kept } = before;
  const changes = said(input);
  const now = { ...kept, ...changes };
  const staysByRules = before.mode === 'rules' && now.mode === 'rules' && now.enabled;
  // Rules are replaced as a whole and end with their mode.
  const next = changes.rules ?? (staysByRules ? rules : undefined);
  const readChanges =
    JSON.stringify([next?.read, now.mode, now.enabled]) !== JSON.stringify([rules?.read, before.mode, before.enabled]);
  // An owner field that meant "none" ends with the mode.
  const leavesRules = before.ownerField === '' && !staysByRules;
  const hadNoOwner = !before.enabled && now.mode === 'rules';
  const isKept = changes.ownerField !== undefined || !(leavesRules || hadNoOwner);
  const { ownerField, ...rest } = now;
  return {
    ...rest,
    ...(isKept && { ownerField }),
    ...(next && { rules: next }),
    ...(readChanges && (before.mode === 'rules' || now.mode === 'rules') && { readSince: nextSecond() }),
  };
};

/** The writing user is the owner, so a default of that field is never used. */
export const withoutOwnerDefault = (
  schema: readonly Field[] | null,
  { enabled, ownerField }: RowSecurity,
): readonly Field[] | null => {
  if (!enabled || !schema) return schema;
  return schema.map((field) => {
    if (field.key !== ownerField) return field;
    const { default: _dropped, ...rest } = field;
    return rest;
  });
};

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

/** Private collection: a conflict reveals that another user has the value. */
type ShownRowSecurity = Pick<RowSecurity, 'enabled' | 'mode'> & { readonly ownerField: string | null };

const uniqueHints = (
  schema: readonly Field[],
  rls: ShownRowSecurity,
  lists: readonly UniqueList[],
): readonly string[] => {
  if (!isPrivate(rls)) return [];
  const shared = schema.filter(({ unique, uniquePer }) => unique && !uniquePer).map(({ key }) => key);
  const together = lists.filter(({ fields }) => !fields.includes(rls.ownerField ?? '')).map(listLabel);
  const isTold =
    'unique among all users, so a 409 tells a user that another user has the value. If each owner may have it once,';
  return [
    ...(shared.length > 0
      ? [`The collection is private, and ${quoted(shared)} ${isTold} set "uniquePer": "owner".`]
      : []),
    ...(together.length > 0
      ? [`The collection is private, and ${quoted(together)} ${isTold} add "${rls.ownerField}" to the fields.`]
      : []),
  ];
};

interface Given {
  readonly key?: string;
  readonly default?: unknown;
  readonly fields?: readonly Given[] | null;
  readonly items?: Given | null;
}

const lostDefaults = (given: readonly Given[], saved: readonly Field[], parent = ''): readonly string[] =>
  given.flatMap((field) => {
    const kept = saved.find(({ key }) => key === field.key);
    if (!kept) return [];
    const path = parent + kept.key;
    const lost = field.default != null && kept.default === undefined ? [path] : [];
    return [...lost, ...lostInside(field, kept, `${path}.`)];
  });

const lostInside = (given: Given, saved: ValueType, parent: string): readonly string[] => {
  if (given.items && saved.items) return lostInside(given.items, saved.items, parent);
  return lostDefaults(given.fields ?? [], saved.fields ?? [], parent);
};

const defaultHints = (given: unknown, schema: readonly Field[], { enabled, ownerField }: ShownRowSecurity) => {
  const lost = Array.isArray(given) ? lostDefaults(given, schema) : [];
  const owner = lost.filter((path) => enabled && path === ownerField);
  const required = lost.filter((path) => !owner.includes(path));
  return [
    ...owner.map((path) => `"${path}" is saved without its default: the owner is the user who inserts a document.`),
    ...(required.length > 0
      ? [
          `Saved without their default: ${quoted(required)}. A required field must be sent, so a default would never be used. Set "required": false to have the default.`,
        ]
      : []),
  ];
};

interface Hinted {
  readonly name: string;
  readonly schema: readonly Field[] | null;
  readonly rls: ShownRowSecurity;
  readonly unique?: readonly UniqueList[];
}

/**
 * Hints after a collection was created or edited: unique fields in a private collection, and defaults that are not
 * saved. `undefined` if there is none, or neither schema nor row security changed.
 */
export const collectionHints = (
  changes: { readonly schema?: unknown; readonly rls?: unknown; readonly unique?: unknown },
  { name, schema, rls, unique = [] }: Hinted,
): readonly string[] | undefined => {
  if (!schema || (changes.schema === undefined && changes.rls === undefined && changes.unique === undefined)) {
    return undefined;
  }
  const ofRights = name === usersCollection && changes.schema !== undefined ? rightHints(schema) : [];
  const hints = [...uniqueHints(schema, rls, unique), ...defaultHints(changes.schema, schema, rls), ...ofRights];
  return hints.length > 0 ? hints : undefined;
};

/** Maximum clock skew between MongoDB and this process. */
const clockLagMs = 60_000;

/** No function can know the collection in another state, so it is ready now. */
export const newFeed = (on: boolean): Feed | null => {
  const now = clock.now();
  return on ? { on, from: new Date(now - clockLagMs), readyAt: new Date(now) } : null;
};

/** A feed that is switched on starts now. */
export const changedFeed = (before: Feed | null, on: boolean = before?.on ?? false): Feed | null => {
  if (on === (before?.on ?? false)) return before;
  if (!on) return before && { ...before, on };
  const from = clock.now();
  return { on, from: new Date(from), readyAt: new Date(from + feedSettings().FEED_SETTLE_SECONDS * 1000) };
};

/** Throws 400 `INVALID_SCHEMA` for a feed of `users`, and if there is no room for its indexes. */
export const requireFeedFits = (name: string, schema: readonly Field[] | null, feed: Feed | null): void => {
  if (!feed?.on) return;
  if (name === usersCollection) {
    throw new AppError(
      'INVALID_SCHEMA',
      'The users collection has no changes feed, because only the user routes access it.',
    );
  }
  requireIndexRoom(schema ?? [], true);
};
