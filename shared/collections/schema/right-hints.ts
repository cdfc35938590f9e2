/** Also used while the developer types. */
interface Named {
  readonly key: string;
  readonly write?: unknown;
  readonly read?: unknown;
  readonly fields?: readonly Named[] | undefined;
}

const ofRights: ReadonlySet<string> = new Set(
  ['role', 'roles', 'admin', 'isadmin', 'plan', 'tier', 'credits', 'balance', 'permission', 'permissions'].flatMap(
    (name) => [name, `user${name}`],
  ),
);

const ofSecrets: ReadonlySet<string> = new Set([
  ...['phone', 'phonenumber', 'mobile', 'address', 'birthday', 'birthdate', 'dateofbirth', 'salary', 'iban', 'ssn'],
  ...['taxid', 'passport', 'token', 'secret', 'apikey'],
]);

const plain = (key: string): string => key.toLowerCase().replaceAll(/[^a-z]/g, '');

const isOpen = (right: unknown): boolean => right === undefined || right === null || right === '';

/** The fields with such a name and without the permission, unless an outer field has it. */
const openFields = (
  fields: readonly Named[],
  names: ReadonlySet<string>,
  right: 'write' | 'read',
  above = '',
): readonly string[] =>
  fields.flatMap((field) => {
    if (!isOpen(field[right])) return [];
    const path = above + field.key;
    const inside = openFields(field.fields ?? [], names, right, `${path}.`);
    return names.has(plain(field.key)) ? [path, ...inside] : inside;
  });

/** Fields of `users` that users should perhaps not set, or that not everyone should see. */
const openUserFields = (fields: readonly Named[]) => ({
  settable: openFields(fields, ofRights, 'write'),
  visible: openFields(fields, ofSecrets, 'read'),
});

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');

/** Hints on the permissions of fields of `users`. */
export const rightHints = (fields: readonly Named[]): readonly string[] => {
  const { settable, visible } = openUserFields(fields);
  return [
    ...(settable.length > 0
      ? [`Users can set ${quoted(settable)} themselves. If only your server should, set "write": "server".`]
      : []),
    ...(visible.length > 0
      ? [`Everyone can see ${quoted(visible)} of each user. If only the user should, set "read": "owner".`]
      : []),
  ];
};
