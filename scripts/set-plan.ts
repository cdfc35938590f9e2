import { setPlan } from '../shared/accounts/developers/developers.ts';
import type { PlanName } from '../shared/projects/project.ts';
import { runOperatorCommand } from './operator-command.ts';

await runOperatorCommand<{ readonly email: string; readonly plan: PlanName }>({
  usage: `Usage: npm run set-plan -- <email> <free|pro> [--local]
Changes the plan of a developer.
  --local  uses the service that npm start runs on this machine; otherwise the database in MONGODB_URI`,
  parse: ([email, plan, ...rest]) => {
    if (!email) return 'The email address is missing.';
    if (plan !== 'free' && plan !== 'pro') return `The plan must be free or pro${plan ? `, not ${plan}` : ''}.`;
    return rest.length === 0 ? { email, plan } : 'Give one email address and one plan only.';
  },
  run: async ({ email, plan }) => {
    await setPlan(email, plan);
    return `${email} is now on the ${plan} plan. Its projects follow within 5 seconds.`;
  },
});
