import { closeMongo } from '../../clients/mongo.ts';
import { forgetSecrets } from '../../clients/secrets.ts';
import { ensureControlIndexes } from './control-indexes.ts';

/**
 * Makes the indexes of the control database with the URI as it is now: a process that is still there from a deployment
 * that failed has the one that it failed with.
 */
export const prepareControl = async (): Promise<void> => {
  await closeMongo();
  forgetSecrets();
  await ensureControlIndexes();
};
