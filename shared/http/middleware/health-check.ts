import { checkHealth, type Health } from '../../insight/health/check-health.ts';
import type { Start } from './middleware-types.ts';

/** Added by the middleware below. */
export interface WithHealth {
  /** The check, already under way. */
  readonly health: Promise<Health>;
}

/** Starts the health check in parallel with the rate limit, which waits for one of the parts too. */
export const startHealthCheck = (): Start<WithHealth> => () => ({ health: checkHealth() });
