import { parseArgs } from 'node:util';
import { runningEnvironment } from '../infra/local/environment-file.ts';
import { closeMongo } from '../shared/clients/mongo.ts';
import { setPlan } from '../shared/developers/set-plan.ts';

const usage = `Usage: npm run set-plan -- <email> <free|pro> [--local]
Puts a developer on a plan, in the database that MONGODB_URI names, or with --local in that of the stack that npm start runs.`;

const refuse = (message: string): never => {
  console.error(message);
  process.exit(2);
};

const readCommand = () => {
  try {
    return parseArgs({ allowPositionals: true, options: { local: { type: 'boolean' } } });
  } catch (error) {
    return refuse(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
};

/** Tells the client which database it is; the local engine's address changes with every start. */
const chooseDatabase = async (local: boolean): Promise<void> => {
  if (local) Object.assign(process.env, await runningEnvironment(process.env.BASALT_DIR || '.basalt'));
  else if (!process.env.MONGODB_URI && !process.env.MONGODB_SECRET_ARN) refuse(`MONGODB_URI is not set.\n${usage}`);
};

const { values, positionals } = readCommand();
const [email, plan, ...rest] = positionals;
if (!email || (plan !== 'free' && plan !== 'pro') || rest.length > 0) refuse(usage);
else {
  try {
    await chooseDatabase(values.local === true);
    await setPlan(email, plan);
    console.log(`${email} is on the ${plan} plan now; projects follow within 5 seconds.`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  } finally {
    await closeMongo();
  }
}
