import { closeMongo } from '../shared/clients/mongo.ts';
import { setPlan } from '../shared/developers/set-plan.ts';

const usage = `Usage: npm run set-plan -- <email> <free|pro>
Puts a developer on a plan, in the database that MONGODB_URI (or MONGODB_SECRET_ARN) names.`;

const [email, plan] = process.argv.slice(2);

if (!email || (plan !== 'free' && plan !== 'pro')) {
  console.error(usage);
  process.exitCode = 2;
} else {
  try {
    await setPlan(email, plan);
    console.log(`${email} is on the ${plan} plan now; projects follow within 5 seconds.`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  } finally {
    await closeMongo();
  }
}
