import { runningEnvironment } from '../infra/local/environment-file.ts';
import { refuse } from './refuse.ts';

/**
 * Tells the database client which one an operator means: that of `MONGODB_URI`, or with `local` that of the stack that
 * runs here, whose address changes with every start. Throws where neither is there.
 */
export const chooseDatabase = async (local: boolean, usage: string): Promise<void> => {
  if (local) Object.assign(process.env, await runningEnvironment(process.env.BASALT_DIR || '.basalt'));
  else if (!process.env.MONGODB_URI && !process.env.MONGODB_SECRET_ARN) refuse(`MONGODB_URI is not set.\n${usage}`);
};
