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

type Repeatable<R> = R & Required<Pick<Route, 'repeats'>>;
type ProjectAccess = 'anyKey' | 'publishableKey' | 'secretKey' | 'user';

const keyKindOf = (route: NamedRoute & { readonly access: ProjectAccess }) =>
  (({ anyKey: undefined, publishableKey: 'publishable', secretKey: 'secret', user: 'publishable' }) as const)[
    route.access
  ];

/** Stores the response for repeats with the same `Idempotency-Key`. */
const keptPathOf = (route: NamedRoute) =>
  Stack.of(route).use(requestLog()).use(storedResponses(route)).use(errorEnvelope());

/**
 * Checks key and origin. The project look-up runs in parallel with the rate limit; with `beside`, so does the whole
 * read.
 */
const keyed = (route: NamedRoute & { readonly access: ProjectAccess }, reads?: 'beside', path = pathOf(route)) =>
  path
    .use(rateLimitBeside(route, startProjectLookup(), reads === 'beside'))
    .use(singleHeaders())
    .use(apiKey(keyKindOf(route)))
    .use(allowedOrigin());

const identified = (route: NamedRoute) =>
  pathOf(route).use(rateLimit(route)).use(singleHeaders()).use(developerToken(route));

/** Public because monitors have no key. The check runs in parallel with the rate limit. */
export const healthEndpoint = <const R extends Of<'public'>>(route: R) =>
  pathOf(route).use(rateLimitBeside(route, () => ({ health: checkHealth() })));

/** Called by the mail provider. Its signature over the raw body replaces a key. */
export const webhookEndpoint = <const R extends Of<'public'>>(route: R) =>
  pathOf(route).use(signedWebhook(route, bySharedAccount));

/** Called by the mail provider for a project's own account. */
export const projectWebhookEndpoint = <const R extends Of<'public'>>(route: R) =>
  pathOf(route).use(signedWebhook(route, byProjectAccount));

export const projectEndpoint = <const R extends Of<ProjectAccess>>(route: R) => keyed(route).use(input(route));

export const filesEndpoint = <const R extends Of<ProjectAccess>>(route: R) =>
  keyed(route).use(fileCaller()).use(input(route));

/** Creates or deletes files; users can only do that if the project allows it. */
export const uploadEndpoint = <const R extends Of<ProjectAccess>>(route: R) =>
  keyed(route)
    .use(fileCaller({ uploads: true }))
    .use(input(route));

/** A step of an upload; runs once per `Idempotency-Key`. */
export const uploadWriteEndpoint = <const R extends Repeatable<Of<ProjectAccess>>>(route: R) =>
  keyed(route, undefined, keptPathOf(route))
    .use(fileCaller({ uploads: true }))
    .use(once(route))
    .use(input(route));

/** Runs once per `Idempotency-Key`. */
export const projectWriteEndpoint = <const R extends Repeatable<Of<ProjectAccess>>>(route: R) =>
  keyed(route, undefined, keptPathOf(route)).use(once(route)).use(input(route));

/** Browsers navigate to it, so the key may be in the query and there is no `Origin`. */
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

/** Checks row security before the handler runs. */
export const dataEndpoint = <const R extends OfCollection>(route: R) =>
  ofCollection(route, pathOf(route)).use(checkedKey(route)).use(input(route));

/** Long polling: a caller over its rate limit is rejected before it waits. */
export const waitingDataEndpoint = <const R extends OfCollection>(route: R) =>
  ofCollection(route, pathOf(route), undefined).use(input(route));

/** Runs once per `Idempotency-Key`. */
export const dataWriteEndpoint = <const R extends Repeatable<OfCollection>>(route: R) =>
  ofCollection(route, keptPathOf(route)).use(once(route)).use(input(route)).use(notifyWebhooks());

/** User accounts; no session needed. */
export const usersEndpoint = <const R extends Of<'publishableKey'>>(route: R) =>
  keyed(route).use(enabledUsers(route)).use(input(route));

/** Opens a user's account; runs once per `Idempotency-Key`. */
export const signUpEndpoint = <const R extends Repeatable<Of<'publishableKey'>>>(route: R) =>
  keyed(route, undefined, keptPathOf(route)).use(enabledUsers(route)).use(once(route)).use(input(route));

/** User accounts; needs a signed-in user. */
export const userEndpoint = <const R extends Of<'user'>>(route: R) =>
  keyed(route, 'beside').use(enabledUsers(route)).use(signedInUser()).use(input(route));

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

/** API Gateway's `$default` route. */
export const unknownRouteEndpoint = (route: NamedRoute): LambdaHandler =>
  pathOf(route).use(rateLimit(route)).handler(notFound);
