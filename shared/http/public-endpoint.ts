import { errorEnvelope } from './middleware/error-envelope.ts';
import { input } from './middleware/input.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import { requestLog } from './middleware/request-log.ts';
import { singleHeaders } from './middleware/single-headers.ts';
import type { NamedRoute, Route } from './route.ts';
import { Stack } from './stack.ts';

/** What a builder of endpoints gives: `handler` closes the stack with the endpoint's own function. */
export type Endpoint<Added> = Pick<Stack<Added>, 'handler'>;

/** A row with this way in. */
export type Of<A extends Route['access']> = NamedRoute & { readonly access: A };

/** What every path begins with. */
export const pathOf = (route: NamedRoute) => Stack.of(route).use(requestLog()).use(errorEnvelope());

/** A route that needs no key. */
export const publicEndpoint = <const R extends Of<'public'>>(route: R) =>
  pathOf(route).use(rateLimit(route)).use(singleHeaders()).use(input(route));
