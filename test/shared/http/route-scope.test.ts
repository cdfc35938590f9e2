import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { dashboardRoutes } from '../../../functions/routes.ts';
import { farReachingScopes, scopes, scopesOfRole } from '../../../shared/accounts/developers/scopes.ts';
import { isAudited } from '../../../shared/http/dashboard-endpoint.ts';
import { roleFor } from '../../../shared/http/middleware/developer.ts';
import {
  defineProjectRoutes,
  defineRoutes,
  isRead,
  type Method,
  type NamedRoute,
  type RouteTable,
  scopeOf,
  scopesOf,
} from '../../../shared/http/route.ts';
import { includesRole } from '../../../shared/projects/project.ts';
import { contract } from '../../support/data/contract.ts';

const row = (method: Method, path: string, more: Partial<NamedRoute> = {}): NamedRoute => ({
  id: 'sample',
  method,
  path: path as `/${string}`,
  access: 'developer',
  summary: '',
  response: { status: 200, body: v.unknown() },
  ...more,
});

const below = '/api/projects/{projectId}';

describe('the scope, the role and the audit trail of a route', () => {
  test.each<[Method, string, NamedRoute['resource'], string | undefined, string, boolean]>([
    ['GET', '/api/projects', 'projects', 'projects:read', 'viewer', false],
    ['POST', '/api/projects', 'projects', 'projects:write', 'admin', false],
    ['PATCH', below, 'projects', 'projects:write', 'admin', true],
    ['POST', `${below}/keys/rotate`, 'keys', 'keys:write', 'admin', true],
    ['POST', `${below}/signing-keys/rotate`, 'keys', 'keys:write', 'admin', true],
    ['GET', `${below}/collections/{collectionName}`, 'collections', 'collections:read', 'viewer', false],
    [
      'DELETE',
      `${below}/collections/{collectionName}/indexes/{indexName}`,
      'collections',
      'collections:write',
      'admin',
      true,
    ],
    ['POST', `${below}/collections/{collectionName}/documents`, 'documents', 'documents:write', 'admin', false],
    [
      'POST',
      `${below}/collections/{collectionName}/trash/{id}/restore`,
      'documents',
      'documents:write',
      'admin',
      false,
    ],
    ['DELETE', `${below}/users/{id}/sessions`, 'users', 'users:write', 'admin', true],
    ['PUT', `${below}/database`, 'database', 'database:write', 'admin', true],
    ['GET', `${below}/mail/templates/{templateId}`, 'mail', 'mail:read', 'viewer', false],
    ['GET', '/api/auth/me', 'account', 'account:read', 'viewer', false],
    ['GET', '/api/auth/tokens', undefined, undefined, 'viewer', false],
    ['POST', '/api/invitations/accept', undefined, undefined, 'admin', false],
    ['POST', `${below}/something-new`, undefined, undefined, 'admin', true],
  ])('%s %s of %s: scope %s, role %s, audit entry %s', (method, path, resource, scope, role, entered) => {
    const route = row(method, path, resource && { resource });
    expect({ scope: scopeOf(route), role: roleFor(route), entered: isAudited(route) }).toEqual({
      scope,
      role,
      entered,
    });
  });

  test('a route can need another role, and be excluded from the audit trail', () => {
    const route = row('POST', `${below}/schema-assistant`, { role: 'owner', audit: false });
    expect({ role: roleFor(route), entered: isAudited(route) }).toEqual({ role: 'owner', entered: false });
  });

  test('a POST has the scope and role of a GET, and no audit entry, when it only reads', () => {
    const route = row('POST', `${below}/collections/{collectionName}/sum`, { resource: 'documents', reads: true });
    expect({ scope: scopeOf(route), role: roleFor(route), entered: isAudited(route) }).toEqual({
      scope: 'documents:read',
      role: 'viewer',
      entered: false,
    });
  });

  test('a route below a project does not compile when it has no resource', () => {
    const more = {
      method: 'GET',
      access: 'developer',
      summary: '',
      response: { status: 200, body: v.unknown() },
    } as const;
    // @ts-expect-error the resource
    expect(defineRoutes({ 'get-thing': { ...more, path: '/api/projects/{projectId}/things' } })).toBeTypeOf('object');
    const { 'get-thing': given, 'get-key': own } = defineProjectRoutes('usage', {
      'get-thing': { ...more, path: '/api/projects/{projectId}/things' },
      'get-key': { ...more, path: '/api/projects/{projectId}/things/key', resource: 'keys' },
    });
    expect([scopeOf(given), scopeOf(own)]).toEqual(['usage:read', 'keys:read']);
  });

  test('each area of the dashboard uses only its own resources', () => {
    const resources = Object.entries<RouteTable>(dashboardRoutes).map(([area, table]) => [
      area.replace('dashboard/', ''),
      [...new Set(Object.values(table).map(({ resource }) => resource ?? 'no token'))],
    ]);
    expect(Object.fromEntries(resources)).toEqual({
      auth: ['no token', 'account'],
      tokens: ['no token'],
      projects: ['projects', 'keys'],
      members: ['members', 'no token'],
      audit: ['audit'],
      collections: ['collections'],
      database: ['database'],
      documents: ['documents'],
      trash: ['documents'],
      transfers: ['documents'],
      users: ['users'],
      storage: ['storage'],
      mail: ['mail'],
      'mail/audiences': ['mail'],
      'mail/broadcasts': ['mail'],
      assistant: ['schema-assistant'],
      usage: ['usage'],
      webhooks: ['webhooks'],
      service: ['no token'],
    });
  });
});

