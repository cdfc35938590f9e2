import { beforeAll, describe, expect, inject, test } from 'vitest';
import { scopes } from '../../shared/accounts/developers/scopes.ts';
import { roleFor } from '../../shared/http/middleware/developer.ts';
import { isRead, scopesOf } from '../../shared/http/route.ts';
import { call } from '../support/clients/client.ts';
import { dashboardCases, type RouteCase, sampleBodies, sampleParameters } from '../support/data/route-cases.ts';
import { newMember, newPersonalToken } from '../support/fixtures/members.ts';
import { type Developer, newDeveloper, newProject, type TestProject } from '../support/fixtures/project.ts';

const ofDevelopers = dashboardCases.filter(({ route }) => route.access === 'developer');
const ofProjects = ofDevelopers.filter(({ parameters }) => parameters.includes('projectId'));

let project: TestProject;
let stranger: Developer;
let viewer: Developer;
let admin: Developer;
/** Maps each scope to a token of the owner that has every other scope. */
const without = new Map<string, string>();
let withAll: string;

beforeAll(async () => {
  project = await newProject([{ name: 'notes' }]);
  [stranger, viewer, admin] = await Promise.all([
    newDeveloper(),
    newMember(project, 'viewer'),
    newMember(project, 'admin'),
  ]);
  withAll = (await newPersonalToken(project.developer, scopes)).token;
  for (const scope of new Set(ofDevelopers.flatMap(({ route }) => scopesOf(route)))) {
    const others = scopes.filter((other) => other !== scope);
    without.set(scope, (await newPersonalToken(project.developer, others)).token);
  }
});

const ask = ({ id, method, pathWith }: RouteCase, token: string, projectId = project.id) => {
  const body = sampleBodies[id];
  const options = method === 'GET' || body === undefined ? {} : { body };
  return call(inject('stack').dashboardUrl, method, pathWith({ ...sampleParameters, projectId }), {
    token,
    ...options,
  });
};

describe('every route of the dashboard API', () => {
  test('below a project names a resource that token scopes cover', () => {
    for (const { id, route } of ofProjects) {
      expect(route.resource, id).toBeTypeOf('string');
      expect(scopesOf(route), id).not.toEqual([]);
      expect(scopes, id).toEqual(expect.arrayContaining([...scopesOf(route)]));
    }
  });

  test.each(ofProjects)("404 for another developer's project: $method $id", async (row) => {
    expect(await ask(row, stranger.token)).toMatchObject({ status: 404, body: { code: 'PROJECT_NOT_FOUND' } });
  });

  const refusedTo = (role: string) =>
    ofProjects.filter(({ route }) => {
      const needed = roleFor(route);
      return role === 'viewer' ? needed !== 'viewer' : needed === 'owner';
    });

  test.each(refusedTo('viewer'))('403 ROLE_REQUIRED for a viewer: $method $id', async (row) => {
    expect(await ask(row, viewer.token)).toMatchObject({ status: 403, body: { code: 'ROLE_REQUIRED' } });
  });

  test.each(refusedTo('admin'))('403 ROLE_REQUIRED for an admin: $method $id', async (row) => {
    expect(await ask(row, admin.token)).toMatchObject({ status: 403, body: { code: 'ROLE_REQUIRED' } });
  });

  test('that a viewer can call only changes their own membership or signs links', () => {
    const writes = ofProjects.filter(({ route }) => roleFor(route) === 'viewer' && !isRead(route));
    expect(writes.map(({ id }) => id)).toEqual(['delete-member', 'sign-project-links']);
  });

  test.each(ofDevelopers)('403 SCOPE_REQUIRED for a token without one of its scopes: $method $id', async (row) => {
    const needed = scopesOf(row.route);
    for (const scope of needed.length > 0 ? needed : [undefined]) {
      const answer = await ask(row, scope === undefined ? withAll : (without.get(scope) ?? ''));
      expect(answer).toMatchObject({ status: 403, body: { code: 'SCOPE_REQUIRED' } });
      if (scope !== undefined) expect(answer.body.message).toContain(scope);
    }
  });

  test.each(ofProjects)('404 for a token that is limited to another project: $method $id', async (row) => {
    const confined = await newPersonalToken(stranger, scopesOf(row.route), { projectIds: [project.id] });
    expect(await ask(row, confined.token)).toMatchObject({ status: 404, body: { code: 'PROJECT_NOT_FOUND' } });
    await stranger.dashboard('DELETE', `/api/auth/tokens/${confined._id}`);
    const elsewhere = await newPersonalToken(project.developer, scopesOf(row.route), {
      projectIds: ['f'.repeat(24)],
    });
    expect(await ask(row, elsewhere.token)).toMatchObject({ status: 404, body: { code: 'PROJECT_NOT_FOUND' } });
    await project.developer.dashboard('DELETE', `/api/auth/tokens/${elsewhere._id}`);
  });
});

test('project and members are unchanged after all these requests', async () => {
  const members = await project.developer.dashboard<{ data: { total: number } }>(
    'GET',
    `/api/projects/${project.id}/members`,
  );
  expect(members.body.data.total).toBe(3);
  const trail = await project.developer.dashboard<{ data: { items: { action: string }[] } }>(
    'GET',
    `/api/projects/${project.id}/audit`,
  );
  expect(new Set(trail.body.data.items.map(({ action }) => action))).toEqual(
    new Set(['create-collection', 'create-invitation', 'accept-invitation']),
  );
});
