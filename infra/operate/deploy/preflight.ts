import { DeployProblem } from '../../settings/deploy-problem.ts';
import type { DeploymentSettings } from '../../settings/settings.ts';
import { askAws } from '../doctor/ask-aws.ts';
import type { Target } from '../doctor/check.ts';
import { quotaOf } from '../doctor/concurrency.ts';
import { rolledBackProblem } from './failed-stacks.ts';

type Aws = Target['aws'];

/** What `cdk bootstrap` leaves, once an account and region; every stack of the CDK asks for it. */
const bootstrapParameter = '/cdk-bootstrap/hnb659fds/version';

const isBootstrapped = async (aws: Aws): Promise<boolean> => {
  const wanted = { contentType: 'application/x-amz-json-1.1', target: 'AmazonSSM.GetParameter' };
  const body = JSON.stringify({ Name: bootstrapParameter });
  try {
    await askAws({ aws }, { service: 'ssm', ...wanted, body });
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.includes('ParameterNotFound')) return false;
    throw error;
  }
};

/** Something that does not fit, as lines for the operator. */
type Problem = readonly string[];

const bootstrapProblem = async (aws: Aws): Promise<Problem> =>
  (await isBootstrapped(aws))
    ? []
    : ['This account is not prepared for the CDK in this region. Once:  npx cdk bootstrap'];

const quotaProblem = async (aws: Aws, accountConcurrency: number): Promise<Problem> => {
  const quota = await quotaOf(aws);
  if (quota >= accountConcurrency) return [];
  return [
    `Only ${quota} functions may run at once in this account, and accountConcurrency says ${accountConcurrency}.`,
    'Have the quota L-B99A9384 raised (docs/operate/deploy.md, "New AWS accounts"), and until then:',
    `  npm run deploy -- -c accountConcurrency=${quota}`,
  ];
};

/**
 * Asks the account, before any stack is there, whether what is to be deployed fits: whether it is prepared for the CDK,
 * whether as many functions may run at once as the settings say, and whether nothing is left of a failed deployment.
 * `DeployProblem` with everything that does not fit;
 * what may not be asked is said, and left to the deployment.
 */
export const preflight = async (
  { deployment, accountConcurrency }: Pick<DeploymentSettings, 'deployment' | 'accountConcurrency'>,
  aws: Aws,
  say: (line: string) => void,
): Promise<void> => {
  const unanswered = (error: unknown): Problem => {
    const reason = error instanceof Error ? error.message : String(error);
    say(`Not looked at before deploying, as AWS did not answer: ${reason}`);
    return [];
  };
  const problems = await Promise.all([
    bootstrapProblem(aws).catch(unanswered),
    quotaProblem(aws, accountConcurrency).catch(unanswered),
    rolledBackProblem(deployment, aws).catch(unanswered),
  ]);
  const lines = problems.flat();
  if (lines.length > 0) throw new DeployProblem(['Nothing was deployed:', ...lines].join('\n'));
};
