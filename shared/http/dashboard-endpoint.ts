import { isPlainObject } from '../core/json.ts';
import { cutText } from '../core/text.ts';
import { type AuditedChange, audited, type ChangedValue } from '../members/audit.ts';
import { type OwnedProject, roleIn } from '../projects/find-project.ts';
import { type Endpoint, type Of, pathOf } from './endpoint.ts';
import { notifyWebhooks, ownedCollection, usersBlock } from './middleware/collection.ts';
import {
  developerToken,
  ownedProject,
  signedInDeveloper,
  type WithDeveloper,
  type WithOwnedProject,
} from './middleware/developer.ts';
import { input, singleHeaders, type WithInput } from './middleware/input.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import { isRead, type NamedRoute, type Route } from './route.ts';

/**
 * Settings whose old and new values are recorded, because every member can see them. Of all others only the names are.
 */
const shownSettings: ReadonlySet<string> = new Set([
  'name',
  'siteUrl',
  'allowedDomains',
  'allowPublicSignup',
  'authEnabled',
  'strictSessions',
  'signIn',
  'uploads',
  'directory',
  'providerFromEmail',
]);

const maxFields = 100;
const maxNameLength = 200;
const maxDepth = 3;

/** Dotted names of the fields of a body, at most `maxDepth` levels deep. An array counts as one field. */
const namesIn = (value: unknown, depth = 1): string[] =>
  isPlainObject(value)
    ? Object.entries(value).flatMap(([key, item]) => {
        const below = depth < maxDepth ? namesIn(item, depth + 1) : [];
        return below.length === 0 ? [key] : below.map((name) => `${key}.${name}`);
      })
    : [];

/** True for changes below a project, except changes of documents. */
export const isAudited = (route: Route): boolean =>
  route.path.startsWith('/api/projects/{projectId}') &&
  route.audit !== false &&
  route.resource !== 'documents' &&
  !isRead(route);

/** A partial update of a setting is recorded per part, because omitted parts keep their values. */
const settingChanges = ({ record, project }: OwnedProject, field: string, after: unknown): ChangedValue[] => {
  const { signIn, uploads } = project;
  const before: unknown = { ...record, signIn, uploads }[field as keyof typeof record] ?? null;
  if (!isPlainObject(before) || !isPlainObject(after)) return [{ field, before, after }];
  return Object.entries(after).map(([part, value]) => ({
    field: `${field}.${part}`,
    before: before[part] ?? null,
    after: value,
  }));
};

const valuesOf = (
  { resource }: Route,
  owned: OwnedProject,
  target: Readonly<Record<string, string>>,
  body: unknown,
) => {
  if (!isPlainObject(body)) return [];
  return Object.entries(body).flatMap(([field, after]): ChangedValue[] => {
    if (resource === 'projects' && shownSettings.has(field)) return settingChanges(owned, field, after);
    // The body names the kind of key and the grace period, never a key.
    if (resource === 'keys') return [{ field, before: null, after }];
    if (resource === 'collections' && field === 'name' && target.collectionName === undefined) {
      return [{ field, before: null, after }];
    }
    if (resource !== 'members' || field !== 'role') return [];
    return [{ field, before: roleIn(owned.record, target.developerId ?? '') ?? null, after }];
  });
};

interface Acted extends WithDeveloper, WithOwnedProject {
  readonly input: { readonly params: unknown; readonly body?: unknown };
}

/** Returns the audit entry of a request, with the values of `shownSettings` only. */
const changeOf = (route: NamedRoute, { developer, owned, input }: Acted): AuditedChange => {
  const { projectId: _projectId, ...parameters } = input.params as Readonly<Record<string, string>>;
  const target = Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, cutText(value, maxNameLength)]),
  );
  return {
    projectId: owned.project.id,
    developerId: developer.developerId,
    tokenId: developer.personalToken?.tokenId ?? null,
    action: route.id,
    target,
    fields: namesIn(input.body)
      .slice(0, maxFields)
      .map((name) => cutText(name, maxNameLength)),
    values: valuesOf(route, owned, target, input.body),
  };
};

const identified = (route: NamedRoute) =>
  pathOf(route).use(rateLimit(route)).use(singleHeaders()).use(developerToken(route));

/** Accepts sessions, and personal access tokens with the route's scope. */
export const developerEndpoint = <const R extends Of<'developer'>>(route: R) => identified(route).use(input(route));

/** The developer's own account; personal access tokens are rejected. */
export const accountEndpoint = <const R extends Of<'developer'>>(route: R) =>
  pathOf(route).use(rateLimit(route)).use(singleHeaders()).use(signedInDeveloper(route)).use(input(route));

/**
 * Needs the route's role in the project; 404 for developers who are not members. Changes are recorded in the audit
 * trail.
 */
export const ownedProjectEndpoint = <
  const R extends Of<'developer'> & { readonly path: `${string}{projectId}${string}` },
>(
  route: R,
): Endpoint<WithDeveloper & WithOwnedProject & WithInput<R>> => {
  const endpoint = identified(route).use(ownedProject(route)).use(input(route));
  if (!isAudited(route)) return endpoint;
  return {
    handler: (act) =>
      endpoint.handler((event, context) => audited(changeOf(route, context), () => act(event, context))),
  };
};

type OfOwnedCollection = Of<'developer'> & {
  readonly path: `${string}{projectId}${string}{collectionName}${string}`;
};

/** Documents of one collection, except `users` (403). Not in the audit trail. */
export const ownedCollectionEndpoint = <const R extends OfOwnedCollection>(route: R) =>
  identified(route).use(ownedProject(route)).use(usersBlock()).use(ownedCollection(route)).use(input(route));

export const ownedDocumentsEndpoint = <const R extends OfOwnedCollection>(route: R) =>
  ownedCollectionEndpoint(route).use(notifyWebhooks());
