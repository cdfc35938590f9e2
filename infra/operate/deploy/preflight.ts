import { DeployProblem } from '../../settings/deploy-problem.ts';
import type { DeploymentSettings } from '../../settings/settings.ts';
import { requestAws } from '../doctor/aws-clients.ts';
import { quotaOf } from '../doctor/capacity.ts';
import type { Target } from '../doctor/check.ts';
import { rolledBackProblem } from './cloudformation.ts';

type Aws = Target['aws'];

/** `cdk bootstrap` creates this parameter once per account and region; every stack needs it. */
const bootstrapParameter = '/cdk-bootstrap/hnb659fds/version';

const isBootstrapped = async (aws: Aws): Promise<boolean> => {
  const wanted = { contentType: 'application/x-amz-json-1.1', target: 'AmazonSSM.GetParameter' };
  const body = JSON.stringify({ Name: bootstrapParameter });
  try {
    await requestAws({ aws }, { service: 'ssm', ...wanted, body });
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.includes('ParameterNotFound')) return false;
    throw error;
  }
};

/** A problem as lines for the operator; empty if there is none. */
type Problem = readonly string[];

const bootstrapProblem = async (aws: Aws): Promise<Problem> =>
  (await isBootstrapped(aws))
    ? []
    : ['The account is not prepared for the CDK in this region. Run once:  npx cdk bootstrap'];

const quotaProblem = async (aws: Aws, accountConcurrency: number): Promise<Problem> => {
  const quota = await quotaOf(aws);
  if (quota >= accountConcurrency) return [];
  return [
    `The account allows ${quota} concurrent function runs, but accountConcurrency is ${accountConcurrency}.`,
    'Ask AWS to raise the quota L-B99A9384 (docs/operate/deploy.md, "New AWS accounts"). Until then:',
    `  npm run deploy -- -c accountConcurrency=${quota}`,
  ];
};

/**
 * Checks the account before anything is deployed: the CDK's bootstrap, the concurrency quota and stacks of a failed
 * deployment. Throws one `DeployProblem` with all problems. A check without permission is reported and skipped.
 */
export const preflight = async (
  { deployment, accountConcurrency }: Pick<DeploymentSettings, 'deployment' | 'accountConcurrency'>,
  aws: Aws,
  say: (line: string) => void,
): Promise<void> => {
  const skip = (error: unknown): Problem => {
    const reason = error instanceof Error ? error.message : String(error);
    say(`Skipped a check of the account: ${reason}`);
    return [];
  };
  const problems = await Promise.all([
    bootstrapProblem(aws).catch(skip),
    quotaProblem(aws, accountConcurrency).catch(skip),
    rolledBackProblem(deployment, aws).catch(skip),
  ]);
  const lines = problems.flat();
  if (lines.length > 0) throw new DeployProblem(['Nothing was deployed:', ...lines].join('\n'));
};
