import { type Of, pathOf, requestLog } from './endpoint.ts';
import { allowedOrigin, apiKey, linkKey, startProjectLookup } from './middleware/api-key.ts';
import { collection, notifyWebhooks, usersBlock } from './middleware/collection.ts';
import { errorEnvelope } from './middleware/error-envelope.ts';
import { checkedKey, once, storedResponses } from './middleware/idempotency.ts';
import { input, singleHeaders } from './middleware/input.ts';
import { rateLimitBeside } from './middleware/rate-limit.ts';
import { batchCaller, fileCaller, userToken } from './middleware/user-token.ts';
import type { NamedRoute, Route } from './route.ts';
import { Stack } from './stack.ts';

export type Repeatable<R> = R & Required<Pick<Route, 'repeats'>>;
type ProjectAccess = 'anyKey' | 'publishableKey' | 'secretKey' | 'user';

const keyKindOf = (route: NamedRoute & { readonly access: ProjectAccess }) =>
  (({ anyKey: undefined, publishableKey: 'publishable', secretKey: 'secret', user: 'publishable' }) as const)[
    route.access
  ];

/** Stores the response for repeats with the same `Idempotency-Key`. */
export const keptPathOf = (route: NamedRoute) =>
  Stack.of(route).use(requestLog(route)).use(storedResponses(route)).use(errorEnvelope());

/**
 * Checks key and origin. The project look-up runs in parallel with the rate limit; with `beside`, so does the whole
 * read.
 */
export const keyed = (route: NamedRoute & { readonly access: ProjectAccess }, reads?: 'beside', path = pathOf(route)) =>
  path
    .use(rateLimitBeside(route, startProjectLookup(), reads === 'beside'))
    .use(singleHeaders())
    .use(apiKey(keyKindOf(route)))
    .use(allowedOrigin());

export const projectEndpoint = <const R extends Of<ProjectAccess>>(route: R) => keyed(route).use(input(route));

/** Reads files. Those of documents may need no user. */
export const fileReadEndpoint = <const R extends Of<ProjectAccess>>(route: R) =>
  keyed(route)
    .use(fileCaller({ anyone: true }))
    .use(input(route));

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

/** Writes documents of several collections. Runs once per `Idempotency-Key`. */
export const batchEndpoint = <const R extends Repeatable<Of<ProjectAccess>>>(route: R) =>
  keyed(route, undefined, keptPathOf(route)).use(batchCaller()).use(once(route)).use(input(route));
