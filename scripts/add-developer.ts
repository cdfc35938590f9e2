import { parseArgs } from 'node:util';
import { closeMongo } from '../shared/clients/mongo.ts';
import { addDeveloper } from '../shared/developers/add-developer.ts';
import { chooseDatabase, refuse } from './choose-database.ts';

const usage = `Usage: npm run add-developer -- <email> [--local]
Makes a developer account and prints its password, in the database that MONGODB_URI names, or with --local in that of the stack that npm start runs.`;

const readCommand = () => {
  try {
    return parseArgs({ allowPositionals: true, options: { local: { type: 'boolean' } } });
  } catch (error) {
    return refuse(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
};

const { values, positionals } = readCommand();
const [address, ...rest] = positionals;
if (!address || rest.length > 0) refuse(usage);
else {
  try {
    await chooseDatabase(values.local === true, usage);
    const { email, password } = await addDeveloper(address);
    console.log(`${email} has an account now, with this password, which is shown this once: ${password}`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  } finally {
    await closeMongo();
  }
}
