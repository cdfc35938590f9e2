import { findProjectByKey } from '../collections/find-project-by-key.ts';
import { isUsersName } from '../collections/names.ts';
import { AppError } from '../core/errors.ts';
import { cutText } from '../core/text.ts';
import { pathOf } from './endpoint.ts';
import { requireAllowedOrigin, requireKey } from './middleware/api-key.ts';
import { usersReserved } from './middleware/collection.ts';
import { rateLimit } from './middleware/rate-limit.ts';
import type { NamedRoute } from './route.ts';
import type { Event, LambdaHandler } from './stack.ts';

const dataPrefix = '/api/data/';

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
};

const isReserved = (event: Event): boolean => {
  const path = decoded(event.rawPath);
  return path.startsWith(dataPrefix) && isUsersName(path.slice(dataPrefix.length));
};

/** Throws 404. Below `/api/data/users`, which is blocked at any depth, throws 403 after checking key and origin. */
const notFound = async (event: Event): Promise<never> => {
  if (isReserved(event)) {
    const key = event.headers['x-api-key'];
    requireAllowedOrigin(event, requireKey(key, key === undefined ? undefined : await findProjectByKey(key, '')));
    throw usersReserved();
  }
  throw new AppError('NOT_FOUND', `There is no ${event.requestContext.http.method} ${cutText(event.rawPath, 100)}.`);
};

/** API Gateway's `$default` route. */
export const unknownRouteEndpoint = (route: NamedRoute): LambdaHandler =>
  pathOf(route).use(rateLimit(route)).handler(notFound);