/**
 * The access that each dashboard write gives beyond the scope of its own resource. `own`: it returns only its own
 * resource. `body`: it depends on the body, and the functions check it by `requireScopes` (tests of tokens and
 * webhooks).
 */
const handedOut: Readonly<Record<string, 'own' | 'body' | readonly string[]>> = {
  'propose-schema': 'own',
  'create-collection': 'own',
  'update-collection': 'own',
  'delete-collection': 'own',
  'try-rules': ['documents:read'],
  'try-effects': ['documents:read'],
  'create-index': 'own',
  'delete-index': 'own',
  // Documents that are written from then on are stored at the new database, and read from it.
  'connect-database': ['documents:read', 'documents:write'],
  'disconnect-database': 'own',
  'create-project-document': 'own',
  'update-project-document': 'own',
  'delete-project-document': 'own',
  'update-project-documents': 'own',
  'delete-project-documents': 'own',
  'create-mail-template': 'own',
  'update-mail-template': 'own',
  'delete-mail-template': 'own',
  'send-test-mail': 'own',
  'delete-suppression': 'own',
  'create-project-audience': 'own',
  'delete-project-audience': 'own',
  'create-project-contact': 'own',
  'update-project-contact': 'own',
  'delete-project-contact': 'own',
  'create-project-broadcast': 'own',
  'send-project-broadcast': 'own',
  'delete-project-broadcast': 'own',
  // A role in the project gives everything that the role can do.
  'update-member': 'body',
  'create-invitation': 'body',
  'delete-member': 'own',
  'delete-invitation': 'own',
  // The secret key of the new project.
  'create-project': ['keys:write'],
  'update-project': 'own',
  'delete-project': 'own',
  'rotate-key': 'own',
  'rotate-signing-key': 'own',
  'delete-files': 'own',
  // The content of private files.
  'change-project-visibility': ['storage:read'],
  'sign-project-links': ['storage:read'],
  'request-project-upload': 'own',
  'confirm-project-upload': 'own',
  'end-reservation': 'own',
  // Files that are uploaded from then on are stored there.
  'connect-storage': ['storage:read'],
  'disconnect-storage': 'own',
  'start-export': 'own',
  'start-import': 'own',
  'start-uploaded-import': 'own',
  'cancel-transfer': 'own',
  'delete-transfer': 'own',
  'empty-trash': 'own',
  'restore-project-document': 'own',
  'delete-trashed-document': 'own',
  'create-user': 'own',
  'update-user': 'own',
  'delete-user': 'own',
  'revoke-user-sessions': 'own',
  'revoke-user-session': 'own',
  // Documents, users and files, delivered to an address.
  'create-webhook': 'body',
  'update-webhook': 'body',
  'delete-webhook': 'own',
  'test-webhook': 'own',
  'rotate-webhook-secret': 'own',
  'replay-webhook': 'own',
};

describe('the access that a route gives', () => {
  const rows = Object.values<RouteTable>(dashboardRoutes).flatMap((table) => Object.values(table));
  const ofTokens = rows.filter(({ resource }) => resource !== undefined);

  test('is declared for every route that changes something, and needs the scopes that protect it', () => {
    const decided = ofTokens
      .filter((route) => !isRead(route))
      .map((route) => [route.id, route.handsOut ?? (handedOut[route.id] === 'body' ? 'body' : 'own')]);
    expect(Object.fromEntries(decided)).toEqual(handedOut);
  });

  test('is of its resource when it only reads', () => {
    for (const route of ofTokens.filter(isRead)) expect(scopesOf(route), route.id).toEqual([scopeOf(route)]);
  });

  test.each(['viewer', 'admin'] as const)('needs all scopes of the role when it makes a developer %s', (role) => {
    const callable = ofTokens.filter(
      // Viewers can remove themselves, which gives no access.
      (route) =>
        route.path.includes('{projectId}') && includesRole(role, roleFor(route)) && route.id !== 'delete-member',
    );
    expect([...scopesOfRole(role)]).toEqual(expect.arrayContaining([...new Set(callable.flatMap(scopesOf))]));
    expect(scopes).toEqual(expect.arrayContaining([...scopesOfRole(role)]));
  });

  test('is in the contract for every far-reaching scope and every route with several scopes', () => {
    const told = [...contract.matchAll(/^ {2}- `([a-z-]+:write)` /gm)].map(([, scope]) => scope);
    expect(told.sort()).toEqual([...farReachingScopes].sort());
    for (const route of ofTokens.filter(({ handsOut }) => handsOut)) {
      const needed = scopesOf(route);
      const isTold = contract
        .split('\n')
        .some((line) => /^ {2}\|/.test(line) && needed.every((scope) => line.includes(`\`${scope}\``)));
      expect(isTold, route.id).toBe(true);
    }
  });
});
