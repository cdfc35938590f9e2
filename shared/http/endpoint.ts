import { audited } from '../members/audit.ts';
import { checkHealth } from '../usage/health.ts';
import { changeOf, isAudited } from './audit-trail.ts';
import { allowedOrigin, apiKey, linkKey, startProjectLookup } from './middleware/api-key.ts';
import { collection, notifyWebhooks, ownedCollection, usersBlock } from './middleware/collection.ts';
import {
  developerToken,
  ownedProject,
  signedInDeveloper,
  type WithDeveloper,
  type WithOwnedProject,
} from './middleware/developer.ts';
import { errorEnvelope } from './middleware/error-envelope.ts';
import { checkedKey, once, storedResponses } from './middleware/idempotency.ts';
import { input, type WithInput } from './middleware/input.ts';
import { rateLimit, rateLimitBeside } from './middleware/rate-limit.ts';
import { requestLog } from './middleware/request-log.ts';
import { byProjectAccount, bySharedAccount, signedWebhook } from './middleware/signed-webhook.ts';
import { singleHeaders } from './middleware/single-headers.ts';
import { enabledUsers, fileCaller, signedInUser, userToken } from './middleware/user-token.ts';
import { notFound } from './not-found.ts';
import { type Endpoint, type Of, pathOf } from './public-endpoint.ts';
import type { NamedRoute, Route } from './route.ts';
import { type LambdaHandler, Stack } from './stack.ts';

/** A row that says what becomes of its repeats. */
type Repeatable<R> = R & Required<Pick<Route, 'repeats'>>;
type ProjectAccess = 'anyKey' | 'publishableKey' | 'secretKey' | 'user';

const keyKindOf = (route: NamedRoute & { readonly access: ProjectAccess }) =>
  (({ anyKey: undefined, publishableKey: 'publishable', secretKey: 'secret', user: 'publishable' }) as const)[
    route.access
  ];

/** The same, of a row whose answers are kept for repeats. */
const keptPathOf = (route: NamedRoute) => Stack.of(route).use(requestLog()).use(storedResponses()).use(errorEnvelope());

/** API key and origin; the project look-up runs in parallel with the rate limit, and a read `beside` it as a whole. */
const keyed = (route: NamedRoute & { readonly access: ProjectAccess }, reads?: 'beside', path = pathOf(route)) =>
  path
    .use(rateLimitBeside(route, startProjectLookup(), reads === 'beside'))
    .use(singleHeaders())
    .use(apiKey(keyKindOf(route)))
    .use(allowedOrigin());

const identified = (route: NamedRoute) =>
  pathOf(route).use(rateLimit(route)).use(singleHeaders()).use(developerToken(route));

/** The health check, public because monitors have no key; it runs in parallel with the rate limit, which waits too. */
export const healthEndpoint = <const R extends Of<'public'>>(route: R) =>
  pathOf(route).use(rateLimitBeside(route, () => ({ health: checkHealth() })));

/** What the mail provider calls: its signature over the bytes of the body replaces a key. */
export const webhookEndpoint = <const R extends Of<'public'>>(route: R) =>
  pathOf(route).use(signedWebhook(route, bySharedAccount));

/** The same for deliveries of a project's own account. */
export const projectWebhookEndpoint = <const R extends Of<'public'>>(route: R) =>
  pathOf(route).use(signedWebhook(route, byProjectAccount));

/** A route of one project, opened by its API key. */
export const projectEndpoint = <const R extends Of<ProjectAccess>>(route: R) => keyed(route).use(input(route));

/** A route of the files of a project, its caller known. */
export const filesEndpoint = <const R extends Of<ProjectAccess>>(route: R) =>
  keyed(route).use(fileCaller()).use(input(route));

/** The same, of a route that puts files there or takes them away, which users do where the project lets them. */
export const uploadEndpoint = <const R extends Of<ProjectAccess>>(route: R) =>
  keyed(route)
    .use(fileCaller({ uploads: true }))
    .use(input(route));

/** The same as `projectEndpoint`, of a route that is carried out once for an `Idempotency-Key`. */
export const projectWriteEndpoint = <const R extends Repeatable<Of<ProjectAccess>>>(route: R) =>
  keyed(route, undefined, keptPathOf(route)).use(once(route)).use(input(route));

/** A page that browsers are sent to: the key may stand in the address; no origin, as a navigation sends none. */
export const navigationEndpoint = <const R extends Of<ProjectAccess>>(route: R) =>
  pathOf(route)
    .use(rateLimitBeside(route, startProjectLookup(linkKey)))
    .use(singleHeaders())
    .use(apiKey(keyKindOf(route)))
    .use(input(route));

type OfCollection = Of<ProjectAccess> & { readonly path: `${string}{collectionName}${string}` };

const ofCollection = (route: OfCollection, path: ReturnType<typeof pathOf>, reads: 'beside' | undefined = 'beside') =>
  keyed(route, reads, path)
    .use(usersBlock())
    .use(collection())
    .use(userToken(route.writes === true));

/** A route of one collection of a project: its row security decided, its caller known. */
export const dataEndpoint = <const R extends OfCollection>(route: R) =>
  ofCollection(route, pathOf(route)).use(checkedKey(route)).use(input(route));

/** The same, of a read that may wait, which one that is over its limit does not. */
export const waitingDataEndpoint = <const R extends OfCollection>(route: R) =>
  ofCollection(route, pathOf(route), undefined).use(input(route));

/** The same, of a route that is carried out once for an `Idempotency-Key`. */
export const dataWriteEndpoint = <const R extends Repeatable<OfCollection>>(route: R) =>
  ofCollection(route, keptPathOf(route)).use(once(route)).use(input(route)).use(notifyWebhooks());

/** A route of user accounts that needs nobody to be signed in. */
export const usersEndpoint = <const R extends Of<'publishableKey'>>(route: R) =>
  keyed(route).use(enabledUsers(route)).use(input(route));

/** A route of the end user who is signed in. */
export const userEndpoint = <const R extends Of<'user'>>(route: R) =>
  keyed(route, 'beside').use(enabledUsers(route)).use(signedInUser()).use(input(route));

/** A dashboard route of the developer who calls, signed in or by a personal access token with the row's scope. */
export const developerEndpoint = <const R extends Of<'developer'>>(route: R) => identified(route).use(input(route));

/** A dashboard route of the developer's own account: personal access tokens are refused. */
export const accountEndpoint = <const R extends Of<'developer'>>(route: R) =>
  pathOf(route).use(rateLimit(route)).use(singleHeaders()).use(signedInDeveloper(route)).use(input(route));

/**
 * A dashboard route below `/api/projects/{projectId}`: the developer has the row's role in the project, a stranger gets
 * 404. What it changes is entered in the audit trail (contract 6).
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

/** A dashboard route of the documents of one collection, never of `users` (403); not in the audit trail. */
export const ownedCollectionEndpoint = <const R extends OfOwnedCollection>(route: R) =>
  identified(route).use(ownedProject(route)).use(usersBlock()).use(ownedCollection(route)).use(input(route));

/** The same, of a route that changes documents. */
export const ownedDocumentsEndpoint = <const R extends OfOwnedCollection>(route: R) =>
  ownedCollectionEndpoint(route).use(notifyWebhooks());

/** `$default`: whatever no row of the table matches. */
export const unknownRouteEndpoint = (route: NamedRoute): LambdaHandler =>
  pathOf(route).use(rateLimit(route)).handler(notFound);
