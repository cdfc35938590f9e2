import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { dashboardRoutes } from '../../../functions/routes.ts';
import { isAudited } from '../../../shared/http/audit-trail.ts';
import { roleFor } from '../../../shared/http/middleware/developer.ts';
import {
  defineProjectRoutes,
  defineRoutes,
  type Method,
  type NamedRoute,
  type RouteTable,
  scopeOf,
} from '../../../shared/http/route.ts';

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

describe('the scope, the role and the audit trail of a row', () => {
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
  ])('%s %s of %s: scope %s, role %s, entered %s', (method, path, resource, scope, role, entered) => {
    const route = row(method, path, resource && { resource });
    expect({ scope: scopeOf(route), role: roleFor(route), entered: isAudited(route) }).toEqual({
      scope,
      role,
      entered,
    });
  });

  test('a row can ask for another role, and say that it changes nothing', () => {
    const route = row('POST', `${below}/schema-assistant`, { role: 'owner', audit: false });
    expect({ role: roleFor(route), entered: isAudited(route) }).toEqual({ role: 'owner', entered: false });
  });

  test('a row of projects that says no resource does not compile; one of its own counts', () => {
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

  test('each area of the dashboard deals with its resources, and with no other', () => {
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
