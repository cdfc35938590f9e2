import { ensureControlIndexes } from '../../shared/control/control-indexes.ts';

/** Runs once a deployment, before anything is served: makes the indexes of the control database. */
export const handler = (): Promise<void> => ensureControlIndexes();
