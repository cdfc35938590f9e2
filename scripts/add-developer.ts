import { addDeveloper } from '../shared/accounts/developers/developers.ts';
import { runOperatorCommand } from './operator-command.ts';

await runOperatorCommand({
  usage: `Usage: npm run add-developer -- <email> [--local]
Makes a developer account and prints its password, in the database that MONGODB_URI names, or with --local in that of the stack that npm start runs.`,
  read: ([address, ...rest]) => (address && rest.length === 0 ? address : undefined),
  run: async (address) => {
    const { email, password } = await addDeveloper(address);
    return `${email} has an account now, with this password, which is shown this once: ${password}`;
  },
});
