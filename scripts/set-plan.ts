import { parseArgs } from 'node:util';
import { closeMongo } from '../shared/clients/mongo.ts';
import { setPlan } from '../shared/developers/set-plan.ts';
import { chooseDatabase, refuse } from './choose-database.ts';

const usage = `Usage: npm run set-plan -- <email> <free|pro> [--local]
Puts a developer on a plan, in the database that MONGODB_URI names, or with --local in that of the stack that npm start runs.`;

const readCommand = () => {
  try {
    return parseArgs({ allowPositionals: true, options: { local: { type: 'boolean' } } });
  } catch (error) {
    return refuse(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
};

const { values, positionals } = readCommand();
const [email, plan, ...rest] = positionals;
if (!email || (plan !== 'free' && plan !== 'pro') || rest.length > 0) refuse(usage);
else {
  try {
    await chooseDatabase(values.local === true, usage);
    await setPlan(email, plan);
    console.log(`${email} is on the ${plan} plan now; projects follow within 5 seconds.`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  } finally {
    await closeMongo();
  }
}
