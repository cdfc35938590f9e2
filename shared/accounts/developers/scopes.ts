/** Resources that a personal access token can read or write. */
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

/** Such as `documents:write`. Write does not include read. */
export type Scope = `${Resource}:${'read' | 'write'}`;

/** The account itself is read-only. */
export const scopes: readonly Scope[] = resources.flatMap((resource): Scope[] =>
  resource === 'account' ? ['account:read'] : [`${resource}:read`, `${resource}:write`],
);

/** Viewers read everything and sign links to private files (`storage:write`). */
export const scopesOfRole = (role: 'viewer' | 'admin'): readonly Scope[] =>
  scopes.filter((scope) => {
    if (scope.startsWith('account:')) return false;
    return role === 'admin' || scope.endsWith(':read') || scope === 'storage:write';
  });

/** They decide who reads, signs in or calls the API, so the console warns about them. */
export const farReachingScopes = [
  'projects:write',
  'keys:write',
  'collections:write',
  'users:write',
  'mail:write',
] as const satisfies readonly Scope[];
