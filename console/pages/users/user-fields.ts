/** The fields of a user that the service keeps. */
const ofService: ReadonlySet<string> = new Set([
  ...['_id', 'email', 'emailVerified', 'disabled', 'isAnonymous', 'createdAt', 'updatedAt'],
]);

/** The names of the app's fields among some users, in order of appearance. */
export const ownFields = (users: readonly object[]): readonly string[] =>
  [...new Set(users.flatMap((user) => Object.keys(user)))].filter((key) => !ofService.has(key));

const maxColumns = 3;

const isScalar = (value: unknown): boolean => value === undefined || value === null || typeof value !== 'object';

/** The app's fields that fit into the columns of a list: the first three without lists and objects. */
export const shownColumns = (users: readonly Readonly<Record<string, unknown>>[]): readonly string[] =>
  ownFields(users)
    .filter((key) => users.every((user) => isScalar(user[key])))
    .slice(0, maxColumns);
