import { randomUUID } from 'node:crypto';
import middy from '@middy/core';
import type { Context } from 'aws-lambda';
import { audited } from '../audit/audited.ts';
import { AppError } from '../errors.ts';
import { currentRequest } from '../log.ts';
import { changeOf, isAudited } from './audit-trail.ts';
import { allowedOrigin } from './middleware/allowed-origin.ts';
import { apiKey, type Keyed } from './middleware/api-key.ts';
import { collection, usersBlock, type WithCollection } from './middleware/collection.ts';
import {
  developerToken,
  ownedProject,
  signedInDeveloper,
  type WithDeveloper,
  type WithOwnedProject,
  type WithSignedIn,
} from './middleware/developer.ts';
import { errorEnvelope } from './middleware/error-envelope.ts';
import { startHealthCheck, type WithHealth } from './middleware/health-check.ts';
import { type Input, input } from './middleware/input.ts';
import type { Event } from './middleware/middleware-types.ts';
import { ownedCollection } from './middleware/owned-collection.ts';
import { linkKey, startProjectLookup } from './middleware/project-lookup.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import { requestLog } from './middleware/request-log.ts';
import { signedWebhook, type WithDelivery } from './middleware/signed-webhook.ts';
import { unknownRoute } from './middleware/unknown-route.ts';
import { signedInUser, userToken, type WithBearer, type WithCaller } from './middleware/user-token.ts';
import { enabledUsers, type WithUsers } from './middleware/users.ts';
import type { Reply } from './reply.ts';
import type { NamedRoute, Route } from './route.ts';

/** A Lambda handler as API Gateway invokes it. */
export type LambdaHandler = (event: Event, context: Context) => Promise<Reply>;

/** What an endpoint builder gives: `handler` closes the stack with the endpoint's own function. */
export interface Endpoint<Added> {
  readonly handler: (act: (event: Event, context: Context & Added) => Promise<Reply>) => LambdaHandler;
}

const outOfTime = (): never => {
  throw new AppError('SERVICE_UNAVAILABLE', 'This took too long. Please try again.', { retryAfter: 5 });
};

type AnyMiddleware = middy.MiddlewareObj;

/** Builds the handler; one second before the Lambda timeout it still responds, with an error in the envelope. */
const build = <Added>(route: NamedRoute, ...stack: readonly unknown[]): Endpoint<Added> => ({
  handler: (act) => {
    const run = middy({ timeoutEarlyInMillis: 1000, timeoutEarlyResponse: outOfTime })
      .use([requestLog(), errorEnvelope(), ...stack] as AnyMiddleware[])
      .handler(act as never) as unknown as LambdaHandler;
    return (event, context) =>
      currentRequest.run(
        {
          requestId: event.requestContext.requestId || randomUUID(),
          route: route.id,
          startedAt: performance.now(),
          databaseMs: 0,
        },
        () => run(event, context),
      );
  },
});

type Of<A extends Route['access']> = NamedRoute & { readonly access: A };
type ProjectAccess = 'anyKey' | 'publishableKey' | 'secretKey' | 'user';

const keyKindOf = (route: NamedRoute & { readonly access: ProjectAccess }) =>
  (({ anyKey: undefined, publishableKey: 'publishable', secretKey: 'secret', user: 'publishable' }) as const)[
    route.access
  ];

/** API key and origin; the project look-up runs in parallel with the rate limit. */
const keyed = (route: NamedRoute & { readonly access: ProjectAccess }) => [
  rateLimit(route, startProjectLookup()),
  apiKey(keyKindOf(route)),
  allowedOrigin(),
];

const identified = (route: NamedRoute) => [rateLimit(route), developerToken(route)];

/** A route that needs no key. */
export const publicEndpoint = <const R extends Of<'public'>>(route: R): Endpoint<{ input: Input<R> }> =>
  build(route, rateLimit(route), input(route));

/** The health check, public because monitors have no key. */
export const healthEndpoint = <const R extends Of<'public'>>(route: R): Endpoint<WithHealth> =>
  build(route, rateLimit(route, startHealthCheck()));

