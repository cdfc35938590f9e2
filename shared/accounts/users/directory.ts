import { isDeepStrictEqual } from 'node:util';
import type { Collection } from '../../collections/collection.ts';
import { findCollections } from '../../collections/find-collections.ts';
import { usersCollection } from '../../collections/names.ts';
import { directoryIndexes } from '../../collections/rules/check-rules.ts';
import { rightsOf } from '../../collections/schema/field-rights.ts';
import { hiddenUserFields } from '../../collections/schema/users.ts';
import { updateCollection } from '../../collections/update-collection.ts';
import { AppError, type FieldError, validationFailed } from '../../core/errors.ts';
import { cutText } from '../../core/text.ts';
import { idOf } from '../../core/values.ts';
import { requireCallerRule } from '../../documents/access/decide-rule.ts';
import { checkCallerRule } from '../../documents/access/rules-of.ts';
import { type Condition, mayReveal } from '../../documents/query/condition.ts';
import { decodeCursor, encodeCursor, invalidCursor } from '../../documents/query/cursor.ts';
import { invalidFilter, pathsOf } from '../../documents/query/filter.ts';
import { findRows } from '../../documents/query/find-rows.ts';
import { listQueryOf, parseSentWhere } from '../../documents/query/list-query.ts';
import { beginningsIn } from '../../documents/query/search.ts';
import { sortFingerprint } from '../../documents/query/sort.ts';
import { parseWhere, toConditions } from '../../documents/query/where.ts';
import type { Caller, Project } from '../../projects/project.ts';
import type { Directory } from '../../projects/user-settings.ts';

const ruleOf = ({ read }: Directory) => ({ at: 'directory.read', what: 'the directory', value: read });

const secret: ReadonlySet<string> = new Set(['email', 'password']);

/** The schema's fields that the directory may show: those that every caller may read. */
const nameable = (users: Collection): ReadonlySet<string> => {
  const withRead = new Set(rightsOf(users).read.map(({ segments }) => segments[0]));
  const keys = (users.schema ?? []).map(({ key }) => key);
  return new Set(keys.filter((key) => !secret.has(key) && !hiddenUserFields.has(key) && !withRead.has(key)));
};

/** Throws 400 for a rule or a field that the directory cannot have. */
export const checkDirectory = async (project: Project, directory: Directory): Promise<void> => {
  const users = (await findCollections(project, [usersCollection])).get(usersCollection);
  if (!users) {
    const message = 'directory needs the collection users. Create it first';
    throw validationFailed({ field: 'directory', message });
  }
  const allowed = nameable(users);
  const errors = directory.fields.flatMap((name, index): FieldError[] => {
    if (allowed.has(name)) return [];
    const field = `directory.fields.${index}`;
    const reason = 'is not a field of users that everyone may read: email, password and fields with read are not';
    return [{ field, message: `${field} ("${cutText(name, 64, '…')}") ${reason}` }];
  });
  if (errors.length > 0) throw validationFailed(...errors);
  await checkCallerRule(project, users, ruleOf(directory));
};

/** Builds the indexes of the directory's fields, which its filters use. */
export const indexDirectory = async (project: Project, directory: Directory | null): Promise<void> => {
  const users = (await findCollections(project, [usersCollection])).get(usersCollection);
  const { directory: _before, ...rest } = project;
  const changed: Project = directory ? { ...rest, directory } : rest;
  if (!users || isDeepStrictEqual(directoryIndexes(changed, users), users.ruleIndexes ?? [])) return;
  await updateCollection(changed, usersCollection, {});
};

/** The query of a search in the directory, as texts; `sent` is the query string as it was sent. */
interface DirectoryQuery {
  readonly where?: string | undefined;
  readonly search?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly ids?: string | undefined;
}

/** The users whom a directory shows. */
const shownUsers: Condition = {
  isDeleted: { $ne: true },
  isDisabled: { $ne: true },
  '_signIn.anonymous': { $exists: false },
};

const maxIds = 100;

const idsIn = (text: string): Condition => {
  const texts = text.split(',');
  const ids = texts.flatMap((id) => idOf(id) ?? []);
  if (ids.length === texts.length && ids.length <= maxIds) return { _id: { $in: ids } };
  const message = `ids must be 1 to ${maxIds} ids of 24 hexadecimal characters, separated by commas.`;
  throw new AppError('INVALID_QUERY', message, { errors: [{ field: 'ids', message }] });
};

const whereIn = (users: Collection, fields: ReadonlySet<string>, text: string, sent: string): readonly Condition[] => {
  const parsed = parseWhere(users, parseSentWhere(text, sent));
  const other = pathsOf(parsed).find((path) => path !== '_id' && !fields.has(path.split('.', 1)[0] ?? ''));
  if (other !== undefined) throw invalidFilter(other, 'the directory does not show this field.');
  return toConditions(parsed);
};

const searchIn = (users: Collection, fields: ReadonlySet<string>, text: string): readonly Condition[] => {
  const keys = (users.schema ?? []).filter(({ key, type }) => fields.has(key) && type === 'String');
  if (keys.length > 0)
    return beginningsIn(
      keys.map(({ key }) => key),
      text,
    );
  const message = 'search needs a String among the fields of the directory.';
  throw new AppError('INVALID_QUERY', message, { errors: [{ field: 'search', message }] });
};

interface DirectoryItem {
  readonly _id: string;
  readonly [field: string]: unknown;
}

/**
 * Users whom the caller may find, oldest first. Throws 403 `DIRECTORY_OFF` or `RULE_DENIED`, 401 `TOKEN_MISSING`, 400 for
 * an invalid query. Costs one `find`, and one command if the rule needs the caller's record.
 */
export const listDirectory = async (
  project: Project,
  users: Collection,
  caller: Caller,
  { where, search, limit, cursor = '', ids }: DirectoryQuery,
  sent: string,
): Promise<{ readonly items: readonly DirectoryItem[]; readonly nextCursor?: string }> => {
  const { directory } = project;
  if (!directory) {
    throw new AppError(
      'DIRECTORY_OFF',
      'Users of this project cannot find each other. Set directory: PATCH /api/projects/:projectId of the dashboard API.',
    );
  }
  await requireCallerRule(project, users, caller, ruleOf(directory));
  const allowed = nameable(users);
  const fields = new Set(directory.fields.filter((name) => allowed.has(name)));
  const asked = [
    ...(ids === undefined ? [] : [idsIn(ids)]),
    ...(where === undefined ? [] : whereIn(users, fields, where, sent)),
    ...(search === undefined ? [] : searchIn(users, fields, search)),
  ];
  const selection = {
    conditions: [shownUsers, ...asked.filter((condition) => !mayReveal(condition))],
    afterwards: asked.filter(mayReveal),
  };
  const texts = new Map([
    ['sort', '_id'],
    ['cursor', cursor],
    ['meta', 'false'],
  ]);
  const query = { ...listQueryOf(texts, { filters: [], where: undefined }), limit, fields: ['_id', ...fields] };
  const fingerprint = sortFingerprint(project.id, `${usersCollection}/directory`, query.sort);
  const position = cursor === '' ? undefined : decodeCursor(fingerprint, 1, cursor);
  if (position && !('values' in position)) throw invalidCursor();
  const { rows, more } = await findRows(project, usersCollection, selection, query, position?.values);
  const last = rows.at(-1);
  return {
    items: rows.map(({ document }) => ({ ...document, _id: String(document._id) })),
    ...(more && last && { nextCursor: encodeCursor(fingerprint, last.position) }),
  };
};
