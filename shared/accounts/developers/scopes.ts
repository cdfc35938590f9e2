/** What a personal access token can be let into; each to read, to write, or both. */
const resources = [
  'account',
  'projects',
  'keys',
  'members',
  'audit',
  'collections',
  'documents',
  'users',
  'storage',
  'database',
  'mail',
  'webhooks',
  'usage',
  'schema-assistant',
] as const;

export type Resource = (typeof resources)[number];

/** One right of a token, `documents:write`. Writing does not include reading. */
export type Scope = `${Resource}:${'read' | 'write'}`;

/** Every scope that a token can have. The account itself can only be read. */
export const scopes: readonly Scope[] = resources.flatMap((resource): Scope[] =>
  resource === 'account' ? ['account:read'] : [`${resource}:read`, `${resource}:write`],
);

/**
 * The scopes that a developer of a role has in a project. A viewer reads everything, and signs links to private files,
 * which is `storage:write`; an admin does everything.
 */
export const scopesOfRole = (role: 'viewer' | 'admin'): readonly Scope[] =>
  scopes.filter((scope) => {
    if (scope.startsWith('account:')) return false;
    return role === 'admin' || scope.endsWith(':read') || scope === 'storage:write';
  });

/**
 * Scopes that let a token reach more than their names say, because what they change decides who reads, signs in or
 * calls the API. The contract says how each of them does, and the console warns about them.
 */
export const farReachingScopes = [
  'projects:write',
  'keys:write',
  'collections:write',
  'users:write',
  'mail:write',
] as const satisfies readonly Scope[];
