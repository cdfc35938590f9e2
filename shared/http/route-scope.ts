import type { Resource, Scope } from '../accounts/developers/tokens/scopes.ts';
import { methodsOf, type Route } from './route.ts';

/**
 * Segments of a dashboard path below its project, and the resource they are; of several the last one counts. What a
 * path says beyond that (`indexes`, `sessions`) belongs to the resource before it.
 */
const resourceOfSegment: ReadonlyMap<string, Resource> = new Map<string, Resource>([
  ['audit', 'audit'],
  ['collections', 'collections'],
  ['database', 'database'],
  ['documents', 'documents'],
  ['exports', 'documents'],
  ['imports', 'documents'],
  ['keys', 'keys'],
  ['mail', 'mail'],
  ['members', 'members'],
  ['schema-assistant', 'schema-assistant'],
  ['signing-keys', 'keys'],
  ['storage', 'storage'],
  ['transfers', 'documents'],
  ['trash', 'documents'],
  ['usage', 'usage'],
  ['users', 'users'],
]);

const ofProject = '/api/projects/{projectId}';

/** What a dashboard route deals with; `undefined` for accounts and what else only a person may do who is signed in. */
export const resourceOf = (route: Route): Resource | undefined => {
  if (route.path === '/api/projects' || route.path === ofProject) return 'projects';
  if (!route.path.startsWith(`${ofProject}/`)) return undefined;
  return route.path
    .slice(ofProject.length)
    .split('/')
    .flatMap((segment) => resourceOfSegment.get(segment) ?? [])
    .at(-1);
};

const reads = (route: Route): boolean => methodsOf(route).every((method) => method === 'GET');

/** The scope that a personal access token needs for a dashboard route; `undefined` where none may call it. */
export const scopeOf = (route: Route): Scope | undefined => {
  if (route.path === '/api/auth/me') return 'account:read';
  const resource = resourceOf(route);
  return resource && `${resource}:${reads(route) ? 'read' : 'write'}`;
};
