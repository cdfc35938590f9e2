import type { Scope } from '../accounts/developers/tokens/scopes.ts';
import { methodsOf, type Route } from './route.ts';

/** The scope that a personal access token needs for a dashboard route; `undefined` where none may call it. */
export const scopeOf = (route: Route): Scope | undefined =>
  route.resource && `${route.resource}:${methodsOf(route).every((method) => method === 'GET') ? 'read' : 'write'}`;
