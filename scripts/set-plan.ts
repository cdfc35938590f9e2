import { setPlan } from '../shared/accounts/developers/developers.ts';
import type { PlanName } from '../shared/projects/project.ts';
import { runOperatorCommand } from './operator-command.ts';

await runOperatorCommand<{ readonly email: string; readonly plan: PlanName }>({
  usage: `Usage: npm run set-plan -- <email> <free|pro> [--local]
Puts a developer on a plan, in the database that MONGODB_URI names, or with --local in that of the stack that npm start runs.`,
  read: ([email, plan, ...rest]) =>
    email && (plan === 'free' || plan === 'pro') && rest.length === 0 ? { email, plan } : undefined,
  run: async ({ email, plan }) => {
    await setPlan(email, plan);
    return `${email} is on the ${plan} plan now; projects follow within 5 seconds.`;
  },
});