/** What the mail provider calls: its signature over the bytes of the body stands for a key. */
export const webhookEndpoint = <const R extends Of<'public'>>(route: R): Endpoint<WithDelivery> =>
  build(route, signedWebhook(route));

/** A route of one project, opened by its API key. */
export const projectEndpoint = <const R extends Of<ProjectAccess>>(route: R): Endpoint<Keyed & { input: Input<R> }> =>
  build(route, ...keyed(route), input(route));

/**
 * A page of one project that browsers are sent to: the key may stand in the address, and no origin is asked for, as a
 * navigation sends none.
 */
export const navigationEndpoint = <const R extends Of<ProjectAccess>>(
  route: R,
): Endpoint<Keyed & { input: Input<R> }> =>
  build(route, rateLimit(route, startProjectLookup(linkKey)), apiKey(keyKindOf(route)), input(route));

/** A route of one collection of a project: its row security decided, its caller known. */
export const dataEndpoint = <
  const R extends Of<ProjectAccess> & { readonly path: `${string}{collectionName}${string}` },
>(
  route: R,
): Endpoint<Keyed & WithCollection & WithCaller & { input: Input<R> }> =>
  build(route, ...keyed(route), usersBlock(), collection(), userToken(route.writes === true), input(route));

/** A route of user accounts that needs nobody to be signed in. */
export const usersEndpoint = <const R extends Of<'publishableKey'>>(
  route: R,
): Endpoint<Keyed & WithUsers & { input: Input<R> }> => build(route, ...keyed(route), enabledUsers(), input(route));

/** A route of the end user who is signed in. */
export const userEndpoint = <const R extends Of<'user'>>(
  route: R,
): Endpoint<Keyed & WithUsers & WithBearer & { input: Input<R> }> =>
  build(route, ...keyed(route), enabledUsers(), signedInUser(), input(route));

/** A dashboard route of the developer who calls, signed in or by a personal access token with the row's scope. */
export const developerEndpoint = <const R extends Of<'developer'>>(
  route: R,
): Endpoint<WithDeveloper & { input: Input<R> }> => build(route, ...identified(route), input(route));

/** A dashboard route of the developer's own account: personal access tokens are refused. */
export const accountEndpoint = <const R extends Of<'developer'>>(
  route: R,
): Endpoint<WithSignedIn & { input: Input<R> }> =>
  build(route, rateLimit(route), signedInDeveloper(route), input(route));

type OwnedContext<R extends Route> = WithDeveloper & WithOwnedProject & { input: Input<R> };

/**
 * A dashboard route below `/api/projects/{projectId}`: the developer has the row's role in the project, a stranger gets
 * 404. What it changes is entered in the audit trail (contract 6).
 */
export const ownedProjectEndpoint = <
  const R extends Of<'developer'> & { readonly path: `${string}{projectId}${string}` },
>(
  route: R,
): Endpoint<OwnedContext<R>> => {
  const endpoint = build<OwnedContext<R>>(route, ...identified(route), ownedProject(route), input(route));
  if (!isAudited(route)) return endpoint;
  return {
    handler: (act) =>
      endpoint.handler((event, context) => audited(changeOf(route, context), () => act(event, context))),
  };
};

/**
 * A dashboard route of the documents of one collection, never of `users` (403). What happens to documents is no change
 * of settings, so the audit trail does not have it.
 */
export const ownedCollectionEndpoint = <
  const R extends Of<'developer'> & { readonly path: `${string}{projectId}${string}{collectionName}${string}` },
>(
  route: R,
): Endpoint<OwnedContext<R> & WithCollection> =>
  build(route, ...identified(route), ownedProject(route), usersBlock(), ownedCollection(), input(route));

/** `$default`: whatever no row of the table matches. */
export const unknownRouteEndpoint = (route: NamedRoute): LambdaHandler =>
  build(route, rateLimit(route), unknownRoute()).handler(() => outOfTime());
