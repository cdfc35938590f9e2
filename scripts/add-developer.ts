import { addDeveloper } from '../shared/accounts/developers/developers.ts';
import { runOperatorCommand } from './operator-command.ts';

await runOperatorCommand({
  usage: `Usage: npm run add-developer -- <email> [--local]
Creates a developer account and prints its password.
  --local  uses the service that npm start runs on this machine; otherwise the database in MONGODB_URI`,
  parse: ([address, ...rest]) => {
    if (!address) return 'The email address is missing.';
    return rest.length === 0 ? { address } : 'Give one email address only.';
  },
  run: async ({ address }) => {
    const { email, password } = await addDeveloper(address);
    return `Created ${email}. The password is shown only once: ${password}`;
  },
});
