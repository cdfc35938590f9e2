import { allFields, type Collection, hasRules } from '../../collections/collection.ts';
import { findCollections } from '../../collections/find-collections.ts';
import { usersCollection } from '../../collections/names.ts';
import { fixedRules, parseRules } from '../../collections/rules/parse-rules.ts';
import type { Rules } from '../../collections/rules/rule.ts';
import { logFailure } from '../../core/log.ts';
import type { Caller, Project } from '../../projects/project.ts';
import type { JsonObject } from '../document.ts';
import { entriesIn } from '../values.ts';
import { findUser } from './bind.ts';

/** The rules of a collection, and the collections that they name. */
export interface KnownRules {
  readonly rules: Rules;
  readonly known: ReadonlyMap<string, Collection>;
}

/** Without a field of the schema of `users`, rules need not know that schema. */
const ofEveryUser: ReadonlySet<unknown> = new Set(['_id', 'email', 'emailVerified', 'isAnonymous']);

/** The collections that rules may name, as far as JSON tells. */
const namesIn = ({ schema, rls: { rules = {} } }: Collection): readonly string[] => {
  const names = new Set<string>();
  let followsRefs = false;
  for (const [key, inner] of entriesIn(rules)) {
    if (key === '$from' && typeof inner === 'string') names.add(inner);
    if (key === '$user' && !ofEveryUser.has(inner)) names.add(usersCollection);
    followsRefs ||= key === '$ref' || (key === '$doc' && typeof inner === 'string' && inner.includes('.'));
  }
  if (followsRefs) for (const { ref, items } of allFields(schema ?? [])) names.add(ref ?? items?.ref ?? '');
  names.delete('');
  return [...names];
};

const nothing: Rules = parseRules(
  {
    name: 'none',
    schema: null,
    rls: { enabled: true, mode: 'rules', ownerField: '', trash: 'everyone', requires: 'none' },
  },
  new Map(),
  {},
);

const read = async (project: Project, collection: Collection): Promise<KnownRules> => {
  const known = new Map(await findCollections(project, namesIn(collection))).set(collection.name, collection);
  try {
    return { rules: parseRules(collection, known, collection.rls.rules), known };
  } catch (error) {
    // A collection that they name is just being deleted or changed: until that is known everywhere, they allow nothing.
    logFailure(
      { message: 'The rules of a collection do not fit', project: project.id, collection: collection.name },
      error,
    );
    return { rules: nothing, known };
  }
};

const readRules = new WeakMap<Collection, Promise<KnownRules>>();

/**
 * The rules of a collection; those of the other modes are fixed. Reads other collections, at most every 5 s, only if the
 * rules name some.
 */
export const rulesOf = (project: Project, collection: Collection): Promise<KnownRules> => {
  if (!hasRules(collection.rls)) return Promise.resolve({ rules: fixedRules(collection), known: new Map() });
  const reading = readRules.get(collection) ?? read(project, collection);
  readRules.set(collection, reading);
  // A failure of the database is no state of the rules.
  reading.catch(() => readRules.delete(collection));
  return reading;
};

const users = new WeakMap<Caller, Promise<JsonObject | undefined>>();

/** The caller's record as rules see it, read once for a request; `needsRecord`: more than the id is asked for. */
export const userOf = (
  project: Project,
  caller: Caller,
  known: KnownRules['known'],
  needsRecord: boolean,
): Promise<JsonObject | undefined> => {
  if (!needsRecord) return findUser(project, caller, undefined, false);
  const reading = users.get(caller) ?? findUser(project, caller, known.get(usersCollection), true);
  users.set(caller, reading);
  return reading;
};
