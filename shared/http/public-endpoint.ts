import { errorEnvelope } from './middleware/error-envelope.ts';
import { input } from './middleware/input.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import { requestLog } from './middleware/request-log.ts';
import { singleHeaders } from './middleware/single-headers.ts';
import type { NamedRoute, Route } from './route.ts';
import { Stack } from './stack.ts';

export type Endpoint<Added> = Pick<Stack<Added>, 'handler'>;

export type Of<A extends Route['access']> = NamedRoute & { readonly access: A };

export const pathOf = (route: NamedRoute) => Stack.of(route).use(requestLog()).use(errorEnvelope());

export const publicEndpoint = <const R extends Of<'public'>>(route: R) =>
  pathOf(route).use(rateLimit(route)).use(singleHeaders()).use(input(route));
