import { checkHealth, type Health } from '../../health/check-health.ts';
import type { Begin } from './adds.ts';

export interface WithHealth {
  /** The check, already under way. */
  health: Promise<Health>;
}

/** Begins the check, so that it runs side by side with the rate count, which waits for one of the parts too. */
export const healthAhead = (): Begin<WithHealth> => (_event, context) => {
  context.health = checkHealth();
};
