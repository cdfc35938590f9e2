import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { isAudited } from '../../../shared/http/audit-trail.ts';
import { roleFor } from '../../../shared/http/middleware/developer.ts';
import type { Method, NamedRoute } from '../../../shared/http/route.ts';
import { scopeOf } from '../../../shared/http/route-scope.ts';

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
  test.each<[Method, string, string | undefined, string, boolean]>([
    ['GET', '/api/projects', 'projects:read', 'viewer', false],
    ['POST', '/api/projects', 'projects:write', 'admin', false],
    ['PATCH', below, 'projects:write', 'admin', true],
    ['POST', `${below}/keys/rotate`, 'keys:write', 'admin', true],
    ['POST', `${below}/signing-keys/rotate`, 'keys:write', 'admin', true],
    ['GET', `${below}/collections/{collectionName}`, 'collections:read', 'viewer', false],
    ['DELETE', `${below}/collections/{collectionName}/indexes/{indexName}`, 'collections:write', 'admin', true],
    ['POST', `${below}/collections/{collectionName}/documents`, 'documents:write', 'admin', false],
    ['POST', `${below}/collections/{collectionName}/trash/{id}/restore`, 'documents:write', 'admin', false],
    ['DELETE', `${below}/users/{id}/sessions`, 'users:write', 'admin', true],
    ['PUT', `${below}/database`, 'database:write', 'admin', true],
    ['GET', `${below}/mail/templates/{templateId}`, 'mail:read', 'viewer', false],
    ['GET', '/api/auth/me', 'account:read', 'viewer', false],
    ['GET', '/api/auth/tokens', undefined, 'viewer', false],
    ['POST', '/api/invitations/accept', undefined, 'admin', false],
    ['POST', `${below}/something-new`, undefined, 'admin', true],
  ])('%s %s: scope %s, role %s, entered %s', (method, path, scope, role, entered) => {
    const route = row(method, path);
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
});
