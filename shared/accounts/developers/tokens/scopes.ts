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
